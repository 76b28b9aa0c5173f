"""Functions of several tensors whose shapes broadcast as in numpy.  A Python number beside a tensor is a constant of its dtype."""

from .. import _core
from ._arguments import _const, _require, _require_float, _shape, _Tensor

_topi = _core.topi

_BINARY = (
    "add subtract multiply divide floor_divide mod fmod power atan2 logaddexp maximum minimum equal not_equal less"
    " less_equal greater greater_equal logical_and logical_or logical_xor bitwise_and bitwise_or bitwise_xor"
    " left_shift right_shift"
)
_NAMES = {"fmod": "truncmod", "logaddexp": "log_add_exp"}
_OF_FLOATS = ("atan2", "logaddexp")


def _tensor(value, other):
    """`value`, or a tensor without dimensions that holds this number, of the dtype of `other`."""
    return value if isinstance(value, _Tensor) else _topi.full([], other.dtype, _const(value, other.dtype))


def _binary(name: str):
    operator = getattr(_topi, _NAMES.get(name, name))
    is_of_bits = name.startswith("bitwise") or name.endswith("shift")

    def apply(a, b):
        a, b = _tensor(a, b), _tensor(b, a)
        if is_of_bits:
            for each in (a, b):
                _require(name, each, each)
        if name in _OF_FLOATS:
            _require_float(name, a, b)
        return operator(a, b)

    apply.__name__, apply.__doc__ = name, f"{name} of the elements of a and b, which broadcast as in numpy."
    return apply


for _name in _BINARY.split():
    globals()[_name] = _binary(_name)


def where(condition, x, y):
    """x where condition holds, else y; all three broadcast."""
    x, y = _tensor(x, y), _tensor(y, x)
    return _topi.where(condition, x, y)


def broadcast_to(data, shape):
    """data repeated to `shape`, as numpy broadcasts."""
    _require("broadcast_to", data, _shape(shape))
    return _topi.broadcast_to(data, _shape(shape))
