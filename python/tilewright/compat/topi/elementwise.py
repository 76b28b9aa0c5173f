"""topi.math, topi.tensor and topi.broadcast: names and meanings of TVM."""

import functools

from tilewright import UserError, _core, te, tir, topi

_Tensor = te.Tensor


def fixed_point_multiply(x, multiplier: int, shift: int):
    """x * multiplier * 2**(shift - 31) of int32, rounded: the multiplier is a number of 31 fractional bits."""
    left, right = (tir.const(max(by, 0), "int32") for by in (shift, -shift))
    flags = [tir.const(by > 0, "bool") for by in (shift, -shift)]
    y, bits = tir.const(multiplier, "int32"), tir.const(31, "int32")

    def element(*i):
        return tir.q_multiply_shift_per_axis(x(*i), y, left, right, bits, *flags)

    return _named("fixed_point_multiply", x.shape, element)


def fixed_point_multiply_per_axis(x, y, lshift, rshift, is_lshift_required, is_rshift_required, axes):
    """fixed_point_multiply with a multiplier and shifts for each index of dimensions `axes`."""
    flags = [tir.const(bool(flag), "bool") for flag in (is_lshift_required, is_rshift_required)]

    def element(*i):
        at = [i[int(axis)] for axis in axes]
        return tir.q_multiply_shift_per_axis(
            x(*i), y(*at), lshift(*at), rshift(*at), tir.const(31, "int32"), *flags
        )

    return _named("fixed_point_multiply_per_axis", x.shape, element)


def ceil_log2(x):
    """The exponent of the smallest power of two that is not less than x."""
    if x.dtype.startswith("float"):
        return topi.ceil(topi.log2(x))
    bits = int("".join(filter(str.isdigit, x.dtype)))

    def element(*i):
        return tir.Cast(x.dtype, tir.const(bits, "int32") - tir.clz(x(*i) - tir.const(1, x.dtype)))

    return _named("ceil_log2", x.shape, element)


def elemwise_sum(xs):
    """The sum of tensors of one shape."""
    if not xs:
        raise UserError("elemwise_sum: no tensors are given")
    return functools.reduce(topi.add, xs)


def full(shape, dtype, fill_value):
    """A tensor of one value; where the value is given as a tensor without dimensions, of its element."""
    if isinstance(fill_value, _Tensor):
        return _named("full", shape, lambda *i: tir.Cast(dtype, fill_value()))
    return topi.full(shape, dtype, fill_value)


def full_like(x, fill_value):
    """full of the shape and dtype of x."""
    return full(list(x.shape), x.dtype, fill_value)


def _named(name: str, shape, element):
    return te.compute(shape, element, name=f"T_{name}")


# of two expressions or numbers, where no tensor is given
_SCALARS = {
    "add": "Add", "subtract": "Sub", "multiply": "Mul", "floor_divide": "FloorDiv", "mod": "Mod",
    "floor_mod": "FloorMod", "maximum": "Max", "minimum": "Min", "equal": "EQ", "not_equal": "NE", "less": "LT",
    "less_equal": "LE", "greater": "GT", "greater_equal": "GE", "divide": "Div", "logical_and": "And", "logical_or": "Or",
}  # fmt: skip
_CALLS = {"power": "pow", "left_shift": "shift_left", "right_shift": "shift_right"} | {
    name: name for name in ("bitwise_and", "bitwise_or", "bitwise_xor")
}
#: TVM's remainder has the sign of the first operand
_MEANINGS = {"mod": topi.fmod, "floor_mod": topi.mod, "log_add_exp": topi.logaddexp}


def _binary(name: str):
    of_tensors = _MEANINGS.get(name) or getattr(topi, name)

    @functools.wraps(of_tensors)
    def apply(lhs, rhs):
        if isinstance(lhs, _Tensor) or isinstance(rhs, _Tensor):
            return of_tensors(lhs, rhs)
        lhs, rhs = tir.const_like(lhs, rhs) if not isinstance(lhs, tir.PrimExpr) else lhs, rhs
        if name in _SCALARS:
            return _core.binary(_SCALARS[name], lhs, rhs)
        return getattr(tir, _CALLS.get(name, name))(lhs, rhs)

    apply.__name__ = name
    return apply


_BINARY = {name: _binary(name) for name in [*_SCALARS, *_CALLS, "log_add_exp", "atan2", "logical_xor"]}
_MATH = {
    "fast_exp": topi.exp,
    "fast_tanh": topi.tanh,
    "fast_erf": topi.erf,
    "fixed_point_multiply": fixed_point_multiply,
    "fixed_point_multiply_per_axis": fixed_point_multiply_per_axis,
    "ceil_log2": ceil_log2,
    "elemwise_sum": elemwise_sum,
    **{name: _BINARY[name] for name in ("left_shift", "right_shift")},
}
_TENSOR = {"elemwise_sum": elemwise_sum, "full": full, "full_like": full_like}
_BROADCAST = {**_BINARY, "logical_not": topi.logical_not, "bitwise_not": topi.bitwise_not}
NAMES = {
    "": {**_MATH, **_TENSOR, **_BROADCAST},
    "math": _MATH,
    "tensor": _TENSOR,
    "broadcast": _BROADCAST,
}
