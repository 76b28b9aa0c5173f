"""From a Python function or class, or from text, to a program: finds the source and resolves captured names."""

import ast
import inspect
import linecache
import sys
import textwrap

import numpy

from .. import _core
from .._guard import guard
from ..errors import UserError
from ..ir.module import IRModule, unwrapped, wrapped
from ..tir._index_map import index_map

# names of script modules in programs that import nothing (tilewright/script/parser/aliases.cc)
_USUAL_ALIASES = {"T", "tir", "tirx", "s_tir", "Tx", "R", "relax", "rx", "I", "tvm", "tilewright", "tw"}


def parse(
    text: str, extra_vars: dict | None = None, filename: str = "<script>", check_well_formed: bool = True
):
    """The IRModule, PrimFunc or relax Function that `text` defines.

    text               TVMScript source, decorators included
    extra_vars         Python values that the text may use; default none
    check_well_formed  refuse programs that are consistent but cannot be meant; default True
    Raises             UserError with a caret on the line that is wrong
    """
    if not text.isascii():  # bytes that were no UTF-8 and became surrogates are shown escaped
        text = text.encode(errors="backslashreplace").decode()
    return _parse(text, filename, 1, 0, extra_vars or {}, check_well_formed)


def parse_object(definition, frame, check_well_formed: bool = True, decorator: str = ""):
    """The program that the decorated Python function or class `definition` defines, with the names of `frame`.

    decorator  put above a definition that has none, as in "@T.prim_func"; default none
    """
    filename, first_line, lines = _source_of(definition)
    if decorator and not lines[0].lstrip().startswith("@"):
        blanks = lines[0][: len(lines[0]) - len(lines[0].lstrip())]
        first_line, lines = first_line - 1, [f"{blanks}{decorator}\n", *lines]
    text = "".join(lines)
    dedented = textwrap.dedent(text)
    removed = len(lines[0]) - len(lines[0].lstrip())
    names = _visible_names(definition, frame)
    return _parse(dedented, filename, first_line, removed, names, check_well_formed)


def _source_of(definition) -> tuple[str, int, list[str]]:
    # inspect takes the first class of a name in the file, and knows no class of a notebook cell
    found = _class_source(definition) if isinstance(definition, type) else None
    if found:
        return found
    try:
        lines, first_line = inspect.getsourcelines(definition)
        filename = inspect.getsourcefile(definition) or "<unknown>"
    except (OSError, TypeError):
        found = _function_source(definition)
        if not found:
            raise UserError(
                f"the source of {definition.__qualname__} cannot be found\n"
                "help: define it in a file or a notebook cell, or pass its text to tilewright.script.parse"
            ) from None
        filename, first_line, lines = found
    return filename, max(first_line, 1), lines


def _function_source(definition) -> tuple[str, int, list[str]] | None:
    """The lines of a function whose module is no file (a notebook cell, exec with linecache)."""
    code = getattr(definition, "__code__", None)
    lines = linecache.getlines(code.co_filename) if code else []
    return (
        (code.co_filename, code.co_firstlineno, inspect.getblock(lines[code.co_firstlineno - 1 :]))
        if lines
        else None
    )


def _class_source(definition: type) -> tuple[str, int, list[str]] | None:
    """The lines of a class, found by the first function that was written in it."""
    for member in vars(definition).values():
        code = getattr(member, "__code__", None)
        if code is None or not code.co_qualname.startswith(definition.__qualname__ + "."):
            continue
        lines = linecache.getlines(code.co_filename)
        start = _class_start(lines, definition.__name__, code.co_firstlineno)
        if start is not None:
            return code.co_filename, start + 1, inspect.getblock(lines[start:])
    return None


def _class_start(lines: list[str], name: str, member_line: int) -> int | None:
    """Index of the first line, of a decorator if there is one, of the class around `member_line`."""
    try:
        tree = ast.parse("".join(lines))
    except SyntaxError:  # a cell with commands of a notebook
        return _class_start_by_words(lines, name, member_line)
    starts = [
        min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
        and node.name == name
        and node.lineno <= member_line <= node.end_lineno
    ]
    return max(starts) - 1 if starts else None


def _class_start_by_words(lines: list[str], name: str, member_line: int) -> int | None:
    for index in range(min(member_line, len(lines)) - 1, -1, -1):
        words = lines[index].split("(")[0].split(":")[0].split()
        if words[:2] == ["class", name]:
            while index > 0 and lines[index - 1].lstrip().startswith("@"):
                index -= 1
            return index
    return None


def _visible_names(definition, frame) -> dict:
    """Python names in the scope of `definition`: globals, then enclosing functions' locals, then closure cells."""
    names: dict = {}
    frames = []
    while frame is not None:
        frames.append(frame)
        if frame.f_code.co_name == "<module>":
            break
        frame = frame.f_back
    if frames:
        names.update(frames[0].f_globals)
        for outer in reversed(_enclosing(frames)):
            names.update(outer.f_locals)
        # a caller in the same file may have an R = 5 of its own
        own, others = frames[0].f_locals, frames[0].f_globals
        names.update({name: others[name] for name in _USUAL_ALIASES if name in others and name not in own})
    for function in [definition] if inspect.isfunction(definition) else _functions_of(definition):
        names.update(getattr(function, "__globals__", {}) if not frames else {})
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=False):
            try:
                names[name] = cell.cell_contents
            except ValueError:  # not bound yet: the name of the class itself
                continue
    return names


def _enclosing(frames: list) -> list:
    """The frames of the same file: lexical scopes, as far as frames can tell."""
    first = frames[0].f_code.co_filename
    return [frame for frame in frames if frame.f_code.co_filename == first]


def _functions_of(definition) -> list:
    return [member for member in vars(definition).values() if inspect.isfunction(member)]


def _parse(text, filename, first_line, removed, names, check_well_formed):
    return wrapped(
        _core.parse(
            text,
            filename,
            first_line,
            removed,
            lambda expression, scope: resolve(names, expression, scope),
            lambda name: find_macro(names, name),
            aliases_of(names),
            check_well_formed,
        )
    )


def resolve(names: dict, expression: str, scope: dict):
    """The Python value of `expression`; raises NameError if a name of it is unknown.

    names  of Python, around the program
    scope  of the program, which hide those
    """
    found = unwrapped(eval(expression, {**names, "__builtins__": __builtins__, **scope}))
    if isinstance(found, numpy.ndarray):  # of R.const
        from ..relax.expr import const

        return unwrapped(const(found))
    # a lambda of Python as an argument is what T.index_map makes of it
    return index_map(found) if getattr(found, "__name__", "") == "<lambda>" else found


def find_macro(names: dict, name: str):
    """The Macro called `name`, a dotted name, or None."""
    first, *rest = name.split(".")
    found = names.get(first)
    for part in rest:
        found = getattr(found, part, None)
    return found if isinstance(found, Macro) else None


class Macro:
    """Statements with parameters, put where a program calls them: what @T.macro and @R.macro make of a function.

    definition  the Python function; its text is read, it never runs
    hygienic    its names are those of where it is written, else those of where it is called
    """

    def __init__(self, definition, frame, hygienic: bool):
        self.filename, self.first_line, lines = _source_of(definition)
        self.text = textwrap.dedent("".join(lines))
        self.first_column = len(lines[0]) - len(lines[0].lstrip())
        self.hygienic = hygienic
        self.__name__ = definition.__name__
        self.__doc__ = definition.__doc__
        self._definition = definition
        self._names = _visible_names(definition, frame)
        self.aliases = aliases_of(self._names)

    def _visible(self) -> dict:
        """The names that are visible now: names of the file that were defined after the macro count."""
        return {**self._definition.__globals__, **self._names}

    def resolve(self, expression: str, scope: dict):
        """The Python value of `expression` where the macro is written."""
        return resolve(self._visible(), expression, scope)

    def find_macro(self, name: str):
        """The macro called `name` where this one is written, or None."""
        return find_macro(self._visible(), name)

    def __call__(self, *args, **kwargs):
        raise UserError(
            f"macro {self.__name__} is called by Python\n"
            "help: a macro is called inside of a T.prim_func, an R.function or another macro"
        )


def aliases_of(names: dict) -> list[tuple[str, str]]:
    """Names of the script modules in this source: [("T", "tvm.script.tir"), ...]; ("R", "") where R is a value."""
    known = {
        sys.modules.get(f"tilewright.script.{name}"): f"tvm.script.{name}" for name in ("tir", "relax", "ir")
    }
    known.pop(None, None)
    found = []
    for name, value in names.items():
        if inspect.ismodule(value):
            target = known.get(value) or known.get(getattr(value, "__tilewright_module__", None))
            if target:
                found.append((name, target))
        elif name in _USUAL_ALIASES and not callable(value):
            found.append((name, ""))  # a value of the user's own, as R = 5
    return found


__all__ = ["IRModule", "Macro", "parse", "parse_object"]


parse = guard("tilewright.script.parse", parse)
