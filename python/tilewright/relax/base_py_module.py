"""Modules whose functions are called from Python with tensors of torch or numpy, Python functions among them."""

import inspect

from .. import runtime, tir
from .._numbers import plain
from ..build import build, build_graph
from ..errors import UserError
from ..ir._nodes import classes
from ..ir.module import IRModule
from ..runtime.vm import VirtualMachine, require_cpu
from ..script.annotation import Annotation

_PrimFunc, _Function = classes["tir.PrimFunc"], classes["relax.Function"]
_TensorType, _TupleType = classes["relax.TensorType"], classes["ir.TupleType"]
_IntImm = classes["ir.IntImm"]


class BasePyModule:
    """A module that runs: its loop programs and graph functions are compiled, its Python functions are methods.

    @I.ir_module
    class Module(BasePyModule):
        @I.pyfunc
        def main(self, x):
            return self.call_tir(self.double, [x], R.Tensor((5,), "float32"))

        @T.prim_func
        def double(...): ...

    module = Module(tilewright.cpu()); module.main(x)

    ir_mod  the loop programs and graph functions, and in `pyfuncs` the Python functions
    device  where it runs: the CPU
    target  for which it is compiled; default "llvm"

    Functions take tensors of torch, numpy and tilewright; they return torch's if one of the arguments is of torch.
    """

    def __init__(self, ir_mod: IRModule, device=None, target=None):
        require_cpu("BasePyModule", device)
        self.ir_mod, self.device, self.target = ir_mod, device or runtime.cpu(), target or "llvm"
        functions = {var.name_hint: func for var, func in ir_mod.functions.items()}
        programs = {name: func for name, func in functions.items() if isinstance(func, _PrimFunc)}
        self.tir_func_names = list(programs)
        self.relax_func_names = [name for name, func in functions.items() if isinstance(func, _Function)]
        self.pyfuncs: dict = {}
        library = build(IRModule(programs), self.target) if programs else None
        self.compiled_tir_funcs = {name: library[name] for name in programs}
        for name, func in ir_mod.pyfuncs.items():
            self.add_python_function(name, func)
        self.relax_vm = VirtualMachine(build_graph(ir_mod, self.target)) if self.relax_func_names else None

    def add_python_function(self, name: str, func) -> None:
        """Makes `func` a method, which graph functions call as R.call_py_func(name, ...).

        It gets the module first if its first parameter is called self.
        """
        is_method = next(iter(inspect.signature(func).parameters), "") == "self"
        self.pyfuncs[name] = func.__get__(self) if is_method else func
        runtime.register_func(name, self._as_registered(name), override=True)

    def _as_registered(self, name: str):
        def call(*args):
            return _as_tensors(self.call_py_func(name, [_torch_if_present(arg) for arg in args]))

        return call

    def __getattr__(self, name: str):
        """The function called `name`: a Python function, a graph function, or a loop program for call_tir."""
        state = self.__dict__
        if name in state.get("pyfuncs", ()):
            return state["pyfuncs"][name]
        if name in state.get("relax_func_names", ()):
            return lambda *args: _as_given(self.relax_vm[name](*map(_passed, args)), args)
        if name in state.get("tir_func_names", ()):
            return state["compiled_tir_funcs"][name]
        raise AttributeError(f"the module has no function {name!r}")

    def list_functions(self) -> dict[str, list[str]]:
        """The names of its functions: {"tir": loop programs, "relax": graphs, "extern": Python functions}."""
        return {
            "tir": list(self.tir_func_names),
            "relax": list(self.relax_func_names),
            "extern": list(self.pyfuncs),
        }

    def get_function(self, name: str):
        """The function called `name`, as an attribute gives it; None if there is none."""
        return getattr(self, name, None)

    def call_tir(self, tir_func, args, out_sinfo):
        """The results of a loop program, which are allocated here.

        tir_func   its name, or self.NAME
        args       tensors, then numbers
        out_sinfo  the type of the result as R.Tensor(shape, dtype), or a list of them; names in shapes are
                   dimensions of the loop program's arguments
        """
        name = tir_func if isinstance(tir_func, str) else self._name_of(tir_func)
        if name not in self.compiled_tir_funcs:
            raise UserError(
                f'call_tir: there is no loop program "{name}"\nhelp: there are {", ".join(self.tir_func_names)}'
            )
        sizes = _sizes(self.ir_mod[name], args)
        return self._call_with_outputs(self.compiled_tir_funcs[name], args, out_sinfo, sizes)

    def call_dps_packed(self, func_name: str, args, out_sinfo):
        """The results of a registered function that gets the arguments and the results to write."""
        return self._call_with_outputs(runtime.get_global_func(func_name), args, out_sinfo, {})

    def call_py_func(self, func_name: str, args):
        """The result of the Python function `func_name` of this module."""
        if func_name not in self.pyfuncs:
            known = ", ".join(self.pyfuncs) or "none"
            raise UserError(
                f'call_py_func: there is no Python function "{func_name}"\nhelp: there are {known}'
            )
        return self.pyfuncs[func_name](*args)

    def _name_of(self, function) -> str | None:
        names = (name for name, known in self.compiled_tir_funcs.items() if known is function)
        return next(names, None)

    def _call_with_outputs(self, function, args, out_sinfo, sizes: dict):
        args = list(args) if isinstance(args, list | tuple) else [args]
        types = out_sinfo if isinstance(out_sinfo, list | tuple) else [out_sinfo]
        outputs = [_empty(type, sizes) for type in types]
        tensors = [arg for arg in args if not isinstance(plain(arg), int | float)]
        numbers = [plain(arg) for arg in args if isinstance(plain(arg), int | float)]
        function(*map(_passed, tensors), *outputs, *numbers)
        results = [_as_given(output, args) for output in outputs]
        return results if isinstance(out_sinfo, list | tuple) else results[0]

    def script(self, **options) -> str:
        """The module as TVMScript, and the text of its Python functions."""
        texts = [inspect.getsource(func) for func in self.pyfuncs.values()]
        return "\n".join([self.ir_mod.script(**options), *texts])

    def show(self, **options) -> None:
        """Prints the script."""
        print(self.script(**options))


class ModuleFactory:
    """The result of @I.ir_module on a subclass of BasePyModule: call it with a device; it also stands for the IRModule."""

    def __init__(self, cls: type, ir_mod: IRModule):
        self.cls, self.ir_module = cls, ir_mod

    def __call__(self, device=None, target=None) -> BasePyModule:
        """A module that runs on `device`, compiled for `target`."""
        return self.cls(self.ir_module, device, target)

    def __getattr__(self, name: str):
        return getattr(self.ir_module, name)

    def __getitem__(self, name: str):
        return self.ir_module[name]


def _passed(value):
    return value.detach().contiguous() if hasattr(value, "detach") else value


def _torch_if_present(value):
    """A tensor of torch, where torch can be imported."""
    if not isinstance(value, runtime.Tensor):
        return value
    try:
        import torch
    except ImportError:
        return value.numpy()
    return torch.from_dlpack(value)


def _as_tensors(value):
    if isinstance(value, list | tuple):
        return tuple(_as_tensors(item) for item in value)
    return runtime.tensor(_passed(value)) if hasattr(value, "__dlpack__") else value


def _as_given(value, args):
    """`value` with tensors of torch if the arguments are such."""
    if isinstance(value, list | tuple):
        return type(value)(_as_given(item, args) for item in value)
    is_torch = any(type(arg).__module__.startswith("torch") for arg in args)
    if not is_torch or not isinstance(value, runtime.Tensor):
        return value
    import torch

    return torch.from_dlpack(value)


def _sizes(func, args) -> dict:
    """{name of a dimension of a loop program: its extent in the arguments}."""
    sizes = {}
    for buffer, arg in zip(func.buffers, args, strict=False):
        for extent, size in zip(
            buffer.shape if buffer is not None else (), getattr(arg, "shape", ()), strict=False
        ):
            if isinstance(extent, tir.Var):
                sizes.setdefault(extent.name, int(size))
    return sizes


def _empty(type, sizes: dict):
    """A new tensor of a type, given as R.Tensor(shape, dtype) or as a node."""
    if isinstance(type, Annotation) and repr(type).startswith("R.Tensor("):
        args, named = type.call
        shape, dtype = (*args, *named.values())[:2] if len(args) + len(named) > 1 else (args[0], "float32")
    elif isinstance(type, _TensorType):
        shape, dtype = type.shape.values, str(type.dtype)
        dtype = "float32" if dtype == "void" else dtype
    else:
        raise UserError(f'a result is given as {type!r}, expected e.g. R.Tensor((5, 7), "float32")')
    return runtime.empty(tuple(_extent(extent, sizes) for extent in shape), dtype)


def _extent(extent, sizes: dict) -> int:
    if isinstance(extent, int | _IntImm):
        return int(extent if isinstance(extent, int) else extent.value)
    name = extent if isinstance(extent, str) else getattr(extent, "name", str(extent))
    if name not in sizes:
        raise UserError(
            f"dimension {name} of a result is none of an argument's\nhelp: give the extent as a number"
        )
    return sizes[name]
