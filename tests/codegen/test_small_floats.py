"""Floats of 4, 8 and 16 bits: each operation is rounded once, to the same bits on llvm, in C and in ml_dtypes."""

import pathlib
import sys

import ml_dtypes
import numpy as np
import pytest

import tilewright as tw
from tilewright.script import parse
from tilewright.script import tir as T

DTYPES = {
    "float4_e2m1fn": ml_dtypes.float4_e2m1fn,
    "float8_e4m3fn": ml_dtypes.float8_e4m3fn,
    "float8_e4m3fnuz": ml_dtypes.float8_e4m3fnuz,
    "float8_e5m2": ml_dtypes.float8_e5m2,
    "float8_e5m2fnuz": ml_dtypes.float8_e5m2fnuz,
    "float8_e8m0fnu": ml_dtypes.float8_e8m0fnu,
    "bfloat16": ml_dtypes.bfloat16,
    "float16": np.float16,
}
# instructions for float16 round a product and the sum it is added to once
HAS_FLOAT16 = "avx512_fp16" in pathlib.Path("/proc/cpuinfo").read_text().split()
TARGETS = ["llvm -mattr=-avx512fp16" if HAS_FLOAT16 else "llvm", "llvm -mcpu=x86-64", "c"]
each_dtype = pytest.mark.parametrize("dtype", DTYPES)
# powers of two have neither 0 nor negative numbers
each_signed_dtype = pytest.mark.parametrize("dtype", [name for name in DTYPES if name != "float8_e8m0fnu"])
each_target = pytest.mark.parametrize("target", TARGETS)
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


def every_value(dtype: str) -> np.ndarray:
    """All bit patterns."""
    known = np.dtype(DTYPES[dtype])
    num_bits = 4 if dtype.startswith("float4") else known.itemsize * 8
    return np.arange(2**num_bits, dtype=f"uint{known.itemsize * 8}").view(known)


def elementwise(body: str, size: int, *dtypes: str):
    """The function that computes element i of the last buffer as `body` of A[i], B[i]."""
    params = ", ".join(
        f'{name}: T.Buffer(({size},), "{dtype}")'
        for name, dtype in zip("ABC"[-len(dtypes) :], dtypes, strict=True)
    )
    return parse(f"""
@T.prim_func
def f({params}):
    for i in range({size}):
        with T.block("C"):
            v = T.axis.spatial({size}, i)
            C[v] = {body}
""")


def run(func, target, *arrays, schedule=True):
    tensors = [tw.tensor(array) for array in arrays]
    tw.build(func, target, schedule=schedule)["f"](*tensors)
    return tensors[-1].numpy()


def assert_same_bits(found, expected):
    """All bits are the same, but any NaN is as good as another."""
    assert found.dtype == expected.dtype
    found_nan, expected_nan = np.isnan(found.astype("float32")), np.isnan(expected.astype("float32"))
    np.testing.assert_array_equal(found_nan, expected_nan)
    bits = f"uint{found.dtype.itemsize * 8}"
    np.testing.assert_array_equal(found.view(bits)[~found_nan], expected.view(bits)[~found_nan])


@each_target
@each_dtype
def test_every_value_is_widened_exactly(dtype, target):
    values = every_value(dtype)
    found = run(
        elementwise('T.Cast("float32", B[v])', len(values), dtype, "float32"),
        target,
        values,
        np.zeros(len(values), "float32"),
    )
    assert_same_bits(found, values.astype("float32"))


@each_target
@pytest.mark.parametrize("wide", ["float32", "float64"])
@each_dtype
def test_every_way_of_rounding(dtype, wide, target):
    known = DTYPES[dtype]
    finite = every_value(dtype).astype(wide)
    finite = np.sort(finite[np.isfinite(finite)])
    top = finite[-1]
    limits = np.array([top * 1.01, top * 1.0625, top * 1.25, top * 4, np.inf, np.nan], wide)
    values = np.concatenate([finite, (finite[1:] + finite[:-1]) / 2, limits, -limits])
    values = np.concatenate(
        [
            values,
            np.nextafter(values, wide_type(wide, np.inf)),
            np.nextafter(values, wide_type(wide, -np.inf)),
        ]
    )
    found = run(
        elementwise(f'T.Cast("{dtype}", B[v])', len(values), wide, dtype),
        target,
        values,
        np.zeros(len(values), known),
    )
    assert_same_bits(found, rounded(values, dtype))


def nearest_powers(values: np.ndarray) -> np.ndarray:
    fraction, power = np.frexp(
        np.where(np.isfinite(values), values, -1)
    )  # fraction * 2**power, 0.5 <= fraction < 1
    bits = np.clip(power - 1 + (fraction >= 0.75) + 127, 0, 255)
    return np.where(fraction > 0, bits, 255).astype("uint8").view(ml_dtypes.float8_e8m0fnu)


def wide_type(name: str, value: float):
    return np.dtype(name).type(value)


def rounded(values: np.ndarray, dtype: str) -> np.ndarray:
    """`values` rounded once: numpy's own float16, else the nearer neighbour, of two as near the even one.

    ml_dtypes rounds all numbers from 2**-127 to 2**-126 up to a power of two, and keeps the sign of NaN as that of a 0.
    """
    if dtype == "float16":
        return values.astype("float16")
    if dtype == "float8_e8m0fnu":
        return nearest_powers(values.astype("float64"))
    values = np.where(np.isnan(values), wide_type(values.dtype.name, np.nan), values)
    if values.dtype == np.float32:
        return values.astype(DTYPES[dtype])
    single = values.astype("float32")  # to odd, so that rounding again is right
    bits = single.view("uint32")
    too_far = np.abs(single.astype("float64")) > np.abs(values)
    inexact = (single.astype("float64") != values) & ~np.isnan(values)
    bits = (bits - (too_far & inexact)) | inexact
    return bits.astype("uint32").view("float32").astype(DTYPES[dtype])


@each_target
@each_dtype
@pytest.mark.parametrize("op", ["+", "-", "*", "/"])
def test_each_operation_is_rounded(dtype, op, target):
    rng = np.random.default_rng(0)
    values = every_value(dtype)
    a, b = rng.choice(values, 4096), rng.choice(values, 4096)
    found = run(elementwise(f"A[v] {op} B[v]", 4096, dtype, dtype, dtype), target, a, b, np.zeros_like(a))
    compute = {"+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide}[op]
    assert_same_bits(found, rounded(compute(a.astype("float32"), b.astype("float32")), dtype))


@each_target
@each_dtype
def test_comparisons_choices_and_constants(dtype, target):
    rng = np.random.default_rng(1)
    values = every_value(dtype)
    values = values[np.isfinite(values.astype("float32"))]
    a, b = rng.choice(values, 4099), rng.choice(values, 4099)
    body = f"T.if_then_else(A[v] < B[v], T.max(A[v], T.Cast('{dtype}', T.float32(0.4))), T.min(B[v], A[v]) * T.{dtype}(0.3))"
    found = run(elementwise(body, 4099, dtype, dtype, dtype), target, a, b, np.zeros_like(a))
    wide_a, wide_b = a.astype("float32"), b.astype("float32")
    four, three = (np.array(x, "float32").astype(a.dtype).astype("float32") for x in (0.4, 0.3))
    expected = np.where(wide_a < wide_b, np.maximum(wide_a, four), np.minimum(wide_b, wide_a) * three)
    assert_same_bits(found, expected.astype(a.dtype))


@each_target
@each_dtype
def test_functions_are_computed_in_float32(dtype, target):
    values = every_value(dtype)
    wide = values.astype("float32")
    values = values[np.isfinite(wide) & (np.abs(wide) < 80)]
    found = run(
        elementwise("T.exp(B[v]) + T.sqrt(T.fabs(B[v]))", len(values), dtype, dtype),
        target,
        values,
        np.zeros_like(values),
    )
    wide = values.astype("float32")
    exp, root = (x.astype(values.dtype).astype("float32") for x in (np.exp(wide), np.sqrt(np.abs(wide))))
    np.testing.assert_allclose(
        found.astype("float32"),
        (exp + root).astype(values.dtype).astype("float32"),
        rtol=2 ** -np.finfo(DTYPES[dtype]).nmant
        if dtype == "float16"
        else 2 ** -ml_dtypes.finfo(DTYPES[dtype]).nmant,
    )


@each_target
@each_dtype
@pytest.mark.parametrize("other", ["int8", "uint8", "int32", "int64", "uint64", "bool"])
def test_whole_numbers(dtype, other, target):
    whole = np.array(
        [0, 1, 2, 3, 17, 100, 127] + ([2**24 + 1, 2**31 - 1] if other[-2:] in ("32", "64") else []), other
    )
    found = run(
        elementwise(f'T.Cast("{dtype}", B[v])', len(whole), other, dtype),
        target,
        whole,
        np.zeros(len(whole), DTYPES[dtype]),
    )
    assert_same_bits(found, rounded(whole.astype("float64"), dtype))
    small = np.array([0, 0.5, 1.5, 3, 17, 80], "float32").astype(DTYPES[dtype])
    small = small[np.isfinite(small.astype("float32"))]
    back = run(
        elementwise(f'T.Cast("{other}", B[v])', len(small), dtype, other),
        target,
        small,
        np.zeros(len(small), other),
    )
    np.testing.assert_array_equal(back, small.astype("float32").astype(other))


def matmul(dtype: str):
    return parse(f"""
@T.prim_func
def f(A: T.Buffer((5, 7), "{dtype}"), B: T.Buffer((7, 9), "{dtype}"), C: T.Buffer((5, 9), "{dtype}")):
    for i, j, k in T.grid(5, 9, 7):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.{dtype}(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
""")


@each_target
@each_signed_dtype
@pytest.mark.parametrize("schedule", [False, True])
def test_a_matrix_product_accumulates_in_its_dtype(dtype, target, schedule):
    rng = np.random.default_rng(2)
    a, b = (rng.uniform(-2, 2, shape).astype("float32").astype(DTYPES[dtype]) for shape in ((5, 7), (7, 9)))
    expected = np.zeros((5, 9), "float32").astype(DTYPES[dtype])
    for k in range(7):
        product = (a[:, k : k + 1].astype("float32") * b[k : k + 1].astype("float32")).astype(expected.dtype)
        expected = (expected.astype("float32") + product.astype("float32")).astype(expected.dtype)
    assert_same_bits(run(matmul(dtype), target, a, b, np.zeros_like(expected), schedule=schedule), expected)


@each_dtype
def test_vectors(dtype):
    sch = tw.Schedule(elementwise("A[v] * B[v] + A[v]", 37, dtype, dtype, dtype))
    _, lanes = sch.split(sch.get_loops("C")[0], [None, 8])
    sch.vectorize(lanes)
    rng = np.random.default_rng(3)
    a, b = (rng.uniform(-2, 2, 37).astype("float32").astype(DTYPES[dtype]) for _ in range(2))
    product = (a.astype("float32") * b.astype("float32")).astype(a.dtype).astype("float32")
    expected = (product + a.astype("float32")).astype(a.dtype)
    for target in TARGETS:
        found = run(sch.mod, target, a, b, np.zeros_like(a), schedule=False)
        assert_same_bits(found, expected)


@each_target
@pytest.mark.parametrize("dtype", [name for name in DTYPES if name != "float4_e2m1fn"])
def test_scalars_and_the_interpreter(dtype, target):
    func = parse(f"""
@T.prim_func
def f(A: T.Buffer((5,), "{dtype}"), x: T.{dtype}):
    for i in T.parallel(5):
        A[i] = A[i] + x
""")
    a = np.arange(5).astype("float32").astype(DTYPES[dtype])
    tensor = tw.tensor(a)
    tw.build(func, target)["f"](tensor, 0.7)
    x = np.array(0.7).astype(DTYPES[dtype]).astype("float32")
    assert_same_bits(tensor.numpy(), (a.astype("float32") + x).astype(a.dtype))
    other = tw.tensor(a)
    tw.tir.interpret(func, other, 0.7)
    assert_same_bits(other.numpy(), tensor.numpy())


def test_numpy_arrays_of_ml_dtypes_share_their_memory():
    a = np.arange(6).astype(ml_dtypes.bfloat16).reshape(2, 3)
    tw.tensor(a)  # a copy
    shared = tw.from_dlpack(a[:, ::2])
    a[1, 2] = 9
    np.testing.assert_array_equal(shared.numpy().astype("float32"), [[0, 2], [3, 9]])


def test_numpy_needs_ml_dtypes(monkeypatch):
    tensor = tw.empty((2,), "bfloat16")
    monkeypatch.setitem(sys.modules, "ml_dtypes", None)
    with pytest.raises(tw.UserError) as error:
        tensor.numpy()
    assert (
        str(error.value) == "error: numpy has no dtype bfloat16\nhelp: pip install ml_dtypes, which adds it"
    )


def test_the_c_source_has_one_function_for_each_direction():
    source = tw.build(elementwise("B[v] + T.bfloat16(1)", 5, "bfloat16", "bfloat16"), "c").get_source()
    assert "tw_bfloat16_of_float32(tw_float32_of_bfloat16(" in source
    assert source.count("static inline") == 2


def test_the_ends_of_the_ranges_are_literals():
    @T.prim_func
    def written(A: T.Buffer((2,), "float8_e4m3fn"), B: T.Buffer((2,), "float8_e5m2")):
        A[0] = T.min_value("float8_e4m3fn")
        B[0] = T.max_value("float8_e5m2")

    @T.prim_func
    def expected(A: T.Buffer((2,), "float8_e4m3fn"), B: T.Buffer((2,), "float8_e5m2")):
        A[0] = T.float8_e4m3fn(-448)
        B[0] = T.float8_e5m2(57344)

    tw.ir.assert_structural_equal(
        written.with_attr("global_symbol", "f"), expected.with_attr("global_symbol", "f")
    )


@each_target
@pytest.mark.parametrize("to", DTYPES)
@each_dtype
def test_casts_between_small_floats(dtype, to, target):
    """Found: C took the number for the bits of the other dtype."""
    values = every_value(dtype)
    func = elementwise(f'T.Cast("{to}", B[v])', values.size, dtype, to)
    found = run(func, target, values, np.zeros(values.size, DTYPES[to]))
    assert_same_bits(found, rounded(values.astype("float32"), to))


@each_dtype
def test_the_interpreter_converts_to_the_same_bits(dtype):
    values = every_value(dtype)
    to_single = elementwise('T.Cast("float32", B[v])', len(values), dtype, "float32")
    wide = tw.tensor(np.zeros(len(values), "float32"))
    tw.tir.interpret(to_single, tw.tensor(values), wide)
    assert_same_bits(wide.numpy(), values.astype("float32"))

    finite = np.sort(values.astype("float64")[np.isfinite(values.astype("float64"))])
    top = finite[-1]
    numbers = np.concatenate(
        [
            finite,
            (finite[1:] + finite[:-1]) / 2,
            [top * 1.0625, top * 1.25, top * 4, np.inf, np.nan, 0.0, 1e-300],
        ]
    )
    numbers = np.concatenate(
        [numbers, -numbers, np.nextafter(numbers, np.inf), np.nextafter(numbers, -np.inf)]
    )
    to_small = elementwise(f'T.Cast("{dtype}", B[v])', len(numbers), "float64", dtype)
    small = tw.tensor(np.zeros(len(numbers), DTYPES[dtype]))
    tw.tir.interpret(to_small, tw.tensor(numbers), small)
    assert_same_bits(small.numpy(), rounded(numbers, dtype))


def test_a_scalar_of_4_bits_is_refused():
    func = parse("""
@T.prim_func
def f(A: T.Buffer((5,), "float32"), x: T.float4_e2m1fn):
    for i in range(5):
        A[i] = A[i] + T.Cast("float32", x)
""")
    with pytest.raises(tw.Unsupported) as error:
        tw.build(func, "llvm")
    assert (
        str(error.value).split("\n")[0]
        == "unsupported: f: parameter x is a scalar of dtype float4_e2m1fn, which is not supported"
    )
    assert str(error.value).endswith("help: take it as float32 and cast it")


@each_target
@pytest.mark.parametrize("other", ["int4", "uint4"])
def test_the_bits_of_4_bit_floats(other, target):
    values = every_value("float4_e2m1fn")
    known = getattr(ml_dtypes, other)
    bits = np.arange(16).astype("uint8")
    whole = (bits.astype("int8") - 16 * (bits > 7) if other == "int4" else bits).astype(known)
    to = elementwise(f'T.reinterpret("{other}", B[v])', 16, "float4_e2m1fn", other)
    found = run(to, target, values, np.zeros(16, known))
    np.testing.assert_array_equal(found.astype("int32"), whole.astype("int32"))
    back = elementwise('T.reinterpret("float4_e2m1fn", B[v])', 16, other, "float4_e2m1fn")
    assert_same_bits(run(back, target, whole, np.zeros(16, values.dtype)), values)
    for func, given, wanted in ((to, values, whole), (back, whole, values)):
        result = tw.tensor(np.zeros_like(wanted))
        tw.tir.interpret(func, tw.tensor(given), result)
        np.testing.assert_array_equal(result.numpy().astype("float32"), wanted.astype("float32"))


@pytest.mark.parametrize("count", [1, 2, 5, 7, 127])
def test_floats_of_4_bits_are_packed_two_in_a_byte(count):
    values = np.resize(every_value("float4_e2m1fn")[3:14], count)
    tensor = tw.tensor(values)
    assert tensor.nbytes == (count + 1) // 2
    assert_same_bits(tensor.numpy(), values)
    found = run(
        elementwise("B[v]", count, "float4_e2m1fn", "float4_e2m1fn"), "llvm", values, np.zeros_like(values)
    )
    assert_same_bits(found, values)
