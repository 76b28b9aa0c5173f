"""How far two arrays are from each other."""

import dataclasses

import numpy as np

#: the part of a number by which results of two programs may differ, by dtype
RTOL = {"float16": 2.0**-8, "bfloat16": 2.0**-5, "float64": 1e-6}


@dataclasses.dataclass
class Distance:
    """
    max_abs   largest absolute difference
    max_rel   largest difference relative to the reference, of elements that are not 0 there
    max_ulp   largest number of floats between the two, 0 for whole numbers
    at        index of the element with the largest absolute difference
    is_far    beyond the tolerance, or of other shape or dtype
    note      why the arrays cannot be compared; else ""
    """

    max_abs: float = 0.0
    max_rel: float = 0.0
    max_ulp: int = 0
    at: tuple = ()
    is_far: bool = False
    note: str = ""

    def __str__(self) -> str:
        if self.note:
            return self.note
        place = f" at [{', '.join(map(str, self.at))}]" if self.at else ""
        return f"max abs {self.max_abs:.3g}{place}, max rel {self.max_rel:.3g}, {self.max_ulp} ULP"


def _places(array: np.ndarray) -> np.ndarray:
    """The position of each float among all of its dtype, as a float of 64 bits."""
    bits = array.view(f"i{array.dtype.itemsize}")
    lowest = np.iinfo(bits.dtype).min
    ordered = np.where(bits < 0, lowest - bits, bits)
    return ordered.astype("float64")


def is_float(dtype) -> bool:
    return np.dtype(dtype).kind == "f" or np.dtype(dtype).name == "bfloat16"


def distance(found: np.ndarray, right: np.ndarray, rtol: float | None = None, atol: float = 1e-5) -> Distance:
    """The distance of `found` from `right`.

    rtol  part of each number by which it may differ; default by dtype, 1e-3 for float32
    atol  part of the largest number of `right` by which all may differ
    """
    if (found.shape, found.dtype) != (right.shape, right.dtype):
        shown = [_type_text(array) for array in (found, right)]
        return Distance(is_far=True, note=f"{shown[0]}, expected {shown[1]}")
    if found.size == 0:
        return Distance()
    if not is_float(found.dtype):
        if found.dtype.kind not in "iub":
            count = int(np.sum(found != right))
            return Distance(is_far=count > 0, note=f"{count} of {found.size} strings differ" if count else "")
        gap = np.abs(found.astype("float64") - right.astype("float64"))
        at = np.unravel_index(int(gap.argmax()), gap.shape)
        rel = (gap / np.maximum(np.abs(right.astype("float64")), 1)).max()
        return Distance(float(gap.max()), float(rel), 0, tuple(map(int, at)), bool(gap.any()))
    ulps = np.abs(_places(found) - _places(right))
    a, b = found.astype("float64"), right.astype("float64")
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    with np.errstate(invalid="ignore", over="ignore"):
        gap = np.where(same, 0, np.abs(a - b))
    gap = np.where(np.isnan(gap), np.inf, gap)
    size = np.abs(np.where(np.isfinite(b), b, 0))
    if rtol is None:
        rtol = RTOL.get(found.dtype.name, 1e-3)
    rel = np.divide(gap, size, out=np.zeros_like(gap), where=size > 0)
    at = np.unravel_index(int(gap.argmax()), gap.shape)
    is_far = bool((gap > rtol * size + atol * float(size.max())).any())
    worst = int(np.where(same, 0, ulps).max())
    return Distance(float(gap.max()), float(rel.max()), worst, tuple(map(int, at)), is_far)


def _type_text(array: np.ndarray) -> str:
    return f"{'string' if array.dtype.kind == 'O' else array.dtype}{list(array.shape)}"


def range_text(array: np.ndarray) -> str:
    """ "float32[3, 4] from -1 to 2, 1 NaN": what an array holds, in a few words."""
    text = _type_text(array)
    if array.size == 0 or array.dtype.kind not in "fiubV":
        return text
    numbers = array.astype("float64")
    finite = numbers[np.isfinite(numbers)]
    if finite.size:
        text += f" from {finite.min():.6g} to {finite.max():.6g}"
    for name, count in (("NaN", np.isnan(numbers).sum()), ("Inf", np.isinf(numbers).sum())):
        text += f", {count} {name}" if count else ""
    return text
