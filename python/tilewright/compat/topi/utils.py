"""tvm.topi.nn.utils and tvm.topi.utils: widths of padding, and numbers of expressions."""

from tilewright import arith
from tilewright.errors import UserError


def widths(padding, kernel) -> list[int]:
    """The widths before each dimension, then after each.

    padding  a number, one per dimension, or before and after each; "VALID": none; "SAME": as many elements as windows reach
             over, the larger half before
    kernel   the extents of the window, with its dilation
    """
    count = len(kernel)
    if isinstance(padding, str):
        return _named_widths(padding, kernel)
    values = [padding] if not isinstance(padding, list | tuple) else list(padding)
    values = [get_const_int(value) for value in values]
    if len(values) == 1:
        values *= count
    if len(values) == count:
        return values * 2
    if len(values) != 2 * count:
        raise UserError(f"padding has {len(values)} numbers, expected 1, {count} or {2 * count}")
    return values


def _named_widths(padding: str, kernel) -> list[int]:
    if padding not in ("VALID", "SAME"):
        raise UserError(f'padding is "{padding}", expected "VALID", "SAME" or numbers')
    both = [0 if padding == "VALID" else get_const_int(extent) - 1 for extent in kernel]
    before = [(value + 1) // 2 for value in both]
    return before + [value - first for value, first in zip(both, before, strict=True)]


def get_pad_tuple(padding, kernel) -> tuple:
    """(top, left, bottom, right) of a padding for a window of two dimensions."""
    return tuple(widths(padding, kernel))


def get_pad_tuple_generic(padding, kernel) -> tuple:
    """The widths before each dimension, and those after each."""
    found = widths(padding, kernel)
    return found[: len(kernel)], found[len(kernel) :]


def get_pad_tuple1d(padding, kernel) -> tuple:
    """(left, right) of a padding for a window of one dimension."""
    return tuple(widths(padding, kernel if isinstance(kernel, list | tuple) else [kernel]))


def get_pad_tuple3d(padding, kernel) -> tuple:
    """(front, top, left, back, bottom, right) of a padding for a window of three dimensions."""
    return tuple(widths(padding, kernel))


def infer_pad(data, data_pad=None) -> tuple:
    """(height, width) of the padding before the first element of images, of which `data_pad` is `data` with padding."""
    if data_pad is None:
        return 0, 0
    return tuple((get_const_int(data_pad.shape[n]) - get_const_int(data.shape[n])) // 2 for n in (2, 3))


def infer_stride(data, kernel, out) -> tuple:
    """(height, width) of the stride of a convolution of images that have their padding."""
    extents = ([get_const_int(each.shape[n]) for n in (2, 3)] for each in (data, kernel, out))
    return tuple(
        (image - window) // max(result - 1, 1) for image, window, result in zip(*extents, strict=True)
    )


def get_const_int(expr) -> int:
    """The integer that an expression is."""
    value = getattr(expr, "value", expr)
    if not isinstance(value, int):
        value = getattr(arith.Analyzer().simplify(expr), "value", None)
    if not isinstance(value, int):
        raise UserError(f"{expr} is known only when the program runs, expected an integer")
    return value


def get_const_tuple(values) -> tuple:
    """The integers that expressions are; an expression that is none stays."""
    return tuple(getattr(simplify(value), "value", value) for value in values)


def simplify(expr):
    """A shorter expression of the same value."""
    return expr if isinstance(expr, int) else arith.Analyzer().simplify(expr)


def equal_const_int(expr, value: int) -> bool:
    """True if an expression is this integer."""
    return getattr(expr, "value", expr) == value


def prod(values):
    """The product of numbers or expressions."""
    result = 1
    for value in values:
        result = value * result
    return result


def traverse_inline(s, final_op, callback):
    """Calls `callback` with every operation that computes `final_op`, itself first, each once."""
    seen: list = []

    def visit(op):
        if any(op.same_as(each) for each in seen):
            return
        seen.append(op)
        callback(op)
        for tensor in op.input_tensors:
            if tensor.op.input_tensors:
                visit(tensor.op)

    visit(final_op)
    return s


NN_NAMES = {
    "get_pad_tuple": get_pad_tuple,
    "get_pad_tuple_generic": get_pad_tuple_generic,
    "get_pad_tuple1d": get_pad_tuple1d,
    "get_pad_tuple3d": get_pad_tuple3d,
    "infer_pad": infer_pad,
    "infer_stride": infer_stride,
}
NAMES = {
    "equal_const_int": equal_const_int,
    "get_const_int": get_const_int,
    "get_const_tuple": get_const_tuple,
    "prod": prod,
    "simplify": simplify,
    "traverse_inline": traverse_inline,
}
