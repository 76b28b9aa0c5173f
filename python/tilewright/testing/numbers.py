"""Comparing numbers: tolerances by dtype, distances in units in the last place (ULP), numbers whose sums are exact."""

import numpy

from ..errors import ArgumentError

#: dtype: (rtol, atol) of results whose sums were rounded in another order
_TOLERANCES = {
    "float64": (1e-12, 1e-13),
    "float32": (1e-5, 1e-6),
    "float16": (2**-8, 2**-10),
    "bfloat16": (2**-5, 2**-7),
}
_FLOAT8 = (2**-2, 2**-4)


def tolerance_of(dtype) -> tuple[float, float]:
    """The (rtol, atol) with which assert_allclose compares numbers of `dtype` if none is given.

    dtype    of numpy or ml_dtypes, or its name
    Returns  (0, 0) for integers and bool
    >>> tilewright.testing.tolerance_of("float32")
    (1e-05, 1e-06)
    """
    name = getattr(dtype, "name", None) or str(dtype)
    if "float" not in name:
        return 0.0, 0.0
    return _TOLERANCES.get(name, _FLOAT8)


def ulp_distance(actual, expected) -> numpy.ndarray:
    """How many representable numbers lie between the elements of two arrays of one float dtype, as uint64.

    actual, expected  tensors or arrays of equal shapes and float dtypes
    Returns           0 for equal numbers, for 0.0 and -0.0, and for two NaN; 2**64 - 1 if only one is NaN or infinite, or if
                      they are infinite with different signs
    Raises            ArgumentError if shapes or dtypes differ, or the dtype is no float
    Source            Goldberg, What Every Computer Scientist Should Know About Floating-Point Arithmetic, 1991
    >>> tilewright.testing.ulp_distance(np.float32(1), np.nextafter(np.float32(1), np.float32(2))).item()
    1
    """
    actual, expected = _array(actual), _array(expected)
    if actual.shape != expected.shape or actual.dtype != expected.dtype:
        raise ArgumentError(
            f"ulp_distance: found {_described(actual)} and {_described(expected)}, expected equal shapes and dtypes"
        )
    if not _is_float(actual):
        raise ArgumentError(f"ulp_distance: {actual.dtype} is no float\nhelp: subtract integers")
    (a, a_negative), (b, b_negative) = _magnitude(actual), _magnitude(expected)
    distance = numpy.where(a_negative == b_negative, numpy.maximum(a, b) - numpy.minimum(a, b), a + b)
    wide = [each.astype("float64") for each in (actual, expected)]
    special = ~numpy.isfinite(wide[0]) | ~numpy.isfinite(wide[1])
    same = (wide[0] == wide[1]) | (numpy.isnan(wide[0]) & numpy.isnan(wide[1]))
    distance = numpy.where(special, numpy.uint64(2**64 - 1), distance)
    return numpy.where(same, numpy.uint64(0), distance)


def assert_allclose(
    actual, expected, rtol: float | None = None, atol: float | None = None, ulp: int | None = None
) -> None:
    """Nothing if two arrays have one shape and close elements; NaN is close to NaN, an infinity only to itself.

    actual    a tensor, an array or a number
    expected  the same; its dtype may be another one
    rtol      |actual - expected| <= atol + rtol * |expected|; default: that of the coarser dtype, as tolerance_of says
    atol      as rtol; if only one of the two is given, the other is 0
    ulp       instead of both: how many units in the last place may lie between them, 0 for equal; the dtypes must be equal
    Raises    AssertionError with the number of elements that are not close and the worst one; ArgumentError for ulp beside
              rtol or atol
    >>> tilewright.testing.assert_allclose(np.float32([1, 2]), [1, 2.000001])
    """
    if ulp is not None and (rtol is not None or atol is not None):
        raise ArgumentError(
            "assert_allclose: ulp stands beside rtol or atol\nhelp: give one kind of tolerance"
        )
    actual, expected = _array(actual), _array(expected)
    if actual.shape != expected.shape:
        raise AssertionError(
            f"the shapes differ: actual {list(actual.shape)}, expected {list(expected.shape)}"
        )
    if ulp is not None:
        error, limit = ulp_distance(actual, expected), f"{ulp} ULP"
        close = error <= ulp
    else:
        rtol, atol = _tolerances(actual, expected, rtol, atol)
        error, close = _errors(actual, expected, rtol, atol)
        limit = f"rtol = {rtol:g}, atol = {atol:g}"
    if close.all():
        return
    first = int(numpy.argmax(numpy.where(close, -1, error.astype("float64"))))  # of a NaN, if there is one
    worst = numpy.unravel_index(first, close.shape)
    where = f"at [{', '.join(str(int(n)) for n in worst)}]: " if worst else ""
    amount = f"{int(error[worst])} ULP" if ulp is not None else f"{float(error[worst]):.3g}"
    raise AssertionError(
        f"{int((~close).sum())} of {close.size} elements differ by more than {limit}\n"
        f"worst {where}actual {actual[worst]}, expected {expected[worst]}, difference {amount}"
    )


def whole_numbers(shape, dtype: str = "float32", seed=0) -> numpy.ndarray:
    """Random whole numbers from -3 to 3, whose sums and products floats hold exactly: results are equal in any order of sums.

    shape    ints
    dtype    of numpy or ml_dtypes; unsigned ones get 0 to 3, bool False and True; default float32
    seed     an int, or a generator of numpy; default 0
    >>> tilewright.testing.whole_numbers((2, 3), "int8").shape
    (2, 3)
    """
    random = numpy.random.default_rng(seed)
    kind = numpy.dtype(dtype)
    if kind.kind == "b":
        return random.integers(0, 2, shape).astype(bool)
    return random.integers(0 if kind.kind == "u" else -3, 4, shape).astype(kind)


def _array(value) -> numpy.ndarray:
    return value.numpy() if hasattr(value, "numpy") else numpy.asanyarray(value)


def _described(array: numpy.ndarray) -> str:
    return f"{array.dtype} of shape {list(array.shape)}"


def _is_float(array: numpy.ndarray) -> bool:
    return "float" in array.dtype.name


def _magnitude(array: numpy.ndarray):
    """The bits of floats without the sign, as uint64, and where the sign is set."""
    bits = array.view(f"uint{array.dtype.itemsize * 8}").astype("uint64")
    sign = numpy.uint64(1 << (array.dtype.itemsize * 8 - 1))
    return bits & ~sign, (bits & sign) != 0


def _tolerances(actual, expected, rtol: float | None, atol: float | None) -> tuple[float, float]:
    if rtol is None and atol is None:
        floats = [each.dtype for each in (actual, expected) if _is_float(each)]
        return max((tolerance_of(dtype) for dtype in floats), default=(0.0, 0.0))
    return rtol or 0.0, atol or 0.0


def _errors(actual, expected, rtol: float, atol: float):
    """The differences as float64, and where they are within the tolerances."""
    if not (_is_float(actual) or _is_float(expected)):
        close = actual == expected
        return numpy.abs(actual.astype("float64") - expected.astype("float64")), close
    a, b = actual.astype("float64"), expected.astype("float64")
    with numpy.errstate(invalid="ignore"):
        error = numpy.abs(a - b)
        close = (
            (a == b)
            | (numpy.isnan(a) & numpy.isnan(b))
            | (error <= atol + rtol * numpy.abs(b)) & numpy.isfinite(b)
        )
    return error, close
