"""Functions of each element of one tensor."""

from .. import _core
from ..errors import UserError
from ._arguments import _bits, _compute, _const, _is_float, _require_float

_topi = _core.topi

_MATH = (
    "exp exp2 exp10 log log1p log2 log10 sqrt rsqrt sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh"
    " sigmoid erf"
)
_ROUNDED = "floor ceil trunc round"
_UNARY = "abs negative sign square logical_not bitwise_not isnan isinf isfinite"


def _math(name: str):
    def apply(x):
        _require_float(name, x)
        return _topi.math(x, name)

    apply.__name__, apply.__doc__ = name, f"tir.{name} of every element of a float tensor."
    return apply


def _rounded(name: str):
    def apply(x):
        return _topi.math(x, name) if _is_float(x) else identity(x)

    apply.__name__, apply.__doc__ = name, f"tir.{name} of every element; integers stay as they are."
    return apply


def _unary(name: str):
    operator = getattr(_topi, name)

    def apply(x):
        return operator(x)

    apply.__name__, apply.__doc__ = name, f"tir {name} of every element."
    return apply


for _names, _make in ((_MATH, _math), (_ROUNDED, _rounded), (_UNARY, _unary)):
    for _name in _names.split():
        globals()[_name] = _make(_name)


def identity(x):
    """A copy of x."""
    return _compute(x.shape, lambda *i: x(*i), "T_identity")


def cast(x, dtype: str):
    """x with elements of dtype."""
    return _topi.cast(x, dtype)


def reinterpret(x, dtype: str):
    """The bits of each element as one of another dtype of the same size.

    x        a tensor
    dtype    of the result
    Returns  a tensor of the shape of x
    Raises   UserError if elements of dtype have another size
    >>> topi.reinterpret(te.placeholder((5, 7), "float32"), "int32")
    """
    given, wanted = _bits(x.dtype), _bits(dtype)
    if given != wanted:
        raise UserError(
            f"reinterpret: elements of {x.dtype} have {given} bits, those of {dtype} have {wanted}"
        )
    return _compute(x.shape, lambda *i: _core.call_op(dtype, "reinterpret", [x(*i)]), "T_reinterpret")


def clip(x, a_min, a_max):
    """min(max(x, a_min), a_max)."""
    return _topi.clip(x, _const(a_min, x.dtype), _const(a_max, x.dtype))


def popcount(x):
    """The number of one bits of each element of an integer tensor.

    x        a tensor of integers
    Returns  a tensor of the shape and dtype of x
    Raises   UserError if x is not of integers
    >>> topi.popcount(te.placeholder((5, 7), "uint8"))
    """
    if not x.dtype.startswith(("int", "uint")):
        raise UserError(f"popcount: x is {x.dtype}, expected integers")
    return _compute(x.shape, lambda *i: _core.call_op(x.dtype, "popcount", [x(*i)]), "T_popcount")
