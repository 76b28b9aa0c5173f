"""script() and show() with the options that TVM's printers take."""

import tilewright as tw
from tilewright.ir import printing
from tilewright.ir._nodes import classes

#: TVM's option: ours
_RENAMED = {
    "tir_prefix": "tir_alias",
    "tirx_prefix": "tir_alias",
    "relax_prefix": "relax_alias",
    "ir_prefix": "ir_alias",
    "num_indent_spaces": "indent_spaces",
}
#: options about details that our text does not have
_WITHOUT_EFFECT = {
    "black_format", "buffer_dtype", "extra_config", "float_dtype", "int_dtype", "module_alias", "name", "num_context_lines",
    "print_line_numbers", "show_all_struct_info", "show_object_address", "syntax_sugar", "verbose_expr",
}  # fmt: skip


def options_of(program, options: dict) -> dict:
    """`options` of TVM as options of tilewright.script.to_script."""
    found = {}
    marked = [*_list(options.pop("obj_to_underline", None)), *_list(options.pop("obj_to_annotate", None))]
    for key in ("path_to_underline", "path_to_annotate"):
        marked += [path.follow(program) for path in _list(options.pop(key, None))]
    for key, value in options.items():
        if key in _RENAMED:
            found[_RENAMED[key]] = value
        elif key not in _WITHOUT_EFFECT:
            found[key] = value
    marked = [node for node in marked if node is not None]
    return {**found, "underline": [*found.get("underline", ()), *marked]} if marked else found


def _list(value) -> list:
    if value is None:
        return []
    return list(value) if isinstance(value, (list, tuple, dict)) else [value]


def script(self, **options) -> str:
    """The program as TVMScript; options of TVM or of tilewright.script.to_script."""
    return printing.to_script(self, **options_of(self, options))


def show(self, style=None, **options) -> None:
    """Prints the program; options of TVM or of tilewright.script.to_script."""
    printing.show(self, style, **options_of(self, options))


def cprint(printable, style=None, black_format=False) -> None:
    """tvm.script.highlight.cprint: prints a program, or its text, in colour where the terminal can."""
    if isinstance(printable, str):
        printing.show_text(printable, style)
    else:
        show(printable, style)


def add() -> None:
    """Gives modules, functions and statements these two methods; headers of programs import from tvm.script."""
    printing.default_package = "tvm.script"
    for cls in (tw.IRModule, classes["BaseFunc"], classes["Stmt"], classes["PrimExpr"]):
        cls.script = script
        cls.show = show
