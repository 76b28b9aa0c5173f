"""topi.utils (topi.util until 2020) and topi.tag: numbers, shapes and names beside the functions of tensors."""

import math

import numpy as np

from tilewright import UserError, arith, te, tir
from tilewright.ir._nodes import classes

from ..data_layouts import NAMES as _LAYOUTS

_PrimExpr = tir.PrimExpr


class InvalidShapeError(ValueError):
    """A shape that a function of topi cannot take."""


def simplify(expr):
    """expr in simpler form; numbers as they are."""
    return arith.Analyzer().simplify(expr) if isinstance(expr, _PrimExpr) else expr


def _constant(expr, kinds: tuple, what: str):
    if isinstance(expr, kinds) and not isinstance(expr, bool):
        return expr
    value = getattr(simplify(expr), "value", None)
    if not isinstance(value, kinds):
        raise UserError(f"{expr} is no constant {what}")
    return value


def get_const_int(expr) -> int:
    """The number that an integer expression is."""
    return int(_constant(expr, (int, np.integer), "integer"))


def get_const_float(expr) -> float:
    """The number that an expression of floats is."""
    return float(_constant(expr, (float, np.floating), "float"))


def equal_const_int(expr, value) -> bool:
    """Whether expr is the constant `value`."""
    return getattr(simplify(expr), "value", expr if isinstance(expr, int) else None) == value


def get_const_tuple(in_tuple) -> tuple:
    """The extents as Python ints where they are constants."""
    simple = [simplify(each) for each in in_tuple]
    return tuple(
        int(getattr(each, "value", each)) if isinstance(getattr(each, "value", each), int) else each
        for each in simple
    )


def get_float_tuple(in_tuple) -> tuple:
    """The numbers that expressions of floats are."""
    return tuple(get_const_float(each) for each in in_tuple)


def prod(x):
    """The product of all items."""
    return math.prod(x[1:], start=x[0]) if len(x) else tir.const(1, "int32")


def ravel_index(indices, shape):
    """The position of an index in row-major order."""
    at = 0
    for index, extent in zip(indices, shape, strict=True):
        at = at * extent + index
    return at


def unravel_index(idx, shape) -> list:
    """The index at a position in row-major order."""
    digits = []
    for extent in reversed(list(shape)):
        digits.append(idx % extent)
        idx = idx // extent
    return digits[::-1]


def _chosen(values, index):
    """Number `index` of constants."""
    result = values[-1]
    for n in range(len(values) - 2, -1, -1):
        result = tir.Select(index == n, values[n], result)
    return result


def const_vector(vector, name="const_vector"):
    """A tensor of the numbers of a vector."""
    array = np.asarray(vector)
    values = [tir.const(each.item(), str(array.dtype)) for each in array]
    return te.compute(array.shape, lambda i: _chosen(values, i), name=name)


def const_matrix(matrix, name="const_matrix"):
    """A tensor of the numbers of a matrix."""
    array = np.asarray(matrix)
    values = [[tir.const(each.item(), str(array.dtype)) for each in row] for row in array]
    return te.compute(array.shape, lambda i, j: _chosen([_chosen(row, j) for row in values], i), name=name)


def get_max_power2_factor(n: int, max_value: int | None = None) -> int:
    """The largest power of two that divides n, at most max_value."""
    factor = 1
    while n % (factor * 2) == 0 and (max_value is None or factor * 2 <= max_value):
        factor *= 2
    return factor


def get_shape(src_shape, src_layout, dst_layout) -> tuple:
    """The shape in dst_layout of a tensor that has src_shape in src_layout."""
    return get_const_tuple(
        _LAYOUTS["bijective_layout"](src_layout, dst_layout).forward_shape(list(src_shape))
    )


def is_empty_shape(shape) -> bool:
    """Whether an extent is 0."""
    return any(equal_const_int(extent, 0) for extent in shape)


def ceil_div(a, b):
    """a / b rounded up."""
    return simplify((a + b - 1) // b)


def swap(arr, axis: int) -> list:
    """The order of dimensions that puts the last one at `axis` and that one last."""
    order = list(range(len(arr)))
    order[axis], order[-1] = order[-1], order[axis]
    return [arr[n] for n in order]


def is_dynamic_shape(shape) -> bool:
    """Whether an extent is no constant."""
    return any(not isinstance(each, int) for each in get_const_tuple(shape))


def nchw_pack_layout(layout_info: str) -> bool:
    """Whether the layout is NCHW with parts of n and c inside."""
    return layout_info.startswith("NCHW") and "c" in layout_info and "n" in layout_info


def nchw_xc_layout(layout_info: str) -> bool:
    """Whether the layout is NCHW with parts of c inside: "NCHW8c"."""
    return layout_info.startswith("NCHW") and layout_info.endswith("c") and layout_info[4:-1].isdigit()


def traverse_inline(s, final_op, callback) -> None:
    """Calls callback for final_op and for each operation before it, consumers first, and computes those that are one formula of each
    element inside of their readers."""
    seen: list = []

    def visit(op):
        if any(op.same_as(each) for each in seen):
            return
        seen.append(op)
        callback(op)
        for tensor in op.input_tensors:
            before = tensor.op
            if isinstance(before, classes["te.Placeholder"]):
                continue
            if not getattr(before, "reduce_axis", [None]) and before.num_outputs == 1:
                s[before].compute_inline()
            visit(before)

    visit(final_op)


_UTILS = {
    name: value
    for name, value in list(globals().items())
    if not name.startswith("_") and getattr(value, "__module__", None) == __name__
}

ELEMWISE, BROADCAST, INJECTIVE = "elemwise", "broadcast", "injective"
COMM_REDUCE, COMM_REDUCE_IDX = "comm_reduce", "comm_reduce_idx"


def is_broadcast(tag: str) -> bool:
    """Whether a tag is that of elementwise work on shapes that broadcast."""
    return tag in (ELEMWISE, BROADCAST) or tag.startswith((f"{ELEMWISE},", f"{BROADCAST},"))


def is_injective(tag: str) -> bool:
    """Whether a tag is that of work where each element needs one of each input."""
    return is_broadcast(tag) or tag == INJECTIVE or tag.startswith(f"{INJECTIVE},")


_TAG = {
    "ELEMWISE": ELEMWISE, "BROADCAST": BROADCAST, "INJECTIVE": INJECTIVE, "COMM_REDUCE": COMM_REDUCE,
    "COMM_REDUCE_IDX": COMM_REDUCE_IDX, "is_broadcast": is_broadcast, "is_injective": is_injective,
}  # fmt: skip
NAMES = {
    "utils": _UTILS,
    "util": _UTILS,
    "tag": _TAG,
    "": {
        "InvalidShapeError": InvalidShapeError,
        "const_vector": const_vector,
        "get_const_tuple": get_const_tuple,
    },
}
