"""topk: a selection in one pass gives what sorting whole lines would, ties, NaN and zeros of both signs included."""

import ml_dtypes
import numpy as np
import pytest
from op_testing import build, run_op

import tilewright

DTYPES = ["float32", "float16", "bfloat16", "float64", "int32", "int64", "int8", "uint8", "uint32", "uint64"]
LINES = [((5, 127), 1), ((127, 5), 0), ((3, 7, 37), 1), ((2, 600, 20), 1), ((1, 1000), -1), ((7,), 0)]


def numbers(shape, dtype):
    """Few different ones; of floats NaN, infinities and zeros of both signs among them."""
    rng = np.random.default_rng(sum(shape))
    dtype = np.dtype(ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype)
    if dtype.kind in "iu":
        ends = np.iinfo(dtype)
        x = rng.integers(ends.min, ends.max, shape, dtype, endpoint=True)
        x[rng.random(shape) < 0.3] = ends.max
        x[rng.random(shape) < 0.3] = ends.min
        return x
    x = np.round(rng.standard_normal(shape) * 8) / 4
    for value in (np.nan, -0.0, np.inf, -np.inf):
        x[rng.random(shape) < 0.05] = value
    return x.astype(dtype)


def best(x, k, axis, largest):
    """The positions of the k first of each line, NaN as the largest, equal ones in their order."""
    wide = x if x.dtype.kind in "iu" else x.astype("float64")
    is_nan = wide != wide

    def of_line(line):
        values, nan = line
        order = sorted(
            range(len(values)), key=lambda n: (nan[n], values[n] if not nan[n] else 0), reverse=largest
        )
        # reverse keeps the order of equal ones
        return np.array(order[:k])

    lines = np.moveaxis(wide, axis, -1), np.moveaxis(is_nan, axis, -1)
    flat = [part.reshape(-1, part.shape[-1]).tolist() for part in lines]
    found = np.array([of_line(line) for line in zip(*flat, strict=True)])
    return np.moveaxis(found.reshape((*lines[0].shape[:-1], k)), -1, axis)


def check(x, k, axis, largest):
    order = best(x, k, axis, largest)
    values, places = run_op("topk", x, k=k, axis=axis, largest=largest, dtype="int64")
    np.testing.assert_array_equal(places, order)
    assert values.tobytes() == np.take_along_axis(x, order, axis).tobytes()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("k", [1, 2, 5, 7, 20, 37, 100])
def test_numbers(k, dtype):
    for shape, axis in LINES:
        if k <= shape[axis]:
            for largest in (True, False):
                check(numbers(shape, dtype), k, axis, largest)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int64"])
@pytest.mark.parametrize("k", [1, 5, 20, 100])
def test_long_lines(k, dtype):
    for shape, axis in [((3, 40000), 1), ((40000, 3), 0)]:
        check(numbers(shape, dtype), k, axis, True)


@pytest.mark.parametrize("largest", [True, False])
def test_ordered_and_equal_values(largest):
    """Where each value is better than all before it, and where none is."""
    for dtype in ("float32", "float64"):
        check_ordered(np.arange(5000, dtype=dtype), largest)


def check_ordered(up, largest):
    for line in (up, -up, np.zeros_like(up), np.full_like(up, np.nan), np.full_like(up, -np.inf)):
        for k in (1, 3, 12, 31, 127, 5000):
            check(line, k, 0, largest)


def test_no_elements():
    values, places = run_op("topk", np.zeros((0, 5), "float32"), k=2, axis=1)
    assert values.shape == places.shape == (0, 2)
    values, places = run_op("topk", np.zeros((3, 0), "float32"), k=0, axis=1)
    assert values.shape == places.shape == (3, 0)


@pytest.mark.parametrize(
    ("shape", "axis"), [((127, 500), 1), ((500, 127), 0), ((1, 100000), 1), ((3, 50257), 1)]
)
def test_any_number_of_threads_gives_the_same(shape, axis):
    x = numbers(shape, "float32")
    order = best(x, 20, axis, True)
    main = tilewright.VirtualMachine(
        tilewright.compile(build("topk", [x], {"k": 20, "axis": axis, "dtype": "int64"}))
    )["main"]
    try:
        for threads in (1, 2, 3, 7):
            tilewright.runtime.set_num_threads(threads)
            np.testing.assert_array_equal(main(x)[1].numpy(), order)
    finally:
        tilewright.runtime.set_num_threads(0)


def test_open_extents():
    x = numbers((5, 127), "float32")
    module = build("topk", [x], {"k": 7, "axis": 1, "dtype": "int64"}, symbols=(5, 127))
    main = tilewright.VirtualMachine(tilewright.compile(module))["main"]
    for shape in [(5, 127), (1, 7), (64, 1000)]:
        x = numbers(shape, "float32")
        np.testing.assert_array_equal(main(x)[1].numpy(), best(x, 7, 1, True))
