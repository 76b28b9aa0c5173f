"""int4, uint4 and narrower: two or more to a byte, wrapped to their bits, the same on llvm, in C and in numpy."""

import ml_dtypes
import numpy as np
import pytest

import tilewright as tw
from tilewright.script import parse
from tilewright.script import tir as T

each_target = pytest.mark.parametrize("target", ["llvm", "c"])


def run(func, target, *arrays, schedule=True):
    tensors = [tw.tensor(array) for array in arrays]
    tw.build(func, target, schedule=schedule)["f"](*tensors)
    return tensors[-1].numpy()


def values(dtype: str, count: int) -> np.ndarray:
    return np.random.default_rng(3).integers(-8, 8, count).astype("int8").astype(getattr(ml_dtypes, dtype))


@pytest.mark.parametrize("dtype", ["int4", "uint4", "int2", "uint2"])
def test_a_tensor_holds_them_packed_and_gives_them_back(dtype):
    array = values(dtype, 21).reshape(3, 7)
    tensor = tw.tensor(array)
    assert (tensor.dtype, tensor.shape, tensor.nbytes) == (dtype, (3, 7), (21 * int(dtype[-1]) + 7) // 8)
    np.testing.assert_array_equal(tensor.numpy(), array)
    assert tensor.numpy().dtype == array.dtype


def test_the_first_of_two_lies_in_the_low_bits():
    func = parse("""
@T.prim_func
def f(B: T.Buffer((2,), "uint8"), A: T.Buffer((3,), "uint4")):
    bytes = T.decl_buffer((2,), "uint8", data=A.data)
    for i in range(2):
        B[i] = bytes[i]
""")
    packed = tw.empty((2,), "uint8")
    tw.build(func)["f"](packed, tw.tensor(np.array([1, 2, 3]).astype(ml_dtypes.uint4)))
    assert packed.numpy().tolist() == [0x21, 0x03]


@each_target
@pytest.mark.parametrize("dtype", ["int4", "uint4"])
@pytest.mark.parametrize("op", ["+", "-", "*"])
def test_arithmetic_wraps_as_in_numpy(op, dtype, target):
    a, b = (n.astype("int8").astype(dtype_of(dtype)) for n in np.meshgrid(np.arange(16), np.arange(16)))
    func = parse(f"""
@T.prim_func
def f(A: T.Buffer((16, 16), "{dtype}"), B: T.Buffer((16, 16), "{dtype}"), C: T.Buffer((16, 16), "{dtype}")):
    for i, j in T.grid(16, 16):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = A[vi, vj] {op} B[vi, vj]
""")
    expected = {"+": a + b, "-": a - b, "*": a * b}[op]
    found = run(func, target, a, b, np.zeros_like(a))
    np.testing.assert_array_equal(found, expected)
    tensors = [tw.tensor(a), tw.tensor(b), tw.tensor(np.zeros_like(a))]
    tw.tir.interpret(func, *tensors)
    np.testing.assert_array_equal(tensors[2].numpy(), expected)


def dtype_of(name: str):
    return getattr(ml_dtypes, name)


@each_target
def test_weights_of_four_bits_times_activations(target):
    """y[m, n] = sum over k of x[m, k] * w[n, k] * scale[n], as quantised layers compute it."""

    @T.prim_func
    def f(
        X: T.Buffer((5, 33), "float32"),
        W: T.Buffer((7, 33), "int4"),
        S: T.Buffer((7,), "float32"),
        Y: T.Buffer((5, 7), "float32"),
    ):
        for m, n, k in T.grid(5, 7, 33):
            with T.block("Y"):
                vm, vn, vk = T.axis.remap("SSR", [m, n, k])
                with T.init():
                    Y[vm, vn] = T.float32(0)
                Y[vm, vn] = Y[vm, vn] + X[vm, vk] * T.Cast("float32", W[vn, vk]) * S[vn]

    random = np.random.default_rng(0)
    x, s = random.normal(size=(5, 33)).astype("float32"), random.normal(size=7).astype("float32")
    w = values("int4", 7 * 33).reshape(7, 33)
    found = run(f, target, x, w, s, np.zeros((5, 7), "float32"))
    np.testing.assert_allclose(found, x @ (w.astype("float32") * s[:, None]).T, rtol=1e-4, atol=1e-4)


@each_target
@pytest.mark.parametrize("size", [7, 8, 127])
def test_quantising_in_a_parallel_loop(size, target):
    """Rows of odd length share a byte: no element may be lost."""
    func = parse(f"""
@T.prim_func
def f(A: T.Buffer(({size}, {size}), "float32"), B: T.Buffer(({size}, {size}), "int4")):
    for i in T.parallel({size}):
        for j in T.vectorized({size}):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = T.Cast("int4", T.max(T.min(A[vi, vj], T.float32(7)), T.float32(-8)))
""")
    a = np.random.default_rng(1).normal(scale=6, size=(size, size)).astype("float32")
    for _ in range(5):
        found = run(func, target, a, np.zeros((size, size), ml_dtypes.int4), schedule=False)
        np.testing.assert_array_equal(found, np.clip(a, -8, 7).astype("int8").astype(ml_dtypes.int4))


@each_target
def test_memory_inside_of_the_program_is_packed_too(target):
    @T.prim_func
    def f(A: T.Buffer((9,), "int32"), B: T.Buffer((9,), "int32")):
        C = T.alloc_buffer((9,), "int4")
        for i in range(9):
            with T.block("C"):
                v = T.axis.spatial(9, i)
                C[v] = T.Cast("int4", A[v])
        for i in range(9):
            with T.block("B"):
                v = T.axis.spatial(9, i)
                B[v] = T.Cast("int32", C[8 - v])

    a = np.arange(9, dtype="int32") * 5
    expected = a[::-1].astype("int8").astype(ml_dtypes.int4).astype("int32")
    np.testing.assert_array_equal(run(f, target, a, np.zeros(9, "int32"), schedule=False), expected)


def test_arguments_are_checked():
    func = parse("""
@T.prim_func
def f(A: T.Buffer((3,), "int4"), B: T.Buffer((3,), "int4")):
    for i in range(3):
        B[i] = A[i]
""")
    built = tw.build(func)["f"]
    good = tw.tensor(values("int4", 3))
    with pytest.raises(tw.errors.UserError) as error:
        built(np.zeros(3, "int8"), good)
    assert str(error.value) == (
        "error: f: argument A has dtype int8, expected int4\n"
        "help: the function is f(A: int4[3], B: int4[3] (written))"
    )
    with pytest.raises(tw.errors.UserError) as error:
        built(tw.tensor(values("int4", 4)), good)
    assert str(error.value) == (
        "error: f: argument A has shape [4], expected [3]\n"
        "help: the function is f(A: int4[3], B: int4[3] (written))"
    )
