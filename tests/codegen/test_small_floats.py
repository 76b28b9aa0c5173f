"""float8, float16 and bfloat16: each operation is rounded once, to the same bits on llvm, in C and in ml_dtypes."""

import pathlib
import sys

import ml_dtypes
import numpy as np
import pytest

import tilewright as tw
from tilewright.script import parse
from tilewright.script import tir as T

DTYPES = {
    "float8_e4m3fn": ml_dtypes.float8_e4m3fn,
    "float8_e5m2": ml_dtypes.float8_e5m2,
    "bfloat16": ml_dtypes.bfloat16,
    "float16": np.float16,
}
# instructions for float16 round a product and the sum it is added to once
HAS_FLOAT16 = "avx512_fp16" in pathlib.Path("/proc/cpuinfo").read_text().split()
TARGETS = ["llvm -mattr=-avx512fp16" if HAS_FLOAT16 else "llvm", "llvm -mcpu=x86-64", "c"]
each_dtype = pytest.mark.parametrize("dtype", DTYPES)
each_target = pytest.mark.parametrize("target", TARGETS)
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


def every_value(dtype: str) -> np.ndarray:
    """All bit patterns."""
    known = np.dtype(DTYPES[dtype])
    bits = f"uint{known.itemsize * 8}"
    return np.arange(2 ** (known.itemsize * 8), dtype=bits).view(known)


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


def wide_type(name: str, value: float):
    return np.dtype(name).type(value)


def rounded(values: np.ndarray, dtype: str) -> np.ndarray:
    """`values` rounded once: numpy's own float16, else the nearer neighbour, of two as near the even one."""
    if dtype == "float16":
        return values.astype("float16")
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
    assert_same_bits(found, compute(a.astype("float32"), b.astype("float32")).astype(a.dtype))


@each_target
@each_dtype
def test_comparisons_choices_and_constants(dtype, target):
    rng = np.random.default_rng(1)
    values = every_value(dtype)
    values = values[np.isfinite(values.astype("float32"))]
    a, b = rng.choice(values, 4099), rng.choice(values, 4099)
    body = f"T.if_then_else(A[v] < B[v], T.max(A[v], T.Cast('{dtype}', T.float32(0.1))), T.min(B[v], A[v]) * T.{dtype}(0.3))"
    found = run(elementwise(body, 4099, dtype, dtype, dtype), target, a, b, np.zeros_like(a))
    wide_a, wide_b = a.astype("float32"), b.astype("float32")
    tenth, three = (np.array(x, "float32").astype(a.dtype).astype("float32") for x in (0.1, 0.3))
    expected = np.where(wide_a < wide_b, np.maximum(wide_a, tenth), np.minimum(wide_b, wide_a) * three)
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
    small = np.array([0, 0.5, 1.5, 3, 17, 100], "float32").astype(DTYPES[dtype])
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
@each_dtype
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
@each_dtype
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
    assert_same_bits(found, values.astype("float32").astype(DTYPES[to]))
