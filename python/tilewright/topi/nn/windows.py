"""Numbers for each spatial dimension, in the forms that users give."""

from ..._numbers import plain
from ...errors import UserError

_SPATIAL = "DHW"


def per_dimension(value, count: int) -> list[int]:
    """One number for each of `count` dimensions."""
    value = plain(getattr(value, "value", value))
    return [value] * count if isinstance(value, int) else list(value)


def around(padding, count: int) -> list[int]:
    """Before each dimension, then after each."""
    values = per_dimension(padding, count)
    return values * 2 if len(values) == count else values


def spatial_axes(layout: str, count: int | None = None) -> list[int]:
    """Where D, H and W stand in `layout`, which has `count` of them."""
    axes = [layout.index(letter) for letter in _SPATIAL if letter in layout]
    if count is not None and (
        len(axes) != count or len(layout) != count + 2 or not {"N", "C"} <= set(layout)
    ):
        usual = "NC" + _SPATIAL[-count:]
        raise UserError(
            f'layout is "{layout}", expected N, C and {_SPATIAL[-count:]} in some order, as "{usual}"'
        )
    return axes
