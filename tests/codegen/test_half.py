"""float16 on processors that cannot convert it: the same numbers, in memory and from a library."""

import numpy as np
import pytest

import tilewright
from tilewright import relax
from tilewright.script import parse

TARGETS = ["llvm -mcpu=x86-64", "llvm"]
HALVES = np.arange(65536, dtype="uint16").view("float16")


def cast(from_dtype: str, to_dtype: str, size: int) -> str:
    return f"""
@T.prim_func
def cast(A: T.Buffer(({size},), "{from_dtype}"), B: T.Buffer(({size},), "{to_dtype}")):
    for i in range({size}):
        with T.block("B"):
            vi = T.axis.spatial({size}, i)
            B[vi] = T.Cast("{to_dtype}", A[vi])
"""


def run(func, a, dtype):
    b = np.zeros(len(a), dtype)
    func(a, b)
    return b


def every_rounding(dtype):
    """All finite halves, the places half way between them, and their neighbours; infinities and NaN."""
    finite = np.sort(HALVES[np.isfinite(HALVES)].astype(dtype))
    ties = (finite[1:] + finite[:-1]) / 2
    limit = np.array([65519.996, 65520, 65536, 1e30, 2**-24, 2**-25, 2**-26, 1e-30, np.inf, np.nan], dtype)
    if dtype == "float64":
        limit = np.append(limit, [np.nextafter(2.0**-25, 1), 1 + 2.0**-11 + 2.0**-40, 1e300, 5e-324])
    values = np.concatenate([finite, ties, limit, -limit])
    down, up = np.nextafter(values, np.array(-np.inf, dtype)), np.nextafter(values, np.array(np.inf, dtype))
    return np.concatenate([values, down, up]).astype(dtype)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("wide", ["float32", "float64"])
def test_every_half_is_widened_as_numpy_does(target, wide):
    func = tilewright.build(parse(cast("float16", wide, 65536)), target=target)["cast"]
    np.testing.assert_array_equal(run(func, HALVES, wide), HALVES.astype(wide))


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("wide", ["float32", "float64"])
def test_every_way_of_rounding_to_half(target, wide):
    values = every_rounding(wide)
    func = tilewright.build(parse(cast(wide, "float16", len(values))), target=target)["cast"]
    with np.errstate(over="ignore"):
        expected = values.astype("float16")
    found = run(func, values, "float16")
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(np.signbit(found), np.signbit(expected))


def test_the_arithmetic_of_half():
    func = parse("""
@T.prim_func
def add(A: T.Buffer((65536,), "float16"), B: T.Buffer((65536,), "float16")):
    for i in range(65536):
        with T.block("B"):
            vi = T.axis.spatial(65536, i)
            B[vi] = A[vi] * A[vi] + T.float16(0.1)
""")
    halves = HALVES[np.isfinite(HALVES)]
    padded = np.resize(halves, 65536)
    with np.errstate(over="ignore"):
        expected = padded * padded + np.float16(0.1)
    found = run(tilewright.build(func, target=TARGETS[0])["add"], padded, "float16")
    np.testing.assert_allclose(found.astype("float32"), expected.astype("float32"), rtol=1e-3)


def test_a_library_brings_its_conversions(tmp_path):
    module = tilewright.build(parse(cast("float16", "float32", 65536)), target=TARGETS[0])
    module.export_library(tmp_path / "half.so")
    func = tilewright.load_module(str(tmp_path / "half.so"))["cast"]
    np.testing.assert_array_equal(run(func, HALVES, "float32"), HALVES.astype("float32"))


def test_two_functions_with_conversions_in_one_library(tmp_path):
    back = cast("float32", "float16", 5).replace("def cast", "def back")
    module = tilewright.IRModule({"cast": parse(cast("float16", "float32", 5)), "back": parse(back)})
    tilewright.build(module, target=TARGETS[0]).export_library(tmp_path / "two.so")
    library = tilewright.load_module(str(tmp_path / "two.so"))
    a = np.array([1, 2.5, -3, 65504, 0], "float16")
    wide = run(library["cast"], a, "float32")
    np.testing.assert_array_equal(run(library["back"], wide, "float16"), a)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("op", ["matmul", "linear", "conv2d", "conv2d_transpose"])
def test_products_are_summed_in_float32_and_rounded_once(op, dtype):
    import ml_dtypes

    def result_of(arrays):
        builder = relax.BlockBuilder()
        params = [relax.Var("x", relax.TensorType(array.shape, str(array.dtype))) for array in arrays]
        with builder.function("main", params):
            builder.emit_func_output(builder.emit(call(*params)))
        machine = tilewright.VirtualMachine(tilewright.compile(builder.get()))
        return machine["main"](*map(tilewright.tensor, arrays)).numpy()

    element = np.dtype(ml_dtypes.bfloat16 if dtype == "bfloat16" else np.float16)
    rng = np.random.default_rng(0)
    shapes = {
        "matmul": [(5, 700), (700, 7)],
        "linear": [(5, 700), (7, 700)],
        "conv2d": [(1, 127, 5, 5), (7, 127, 3, 3)],
        "conv2d_transpose": [(1, 127, 5, 5), (127, 7, 3, 3)],
    }[op]
    # a sum in the narrow type would stop growing
    arrays = [(rng.random(shape) + 1).astype(element) for shape in shapes]
    ops = relax.op
    call = {
        "matmul": ops.matmul,
        "linear": ops.linear,
        "conv2d": ops.nn.conv2d,
        "conv2d_transpose": ops.nn.conv2d_transpose,
    }[op]
    narrow, exact = result_of(arrays), result_of([array.astype("float64") for array in arrays])
    assert narrow.dtype == element
    np.testing.assert_array_equal(narrow.astype("float64"), exact.astype(element).astype("float64"))
