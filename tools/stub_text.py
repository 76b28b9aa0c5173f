"""Stubs of functions and classes as text: signatures, types and docstrings (tools/stubs.py puts them together)."""

import inspect
import re
import types
import typing

#: types in the table of primitives: those of arguments, those of results
HANDLES = {"Block": ("BlockRV | str", "BlockRV"), "Loop": ("LoopRV", "LoopRV"), "Expr": ("ExprRV", "ExprRV")}
ARGUMENTS = {
    "IndexMap": "tilewright.tir.IndexMap | Callable[..., Any]",
    "Buffer": "tilewright.tir.Buffer",
    "object": "Any",
    "node": "Any",
    "dtype": "str",
}
_WORD = re.compile(r"[A-Za-z_]\w*")


def argument_type(text: str) -> str:
    """The type of an argument: `text` of a table with the names of classes; lists may be any sequence."""
    known = {name: pair[0] for name, pair in HANDLES.items()} | ARGUMENTS | {"list": "Sequence"}
    return _WORD.sub(lambda word: known.get(word[0], word[0]), text)


def result_type(text: str) -> str:
    """The type of a result: `text` of a table with the names of classes."""
    return _WORD.sub(lambda word: HANDLES.get(word[0], ("", word[0]))[1], text)


def doc_lines(text: str | None, indent: str) -> list[str]:
    """A docstring, or nothing."""
    if not text:
        return []
    lines = inspect.cleandoc(text).replace("\\", "\\\\").replace('"""', "'''").splitlines()
    closing = ['"""'] if len(lines) > 1 or lines[0].endswith('"') else []
    lines = ['"""' + lines[0] + ("" if closing else '"""'), *lines[1:], *closing]
    return [(indent + line).rstrip() for line in lines]


def function_text(
    name: str, parameters: str, result: str, doc: str | None, indent: str = "", decorator: str = ""
) -> str:
    """A function without a body."""
    lines = [f"{indent}@{decorator}"] if decorator else []
    lines += [f"{indent}def {name}({parameters}) -> {result}:", *doc_lines(doc, indent + "    ")]
    if len(lines) == 1 + bool(decorator):
        return "\n".join(lines) + " ..."
    return "\n".join([*lines, f"{indent}    ..."])


def type_text(annotation) -> str:
    """An annotation of Python as text, classes with the modules that have them."""
    if annotation is inspect.Parameter.empty:
        return "Any"
    if annotation is None or annotation is type(None):
        return "None"
    if isinstance(annotation, str):
        return annotation
    if isinstance(annotation, types.UnionType) or typing.get_origin(annotation) is typing.Union:
        return " | ".join(type_text(each) for each in typing.get_args(annotation))
    if typing.get_origin(annotation):
        return inspect.formatannotation(annotation).replace("collections.abc.", "").replace("typing.", "")
    if getattr(annotation, "__module__", "").startswith("tilewright"):
        return f"{annotation.__module__}.{annotation.__qualname__}"
    return getattr(annotation, "__name__", "Any") if annotation.__module__ == "builtins" else "Any"


def signature_of(function) -> inspect.Signature:
    """The signature of a function; any arguments of one of the extension module, which Python knows nothing about."""
    try:
        return inspect.signature(inspect.unwrap(function))
    except ValueError:
        kinds = inspect.Parameter
        several = [kinds("args", kinds.VAR_POSITIONAL), kinds("kwargs", kinds.VAR_KEYWORD)]
        return inspect.Signature([kinds("self", kinds.POSITIONAL_OR_KEYWORD), *several])


def parameters_text(function) -> str:
    """The parameters of a function with their types and defaults."""
    shown, kinds = [], inspect.Parameter
    for each in signature_of(function).parameters.values():
        if each.kind == kinds.KEYWORD_ONLY and not any(p.startswith("*") for p in shown):
            shown.append("*")
        star = {kinds.VAR_POSITIONAL: "*", kinds.VAR_KEYWORD: "**"}.get(each.kind, "")
        is_self = each.name in ("self", "cls") and not shown
        text = star + each.name + ("" if is_self else f": {type_text(each.annotation)}")
        if each.default is not kinds.empty:
            simple = each.default is None or isinstance(each.default, bool | int | float | str)
            text += f" = {each.default!r}" if simple else " = ..."
        shown.append(text)
    return ", ".join(shown)


def python_function(name: str, function, default_result: str, indent: str = "", decorator: str = "") -> str:
    """The stub of a function that is written in Python."""
    result = signature_of(function).return_annotation
    shown = default_result if result is inspect.Signature.empty else type_text(result)
    doc = function.__doc__  # not that of object, which inspect.getdoc finds for __init__
    return function_text(name, parameters_text(function), shown, doc, indent, decorator)


def member_text(owner: type, name: str, member, default_result: str) -> str:
    """The stub of a member of a class: a method, a property or a value."""
    if isinstance(member, property):
        getter = inspect.signature(member.fget).return_annotation
        shown = "Any" if getter is inspect.Signature.empty else type_text(getter)
        return function_text(name, "self", shown, member.__doc__, "    ", "property")
    if isinstance(member, staticmethod | classmethod):
        return python_function(name, member.__func__, "Any", "    ", type(member).__name__)
    if inspect.isfunction(member):
        default = "None" if name == "__init__" else default_result
        return python_function(name, member, default, "    ")
    return f"    {name}: {'None' if member is None else 'Any'}"


def members_of(cls: type, skip=()) -> list[tuple[str, object]]:
    """(name, member) of a class: what is public, and operators."""
    hidden = {"__module__", "__doc__", "__dict__", "__weakref__", "__slots__", "__new__", "__qualname__", "__reduce__",
              "__annotations__", "__firstlineno__", "__static_attributes__", *skip}  # fmt: skip
    return [
        (name, member)
        for name, member in vars(cls).items()
        if name not in hidden and (not name.startswith("_") or name.startswith("__"))
    ]


def class_text(cls: type) -> str:
    """The stub of a class that is written in Python."""
    parts = [member_text(cls, name, member, "Any") for name, member in members_of(cls)]
    lines = [f"class {cls.__name__}:", *doc_lines(cls.__doc__, "    "), *parts]
    return "\n".join([*lines, "    ..."] if not parts else lines)
