"""The values that flow through modules: a graph expression with the operators of Python."""

from contextvars import ContextVar

import numpy

from .... import _core, tir
from ....errors import UserError
from ....ir._nodes import classes
from ...expr import const

_TensorType, _TupleType = classes["relax.TensorType"], classes["ir.TupleType"]
_Call, _Var = classes["relax.Call"], classes["relax.Var"]
_IntImm = classes["ir.IntImm"]

_default_dtype: ContextVar[str] = ContextVar("default dtype of parameters", default="float32")


def get_default_dtype() -> str:
    """The dtype of parameters and tensors that name none."""
    return _default_dtype.get()


def set_default_dtype(dtype: str) -> None:
    """Sets what get_default_dtype returns; "float32" at the start."""
    _default_dtype.set(dtype)


class Tensor:
    """A tensor of a graph that is being built: its type is known, its elements are not.

    _expr  the graph expression of tensor type
    """

    def __init__(self, *, _expr):
        if _expr.type is not None and not isinstance(_expr.type, _TensorType):
            raise UserError(f"nn.Tensor: {_expr} has type {_expr.type}, expected a tensor")
        self._expr = _expr

    @staticmethod
    def from_const(data) -> "Tensor":
        """A constant with the elements of a number, an array or a tensor."""
        return Tensor(_expr=const(data))

    @staticmethod
    def from_scalar(data: int | float, dtype: str) -> "Tensor":
        """A constant without dimensions."""
        return Tensor(_expr=const(data, dtype))

    @staticmethod
    def from_struct_info(struct_info, name: str = "tensor") -> "Tensor":
        """A new variable of this type."""
        return Tensor(_expr=_Var(name, struct_info))

    @staticmethod
    def placeholder(shape, dtype: str | None = None, name: str = "tensor") -> "Tensor":
        """A new variable; extents are numbers, expressions, or names of new symbolic dimensions."""
        return Tensor(_expr=_Var(name, tensor_type(shape, dtype, {})))

    @property
    def shape(self) -> list:
        """The extents: ints, and expressions where they are symbolic."""
        values = self._expr.type.shape.values
        return [int(value.value) if isinstance(value, _IntImm) else value for value in values]

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return self._expr.type.ndim

    @property
    def dtype(self) -> str:
        """The dtype of the elements."""
        return str(self._expr.type.dtype)

    def __repr__(self) -> str:
        return f'Tensor({self.shape}, "{self.dtype}")'


def as_tensor(value, beside: Tensor | None = None) -> Tensor:
    """`value` as a Tensor: numbers take the dtype of `beside`, arrays are constants."""
    if isinstance(value, Tensor):
        return value
    if isinstance(value, bool | int | float | numpy.generic) and beside is not None:
        return Tensor.from_scalar(value, beside.dtype)
    if isinstance(value, classes["RelaxExpr"]):
        return Tensor(_expr=value)
    return Tensor.from_const(value)


def tensor_type(shape, dtype: str | None, symbols: dict):
    """The type of a tensor whose extents may be names; equal names are one symbolic dimension of `symbols`."""

    def extent(value):
        if isinstance(value, str):
            return symbols.setdefault(value, tir.Var(value, "int64"))
        return value

    return _core.relax_tensor_type([extent(value) for value in shape], dtype or get_default_dtype(), -1, "")
