"""tvm.topi.image with the arguments of 2018 to 2026."""

from tilewright.topi import image

from ..keywords import spelled
from .nn_utils import widths

_METHODS = {"bilinear": "linear", "trilinear": "linear", "bicubic": "cubic"}


def _method(name: str) -> str:
    return _METHODS.get(name.lower(), name.lower())


def rounding_of(method: str, coordinates: str, rounding: str) -> str:
    """Which neighbour is the nearest, where the program does not say."""
    if rounding or method != "nearest_neighbor":
        return rounding or "round"
    return "round" if coordinates == "align_corners" else "floor"


def resize(
    data, size, layout="NCHW", method="bilinear", coordinate_transformation_mode="half_pixel", out_dtype=None,
    output_shape=None, align_corners=None,
):  # fmt: skip
    """Images resized, as until 2021; until 2020 with align_corners, in the place of the method in 2018."""
    if isinstance(method, bool):
        method, align_corners = "bilinear", method
        if coordinate_transformation_mode != "half_pixel":
            out_dtype = coordinate_transformation_mode
    if isinstance(coordinate_transformation_mode, bool):
        align_corners = coordinate_transformation_mode
    coordinates = coordinate_transformation_mode
    if align_corners is not None:
        coordinates = "align_corners" if align_corners else "asymmetric"
    rounding = rounding_of(method.lower(), coordinates, "")
    return image.resize2d(
        data,
        size,
        layout,
        _method(method),
        coordinates,
        rounding,
        cubic_alpha=-0.5,
        out_dtype=out_dtype or "",
    )


def _resize_of(count: int, usual: str):
    run = getattr(image, f"resize{count}d")

    def resized(
        data, roi, size, layout=usual, method="linear", coordinate_transformation_mode="half_pixel", rounding_method="",
        bicubic_alpha=-0.5, bicubic_exclude=0, extrapolation_value=0.0, out_dtype=None, output_shape=None,
    ):  # fmt: skip
        method = _method(method)
        return run(
            data,
            size,
            layout,
            method,
            coordinate_transformation_mode,
            rounding_of(method, coordinate_transformation_mode, rounding_method),
            bicubic_alpha,
            bool(bicubic_exclude),
            float(extrapolation_value or 0),
            roi if coordinate_transformation_mode == "tf_crop_and_resize" else None,
            out_dtype or "",
        )

    resized.__name__ = f"resize{count}d"
    resized.__doc__ = "data resized to `size`; `roi` counts for tf_crop_and_resize alone."
    return resized


def crop_and_resize(
    data,
    boxes,
    box_indices,
    crop_size,
    layout="NCHW",
    method="bilinear",
    extrapolation_value=None,
    out_dtype=None,
):
    """Boxes of images resampled to one size."""
    value = float(extrapolation_value or 0)
    return image.crop_and_resize(data, boxes, box_indices, crop_size, layout, method, value, out_dtype or "")


def _dilation2d(layout: str):
    def dilation2d(data, kernel, stride, padding, dilations, out_dtype=None):
        steps = dilations if isinstance(dilations, list | tuple) else [dilations] * 2
        extents = kernel.shape[1:] if layout == "NCHW" else kernel.shape[:2]
        reach = [(extent - 1) * step + 1 for extent, step in zip(extents, steps, strict=True)]
        return image.dilation2d(
            data, kernel, stride, widths(padding, reach), dilations, layout, out_dtype or ""
        )

    dilation2d.__name__ = f"dilation2d_{layout.lower()}"
    dilation2d.__doc__ = f"The largest sum of an element and the kernel in each window of images, {layout}."
    return spelled(dilation2d, input="data", filter="kernel", strides="stride")


_IMAGE = {
    "resize": resize,
    **{f"resize{len(usual) - 2}d": _resize_of(len(usual) - 2, usual) for usual in ("NCW", "NCHW", "NCDHW")},
    "crop_and_resize": crop_and_resize,
    "dilation2d_nchw": _dilation2d("NCHW"),
    "dilation2d_nhwc": _dilation2d("NHWC"),
}
NAMES = {"image": _IMAGE}
