"""Operators of nn.Tensor and methods of nn.Module that need all of the package below them."""

from . import op
from .core import Module
from .exporter import export
from .exporter import jit as run_jit
from .tensor import Tensor, as_tensor


def _named(name: str):
    """A method that calls nn.op.NAME with the tensor in front."""

    def method(self, *args, **kwargs):
        return getattr(op, name)(self, *args, **kwargs)

    method.__name__ = name
    method.__doc__ = f"nn.op.{name} of this tensor."
    return method


def _reflected(name: str):
    def method(self, other):
        return getattr(op, name)(as_tensor(other, self), self)

    return method


def permute_dims(self, *axes) -> Tensor:
    """nn.op.permute_dims of this tensor; axes one by one or as a list, none for the reverse."""
    listed = axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else list(axes) or None
    return op.permute_dims(self, listed)


def export_tvm(self, spec, debug: bool = False, allow_extern: bool = False):
    """(IRModule, [(name, parameter)]): a graph function for each method of `spec`.

    spec          {method: {argument: spec.Tensor, spec.Int, ...}}, or a spec.ModuleSpec
    debug         functions carry effects and may print; default False
    allow_extern  a third result: libraries that the module needs, of which there are none; default False
    """
    mod, params = export(self, spec, debug)
    return (mod, params, []) if allow_extern else (mod, params)


def jit(self, spec, device="cpu", pipeline=None, out_format: str = "torch", debug: bool = False):
    """The compiled model with this module's data: jit(spec)["forward"](x), with tensors of torch.

    spec        as in export_tvm
    device      must be the CPU
    pipeline    a pass, or callable, from module to module that runs before compilation; default none
    out_format  "torch", or "numpy": the kind of the results
    debug       as in export_tvm
    """
    return run_jit(self, spec, device, pipeline, out_format, debug)


_OPERATORS = {
    "__add__": "add", "__sub__": "subtract", "__mul__": "multiply", "__truediv__": "divide",
    "__lt__": "less", "__le__": "less_equal", "__gt__": "greater", "__ge__": "greater_equal",
    "__neg__": "negative", "__matmul__": "matmul",
    **{name: name for name in ("astype", "reshape", "repeat", "maximum", "minimum")},
}  # fmt: skip

for _name, _op in _OPERATORS.items():
    setattr(Tensor, _name, _named(_op))
for _name in ("add", "sub", "mul", "truediv"):
    setattr(Tensor, f"__r{_name}__", _reflected(_OPERATORS[f"__{_name}__"]))
Tensor.permute_dims = Tensor.permute = permute_dims
Module.export_tvm, Module.jit = export_tvm, jit
