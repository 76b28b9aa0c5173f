"""Programs as text."""

import sys

from .. import _core
from .._guard import guard_module

#: dialect of script() when none is given; compat sets it to the era of the programs it has read
default_dialect = "native"
#: where the imports in the header come from when nothing is given; compat sets it to tvm.script
default_package = ""
#: lines of a program that repr() shows
_MAX_LINES = 100


def to_script(
    program,
    dialect: str | None = None,
    show_meta: bool = False,
    underline=(),
    width: int = 110,
    *,
    indent_spaces: int = 4,
    show_header: bool = True,
    module_name: str = "Module",
    tir_alias: str = "T",
    relax_alias: str = "R",
    ir_alias: str = "I",
    package: str | None = None,
) -> str:
    """`program` (module, function, statement or expression) as TVMScript.

    dialect        "native", "2022", "0.23" or "0.27"; default native
    show_meta      print large constants in full, so that the text parses back; default False
    underline      nodes to mark with ^^^^ below their text; default none
    width          columns before lines are wrapped; default 110
    indent_spaces  blanks per level; default 4
    show_header    begin with the imports, as comments; default True
    module_name    name of the class of a module; default Module
    tir_alias, relax_alias, ir_alias  names of the modules that the text uses; default T, R, I
    package        of the imports in the header; default tilewright.script, tvm.script in the other dialects
    Raises         UserError for an unknown dialect
    """
    options = {
        "dialect": dialect or default_dialect,
        "show_meta": show_meta,
        "underline": list(underline),
        "line_width": width,
        "indent_spaces": indent_spaces,
        "show_header": show_header,
        "module_name": module_name,
        "tir_alias": tir_alias,
        "relax_alias": relax_alias,
        "ir_alias": ir_alias,
        "package": default_package if package is None else package,
    }
    # a module that can change holds its node
    node = program.__tilewright_node__() if hasattr(program, "__tilewright_node__") else program
    return _core.print_script(node, options)


def shortened(text: str) -> str:
    """`text`, of a program or a trace, as repr() shows it: its first 100 lines, and how many are left out."""
    lines = text.rstrip("\n").split("\n")
    if len(lines) <= _MAX_LINES:
        return text
    return "\n".join(
        [*lines[:_MAX_LINES], f"# ... {len(lines) - _MAX_LINES:,} more lines: print() shows them"]
    )


def show(program, style: str | None = None, **options) -> None:
    """Prints the script of `program`: as HTML in a notebook, in colour on a terminal, else plain.

    style    a pygments style; default "default"
    options  as for to_script
    """
    options.pop("black_format", None)  # as TVM calls it: lines are always wrapped
    show_text(to_script(program, **options), style)


def show_text(text: str, style: str | None = None) -> None:
    """Prints the text of a program: as HTML in a notebook, in colour on a terminal, else plain.

    style  a pygments style; default "default"
    """
    if "IPython" in sys.modules and _in_notebook():
        from IPython.display import Code, display

        display(Code(text, language="python"))
        return
    print(_coloured(text, style or "default") if sys.stdout.isatty() else text)


def _in_notebook() -> bool:
    shell = sys.modules["IPython"].get_ipython()
    return shell is not None and type(shell).__name__ == "ZMQInteractiveShell"


def _coloured(text: str, style: str) -> str:
    try:
        from pygments import highlight
        from pygments.formatters import Terminal256Formatter
        from pygments.lexers import PythonLexer
    except ImportError:
        return text
    return highlight(text, PythonLexer(), Terminal256Formatter(style=style)).rstrip("\n")


guard_module("tilewright.script", globals(), ["show", "to_script"])
