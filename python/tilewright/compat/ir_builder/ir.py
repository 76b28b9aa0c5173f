"""tvm.script.ir_builder.ir: modules."""

import tilewright as tw
from tilewright.errors import UserError

from .base import Frame, IRBuilder


class ModuleFrame(Frame):
    """The functions of a module."""

    SHOWN = "I.ir_module()"

    def __init__(self):
        super().__init__()
        self.functions: dict = {}
        self.declared: dict = {}
        self.attrs: dict = {}
        self.global_infos: dict = {}

    def finish(self, builder: IRBuilder) -> None:
        missing = [name for name in self.declared if name not in self.functions]
        if missing:
            raise UserError(f'function "{missing[0]}" is declared, but not defined')
        builder.set_result(tw.IRModule(self.functions, self.attrs, self.global_infos))


def ir_module() -> ModuleFrame:
    """A module: `with I.ir_module():`"""
    return ModuleFrame()


def decl_function(func_name: str, func_signature):
    """The GlobalVar of a function that is defined later."""
    frame = IRBuilder.current().find(ModuleFrame, "I.decl_function")
    if func_name in frame.declared:
        raise UserError(f'the module has two functions called "{func_name}"')
    module = tw.IRModule({func_name: func_signature})
    frame.declared[func_name] = module.get_global_var(func_name)
    return frame.declared[func_name]


def def_function(func_name: str, func) -> None:
    """Defines a function that I.decl_function declared."""
    frame = IRBuilder.current().find(ModuleFrame, "I.def_function")
    if func_name not in frame.declared:
        raise UserError(
            f'function "{func_name}" is defined, but not declared\nhelp: I.decl_function goes before'
        )
    frame.functions[func_name] = func


def module_attrs(attrs: dict, allow_overwrite: bool = False) -> None:
    """Attributes of the module."""
    frame = IRBuilder.current().find(ModuleFrame, "I.module_attrs")
    if frame.attrs and not allow_overwrite:
        raise UserError("the module has attributes already\nhelp: I.module_attrs(..., allow_overwrite=True)")
    frame.attrs = dict(attrs)


def module_get_attr(key: str):
    """An attribute of the module so far, or None."""
    return IRBuilder.current().find(ModuleFrame, "I.module_get_attr").attrs.get(key)


def module_set_attr(key: str, value, allow_overwrite: bool = False) -> None:
    """Sets one attribute of the module."""
    frame = IRBuilder.current().find(ModuleFrame, "I.module_set_attr")
    if key in frame.attrs and not allow_overwrite:
        raise UserError(f'the module has an attribute "{key}" already\nhelp: allow_overwrite=True')
    frame.attrs[key] = value


def module_global_infos(global_infos: dict) -> None:
    """Lists of virtual devices and the like."""
    IRBuilder.current().find(ModuleFrame, "I.module_global_infos").global_infos = dict(global_infos)


NAMES = {
    name: value
    for name, value in list(globals().items())
    if name in ("ir_module", "decl_function", "def_function") or name.startswith("module_")
}
