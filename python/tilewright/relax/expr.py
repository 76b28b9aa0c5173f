"""Operators and methods of graph expressions: arithmetic, calls, elements of tuples."""

from .. import _core
from .._numbers import plain
from ..errors import UserError
from ..ir._nodes import classes, methods_for

_TensorType, _TupleType = classes["relax.TensorType"], classes["ir.TupleType"]


_DEFAULT_DTYPES = {float: "float32", int: "int32"}


def _held(value, dtype):
    """`value` as an array of `dtype`; raises UserError for a number that becomes infinite, and for one that no integer
    of `dtype` is, unless it is of an array, which is converted."""
    import numpy

    given = numpy.array(value)
    wanted = numpy.dtype(dtype if dtype is not None else given.dtype)
    is_float = wanted.kind == "f" or (wanted.kind == "V" and "float" in wanted.name)
    if given.dtype.kind == "c" and wanted.kind != "c":
        raise UserError(f"const: {given.flat[0]} is no {wanted}\nhelp: give its real part")
    if is_float and given.dtype.kind == "O":  # integers of more than 64 bits
        value = given = numpy.array([_as_float(n, wanted) for n in given.flat]).reshape(given.shape)
    elif is_float and (wanted.kind == "V" or wanted.itemsize == 1) and given.dtype.kind in "uf":
        value = given = given.astype("float64")  # numpy makes no float of few bits of 2**63
    if given.dtype.kind == "f" and wanted.kind in "iu" and isinstance(value, list):
        # numpy makes floats of [0, 2**64 - 1]
        numbers = numpy.array(value, dtype=object).flat
        plain = [n.item() if isinstance(n, numpy.generic) else n for n in numbers]
        value = given = numpy.array(plain, dtype=object).reshape(given.shape)
    try:
        with numpy.errstate(over="ignore", invalid="ignore"):
            made = numpy.array(value, dtype=dtype)
    except (OverflowError, ValueError, TypeError):
        if given.dtype.kind not in "biufO":
            raise
        made = None
    if is_float:
        if given.dtype.kind in "iuf":
            _require_finite(given, made)
    elif wanted.kind in "biuV" and (given.dtype.kind == "O" or not isinstance(value, numpy.ndarray)):
        _require_integers(given, made, dtype)
    return made


def _beyond(shown, dtype) -> UserError:
    return UserError(
        f"const: {shown} is beyond the numbers of {dtype}\nhelp: give a wider dtype, or numpy.inf"
    )


def _shown(number) -> str:
    bits = number.bit_length() if isinstance(number, int) else 0
    return f"an integer of {bits} bits" if bits > 128 else str(number)


def _as_float(number, dtype) -> float:
    if not isinstance(number, int | float):
        raise UserError(f"const: {number!r} is no {dtype}\nhelp: give numbers")
    try:
        return float(number)
    except OverflowError:
        raise _beyond(_shown(number), dtype) from None


def _require_finite(given, made):
    """Refuses the first finite number of `given` that is not finite in `made`."""
    import numpy

    lost = numpy.isfinite(given) & ~numpy.isfinite(made.astype("float64"))
    if lost.any():
        raise _beyond(given[lost].flat[0], made.dtype)


def _require_integers(given, made, dtype):
    """Refuses the first number of `given` that its integer in `made` (None: there is one without) is not."""
    for n, number in enumerate(given.ravel().tolist()):
        if not isinstance(number, int | float):
            raise UserError(f"const: {number!r} is no {dtype}\nhelp: give numbers")
        if isinstance(number, float) and not number.is_integer():
            raise UserError(f"const: {number} is no {dtype}\nhelp: round it, or give a float dtype")
        if _wraps(number, made, n, dtype):
            raise UserError(f"const: {_shown(number)} does not fit in {dtype}\nhelp: give a wider dtype")


def _wraps(number, made, n, dtype) -> bool:
    import numpy

    if made is not None:
        return int(made.flat[n]) != number
    name = numpy.dtype(dtype).name
    bits = 1 if name == "bool" else int(name.lstrip("uint"))
    first = -(2 ** (bits - 1)) if name.startswith("int") else 0
    return not first <= number < first + 2**bits


def const(value, dtype: str | None = None):
    """A constant with the elements of `value`: a number, a numpy array or a tensor.

    dtype  default: float32 for a Python float, int32 for an int, else what numpy makes of `value`
    Raises  UserError for a finite number that the dtype does not hold: 1e39 in float32, 1.5 in int32, 300 in int8;
            arrays of numpy become integers as by astype
    """
    import numpy

    if isinstance(value, numpy.longdouble):  # of more bits than any tensor has
        value = numpy.float64(value)
    if isinstance(value, int | float | bool | list | numpy.generic) or dtype is not None:
        value = _held(value, dtype or _DEFAULT_DTYPES.get(type(value)))
    return _core.relax_constant(value)


def _type_of(expr):
    """The type of `expr`; of a call that no function holds yet, what inference finds."""
    if expr.type is not None or not isinstance(expr, classes["relax.Call"]):
        return expr.type
    return _core.relax_infer_type(expr.replace(args=[_typed(arg) for arg in expr.args]))


def _typed(expr):
    is_open = isinstance(expr, classes["relax.Call"]) and expr.type is None
    return expr.replace(type=_type_of(expr)) if is_open else expr


def _operand(value, beside):
    """`value` as a graph expression: a number becomes a constant of the dtype of `beside`."""
    value = plain(value)
    if not isinstance(value, int | float | bool):
        return value
    type = _type_of(beside)
    dtype = type.dtype if isinstance(type, _TensorType) else None
    return const(value, None if dtype in (None, "void") else str(dtype))


def _binary(name: str):
    def forward(self, other):
        return _core.relax_call_op(f"relax.{name}", [self, _operand(other, self)], {})

    forward.__doc__ = f"relax.op.{name}(self, other); a number takes the dtype of self."
    return forward


def _reflected(name: str):
    def backward(self, other):
        return _core.relax_call_op(f"relax.{name}", [_operand(other, self), self], {})

    backward.__doc__ = f"relax.op.{name}(other, self); a number takes the dtype of self."
    return backward


@methods_for("RelaxExpr")
class _Expr:
    __add__, __radd__ = _binary("add"), _reflected("add")
    __sub__, __rsub__ = _binary("subtract"), _reflected("subtract")
    __mul__, __rmul__ = _binary("multiply"), _reflected("multiply")
    __truediv__, __rtruediv__ = _binary("divide"), _reflected("divide")
    __floordiv__, __rfloordiv__ = _binary("floor_divide"), _reflected("floor_divide")
    __mod__, __rmod__ = _binary("floor_mod"), _reflected("floor_mod")
    __pow__, __rpow__ = _binary("power"), _reflected("power")
    __lt__, __gt__ = _binary("less"), _binary("greater")
    __le__, __ge__ = _binary("less_equal"), _binary("greater_equal")

    def __neg__(self):
        return _core.relax_call_op("relax.negative", [self], {})

    def astype(self, dtype: str):
        """The elements converted to `dtype`."""
        return _core.relax_call_op("relax.astype", [self], {"dtype": dtype})

    def __call__(self, *args):
        """A call of a function value."""
        return classes["relax.Call"](self, list(args))

    def __getitem__(self, index: int):
        if isinstance(self.type, _TupleType) and not 0 <= index < len(self.type.elements):
            raise IndexError(f"element {index} of a tuple of {len(self.type.elements)}")
        return classes["relax.TupleGetItem"](self, index)

    def __iter__(self):
        if not isinstance(self.type, _TupleType):
            raise TypeError("only a graph value of tuple type has elements to iterate over")
        return (self[index] for index in range(len(self.type.elements)))


@methods_for("relax.Tuple")
class _Tuple:
    def __getitem__(self, index: int):
        return self.elements[index]

    def __len__(self) -> int:
        return len(self.elements)

    def __iter__(self):
        return iter(self.elements)


@methods_for("relax.ShapeExpr")
class _ShapeExpr:
    def __getitem__(self, index: int):
        return self.values[index]

    def __len__(self) -> int:
        return len(self.values)

    def __iter__(self):
        return iter(self.values)


@methods_for("ir.Op")
class _Op:
    def __eq__(self, other) -> bool:
        return isinstance(other, classes["ir.Op"]) and self.name == other.name

    def __hash__(self) -> int:
        return hash(self.name)


@methods_for("ir.GlobalVar")
class _GlobalVar:
    def __call__(self, *args):
        """A call of the function that this names."""
        return classes["relax.Call"](self, list(args))
