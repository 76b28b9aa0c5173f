"""Operators of tvm.relay, by those of relax: what differs are names, defaults and the layout of weights."""

from tilewright import relax
from tilewright.errors import UserError

from .expressions import Expr, TupleWrapper, const, shape_of, type_of, typed

_op = relax.op


def with_values(operator, count: int, name: str):
    """The operator, whose first `count` arguments may be numbers and arrays."""

    def call(*args, **options):
        given = [_beside(arg, args) for arg in args[:count]]
        return typed(operator(*given, *args[count:], **options))

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"The operator {name} of relax."
    return call


def _beside(value, args):
    """A value; a Python number has the dtype of what stands beside it."""
    if isinstance(value, int | float):
        for other in args:
            dtype = None if isinstance(other, int | float) else getattr(type_of(other), "dtype", None)
            if dtype:
                return const(value, dtype)
    return typed(value)


_UNARY = (
    *("abs", "acos", "acosh", "asin", "asinh", "atan", "atanh", "ceil", "cos", "cosh", "erf", "exp", "floor"),
    *(
        "isfinite",
        "isinf",
        "isnan",
        "log",
        "log10",
        "log2",
        "logical_not",
        "bitwise_not",
        "negative",
        "round",
    ),
    *("rsqrt", "sigmoid", "sign", "sin", "sinh", "sqrt", "tan", "tanh", "trunc", "zeros_like", "ones_like"),
)
_BINARY = (
    *(
        "add",
        "subtract",
        "multiply",
        "divide",
        "power",
        "floor_divide",
        "floor_mod",
        "mod",
        "maximum",
        "minimum",
    ),
    *("equal", "not_equal", "less", "less_equal", "greater", "greater_equal", "left_shift", "right_shift"),
    *("logical_and", "logical_or", "logical_xor", "bitwise_and", "bitwise_or", "bitwise_xor"),
)
_OF_AXES = ("sum", "mean", "max", "min", "prod", "variance", "std", "all", "any", "argmax", "argmin")


def _reduction(name: str):
    def call(data, axis=None, keepdims=False, exclude=False):
        data = typed(data)
        if name.startswith("arg") and isinstance(axis, list | tuple) and len(axis) == 1:
            axis = axis[0]
        if exclude:
            given = [axis] if isinstance(axis, int) else list(axis or ())
            rank = len(shape_of(data))
            axis = [n for n in range(rank) if n not in {each % rank for each in given}]
        return typed(getattr(_op, name)(data, axis=axis, keepdims=keepdims))

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"{name} over axes; exclude: over all others."
    return call


def reshape(data, newshape, allowzero: bool = False):
    """The same elements in another shape.

    Of newshape, 0 keeps an extent and -1 follows from the others; -2 keeps all extents that are left, -3 is the product of two,
    and -4 splits one into the two numbers behind it, of which one may be -1.
    """
    codes = (newshape,) if isinstance(newshape, int) else tuple(newshape)
    return typed(_op.reshape(typed(data), tuple(_extents(codes, shape_of(data)))))


def _extents(codes: tuple, old: list) -> list:
    """The extents that codes of relay.reshape mean for a tensor of shape `old`."""
    shape, at, n = [], 0, 0

    def following(count: int) -> list:
        if at + count > len(old):
            raise UserError(
                f"relay.reshape: code {codes[n]} of {codes} needs {count_text(count)}, and of {tuple(old)} "
                f"{len(old) - at} are left"
            )
        return old[at : at + count]

    while n < len(codes):
        code = codes[n]
        if not isinstance(code, int) or code >= -1:
            shape += following(1) if code == 0 else [code]
            at += 1
        elif code == -2:
            shape += old[at:]
            at = len(old)
        elif code == -3:
            first, second = following(2)
            shape.append(first * second)
            at += 2
        elif code == -4 and n + 2 < len(codes):
            shape += _split_extent(following(1)[0], codes[n + 1 : n + 3])
            at, n = at + 1, n + 2
        else:
            raise UserError(
                f"relay.reshape: code {code} of {codes} is not known\n"
                "help: there are 0, -1, -2, -3, and -4 with two numbers behind it"
            )
        n += 1
    return shape


def count_text(count: int) -> str:
    """As in "1 extent", "2 extents"."""
    return f"{count} extent{'s' if count != 1 else ''}"


def _split_extent(extent, parts: tuple) -> list:
    first, second = parts
    if first == -1:
        return [extent // second, second]
    return [first, extent // first if second == -1 else second]


def transpose(data, axes=None):
    """The dimensions in another order; default reversed."""
    return typed(_op.permute_dims(typed(data), axes=None if axes is None else list(axes)))


def concatenate(data, axis: int = 0):
    """Tensors one after the other."""
    parts = data.elements if hasattr(data, "elements") else data
    return typed(_op.concat([typed(part) for part in parts], axis=axis))


def split(data, indices_or_sections, axis: int = 0):
    """The parts of a tensor."""
    parts = indices_or_sections if isinstance(indices_or_sections, int) else list(indices_or_sections)
    count = parts if isinstance(parts, int) else len(parts) + 1
    return TupleWrapper(typed(_op.split(typed(data), parts, axis=axis)), count)


def clip(a, a_min, a_max):
    """The numbers between two limits."""
    return typed(_op.clip(typed(a), a_min, a_max))


def cast(data, dtype: str):
    """The numbers in another dtype."""
    return typed(_op.astype(typed(data), dtype))


def squeeze(data, axis=None):
    """Without dimensions of extent 1."""
    return typed(_op.squeeze(typed(data), axis=axis))


def expand_dims(data, axis: int, num_newaxis: int = 1):
    """With dimensions of extent 1 at `axis`."""
    return typed(_op.expand_dims(typed(data), axis=[axis + n for n in range(num_newaxis)]))


def take(data, indices, axis=None, batch_dims: int = 0, mode: str = "clip"):
    """Elements by their indices; without an axis, of the flattened tensor."""
    data = typed(data) if axis is not None else reshape(data, (-1,))
    return typed(_op.take(data, typed(indices), axis=0 if axis is None else axis, mode=mode))


def where(condition, x, y):
    """Elements of x where the condition holds, else of y."""
    return typed(_op.where(typed(condition), typed(x), typed(y)))


def full(fill_value, shape=(), dtype: str = "float32"):
    """A tensor of one number."""
    value = fill_value if isinstance(fill_value, Expr) else const(fill_value, dtype)
    return typed(_op.full(tuple(shape), value, dtype))


def full_of(make):
    """zeros or ones of a shape and dtype."""

    def call(shape, dtype: str = "float32"):
        return typed(make(tuple(shape), dtype))

    call.__name__ = call.__qualname__ = make.__name__
    call.__doc__ = f"{make.__name__} of a shape."
    return call


def stack(data, axis: int = 0):
    """Tensors beside each other along a new dimension."""
    parts = data.elements if hasattr(data, "elements") else data
    return typed(_op.stack([typed(part) for part in parts], axis=axis))


def repeat(data, repeats: int, axis=None):
    """Each element several times."""
    return typed(_op.repeat(typed(data), repeats, axis))


def tile(data, reps):
    """The tensor several times along each dimension."""
    return typed(_op.tile(typed(data), (reps,) if isinstance(reps, int) else tuple(reps)))


def reverse(data, axis: int):
    """The elements of a dimension from its end."""
    return typed(_op.flip(typed(data), axis))


def broadcast_to(data, shape, dtype: str = ""):
    """The tensor in a larger shape."""
    return typed(_op.broadcast_to(typed(data), tuple(shape)))


def arange(start, stop=None, step=1, dtype: str = "float32"):
    """Numbers from start to stop."""
    start, stop = (0, start) if stop is None else (start, stop)
    return typed(_op.arange(start, stop, step, dtype))


def strided_slice(data, begin, end, strides=None, axes=None, slice_mode: str = "end"):
    """A part of a tensor; in slice_mode "size" `end` has extents, -1 for all that are left."""
    begin, end, shape = list(begin), list(end), shape_of(data)
    axes = list(range(len(begin))) if axes is None else list(axes)
    if slice_mode == "size":
        pairs = zip(begin, end, axes, strict=True)
        end = [shape[axis] if extent == -1 else first + extent for first, extent, axis in pairs]
    steps = None if strides is None else list(strides)
    return typed(_op.strided_slice(typed(data), axes, begin, end, steps))


def cumsum(data, axis=None, dtype=None, exclusive=None):
    """Sums of all elements up to each."""
    return typed(_op.cumsum(typed(data), axis, dtype, bool(exclusive)))


def argsort(data, axis: int = -1, is_ascend: bool = True, dtype: str = "int32"):
    """The places of the elements in order."""
    return typed(_op.argsort(typed(data), axis=axis, descending=not is_ascend, dtype=dtype))


def topk(data, k: int = 1, axis: int = -1, ret_type: str = "both", is_ascend: bool = False, dtype="int32"):
    """The k largest elements, their places, or both."""
    made = typed(_op.topk(typed(data), k, axis, ret_type, not is_ascend, dtype))
    return TupleWrapper(made, 2) if ret_type == "both" else made


NAMES = {
    **{name: with_values(getattr(_op, name), 1, name) for name in _UNARY},
    **{name: with_values(getattr(_op, name), 2, name) for name in _BINARY},
    **{name: _reduction(name) for name in _OF_AXES},
    **{
        each.__name__: each
        for each in (
            reshape,
            transpose,
            concatenate,
            split,
            clip,
            cast,
            squeeze,
            expand_dims,
            take,
            where,
            full,
            *(stack, repeat, tile, reverse, broadcast_to, arange, strided_slice, cumsum, argsort, topk),
        )
    },
    "copy": typed,
    "zeros": full_of(_op.zeros),
    "ones": full_of(_op.ones),
}
