"""tvm.topi.nn.utils: the widths of padding, and steps of windows."""

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


_OF_WINDOWS = {
    "get_pad_tuple": get_pad_tuple,
    "get_pad_tuple_generic": get_pad_tuple_generic,
    "get_pad_tuple1d": get_pad_tuple1d,
    "get_pad_tuple3d": get_pad_tuple3d,
    "infer_pad": infer_pad,
    "infer_stride": infer_stride,
}
# util until 2020
NAMES = {"nn.utils": _OF_WINDOWS, "nn.util": _OF_WINDOWS}
