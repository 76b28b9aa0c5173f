"""Products of sums of parts (bf16x3 and its kin), and convolutions whose windows become rows of numbers."""

import re

import ml_dtypes
import numpy as np
import pytest
from graph_testing import compile_graph, graph_module, random, run_graph
from op_testing import run_op
from precision_testing import bound, compile_with_tiles

import tilewright
from tilewright import relax
from tilewright.errors import UserError
from tilewright.transform import PassContext


def parts_of(x, count):
    """float32 as bfloat16 values whose sum it is, the largest first, as float64."""
    parts = []
    for _ in range(count):
        parts.append(x.astype(ml_dtypes.bfloat16).astype("float32"))
        x = x - parts[-1]
    return [part.astype("float64") for part in parts]


def in_three_parts(*shape):
    """Numbers a + b 2^-10 + c 2^-20 whose parts are all other than zero, if a, b and c are."""
    rng = np.random.default_rng(sum(shape))
    a, b, c = (rng.integers(-1, 2, shape) for _ in range(3))
    return (a + b / 2**10 + c / 2**20).astype("float32")


def without_parts(x, w, order):
    """The sum over a + b <= order of x[a] times w[b], in float64."""
    parts, w = parts_of(x, w.shape[0]), w.astype("float64")
    return sum(parts[a] @ w[b] for a in range(len(w)) for b in range(len(w)) if a + b <= order)


@pytest.mark.parametrize("order", [0, 1, 2, 3, 4])
@pytest.mark.parametrize(
    "shapes", [((5, 7), (3, 7, 127)), ((2, 16, 64), (3, 64, 48)), ((3, 4, 1), (3, 3, 1, 2))]
)
def test_products_of_parts(shapes, order):
    """The order of parts tells which are multiplied: the smallest are 2^-20, which long sums in float32 round away."""
    x, w = in_three_parts(*shapes[0]), np.rint(random(*shapes[1])).astype(ml_dtypes.bfloat16)
    found = run_op("matmul_of_parts", x, w, opt_level=2, order=order)
    atol = 1e-7 if x.shape[-1] < 8 else 1e-5
    np.testing.assert_allclose(found, without_parts(x, w, order), rtol=0, atol=atol)


@pytest.mark.parametrize("order", [0, 1, 2])
def test_convolutions_of_parts(order):
    """A window as the sum of products of its places; steps, gaps and padding on one side."""
    x, w = in_three_parts(2, 9, 11, 5), np.rint(random(2, 3, 2, 5, 16)).astype(ml_dtypes.bfloat16)
    attrs = {"strides": [2, 1], "padding": [1, 0, 0, 2], "dilation": [1, 3], "order": order}
    found = run_op("nn.conv_of_parts", x, w, opt_level=2, **attrs)
    wide = np.pad(x, ((0, 0), (1, 0), (0, 2), (0, 0)))
    height, width = (10 - 3) // 2 + 1, 13 - 4 + 1
    expected = sum(
        without_parts(wide[:, y : y + 2 * height : 2, 3 * z : 3 * z + width][:, :height], w[:, y, z], order)
        for y in range(3)
        for z in range(2)
    )
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5)


@pytest.mark.parametrize("target", ["llvm", "llvm -mcpu=x86-64-v3"])
@pytest.mark.parametrize("lanes", [5, 16, 64])
def test_parts_of_numbers_at_the_ends(lanes, target):
    """Denormals are 0 whatever instructions there are, neighbours of the least normal number are not."""
    least = np.finfo("float32").tiny
    ends = [least, -least, np.nextafter(least, np.float32(0)), -1e-39, 1e-45, -0.0, np.inf, -np.inf, np.nan]
    expected = [least, -least, 0, 0, 0, 0, np.nan, np.nan, np.nan]
    w = np.zeros((2, lanes, 16), ml_dtypes.bfloat16)
    w[0] = 1
    executable = compile_graph(
        lambda x: relax.op.matmul_of_parts(x, relax.const(w), order=1), target=target, x=(1, lanes)
    )
    for number, value in zip(ends, expected, strict=True):
        x = np.zeros((1, lanes), "float32")
        x[0, lanes // 2] = number
        np.testing.assert_array_equal(
            run_graph(executable, x), np.full((1, 16), value, "float32"), str(number)
        )


@pytest.mark.parametrize("target", ["llvm", "llvm -mcpu=x86-64-v3", "c"])
@pytest.mark.parametrize("zero", ["A[i * 32 + j] * T.float32(0)", "T.float32(0)"])
def test_denormals_that_a_program_flushes(zero, target):
    """Found: the instruction gave -0.0 where the program said 0."""
    library = tilewright.build(
        tilewright.script.parse(f"""
@T.prim_func
def main(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "bfloat16")):
    for i in range(2):
        for j in T.vectorized(32):
            B[i * 32 + j] = T.Cast("bfloat16", T.Select(T.abs(A[i * 32 + j]) < T.float32(1.1754943508222875e-38), {zero}, A[i * 32 + j]))
"""),
        target=target,
    )
    a = np.resize(np.array([-0.0, 0.0, -1e-40, 1e-40, -1.2e-38, 1.2e-38, 3.39e38, -np.inf], "float32"), 64)
    found = tilewright.tensor(np.zeros(64, ml_dtypes.bfloat16))
    library["main"](tilewright.tensor(a), found)
    small = np.abs(a) < np.finfo("float32").tiny
    expected = np.where(small, np.copysign(np.float32(0), a) if "*" in zero else np.float32(0), a).astype(
        ml_dtypes.bfloat16
    )
    np.testing.assert_array_equal(found.numpy().view("uint16"), expected.view("uint16"))


def refusal(name, shapes, **attrs):
    with pytest.raises(UserError) as refused:
        run_op(name, *(np.zeros(shape, ml_dtypes.bfloat16) for shape in shapes), **attrs)
    return str(refused.value).splitlines()[0]


def test_refused_parts():
    matmul, conv = "matmul_of_parts", "nn.conv_of_parts"
    assert refusal(matmul, [(4, 3), (2, 3, 5)], order=3) == (
        "error: matmul_of_parts: w is [2, 3, 5] and order is 3, expected 1 to 8 parts and an order of 0 to 2 (parts - 1)"
    )
    assert refusal(matmul, [(4, 7), (2, 3, 5)], order=1) == (
        "error: matmul_of_parts: x has 7 elements, w is [2, 3, 5]: expected 3, both known"
    )
    assert refusal(matmul, [(3,), (2, 3, 5)], order=1) == (
        "error: matmul_of_parts: x has 1 dimension, expected 2 or more"
    )
    window = {"strides": [1], "padding": [0, 0], "dilation": [1], "order": 1}
    assert refusal(conv, [(1, 4, 3), (2, 5, 3, 8)], **window) == (
        "error: nn.conv_of_parts: the window of weight [2, 5, 3, 8] is larger than data [1, 4, 3] with padding 0"
    )
    assert refusal(conv, [(1, 4, 3), (2, 3, 3, 8)], **window | {"padding": [0]}) == (
        "error: nn.conv_of_parts: padding has 1 numbers, expected 2"
    )
    assert refusal(conv, [(1, 4, 3), (2, 3, 3, 8)], **window | {"strides": [0]}) == (
        "error: nn.conv_of_parts: strides is 0, expected 1 to 2^30"
    )


def operators_of(module):
    return re.findall(r"R\.((?:nn\.)?\w+)\(", module.script())


def conv_module(x, w, **attrs):
    return graph_module(lambda x: relax.op.nn.conv2d(x, relax.const(w), **attrs), x=x)


@pytest.mark.parametrize(
    ("rows", "terms", "columns", "is_in_parts"),
    [
        (16, 8, 16, True),
        (5, 8, 16, False),  # few rows
        (28, 8, 16, True),
        (14, 8, 16, False),  # one tile, for which weights are read
        (12, 8, 16, False),  # tiles of few rows
        (127, 8, 16, False),  # a prime number of them
        (16, 6, 16, False),  # three groups of two terms
        (16, 9, 16, False),  # no groups
        (16, 8, 24, False),  # half a tile of columns
        ("n", 8, 16, True),
    ],
)
def test_products_that_fill_no_tiles_stay_exact(rows, terms, columns, is_in_parts):
    rows = tilewright.tir.Var(rows, "int64") if isinstance(rows, str) else rows
    module = graph_module(lambda x: relax.op.matmul(x, relax.const(random(terms, columns))), x=(rows, terms))
    policy = relax.transform.precision(policy="bf16x6")
    assert ("matmul_of_parts" in operators_of(policy(module))) == is_in_parts
    low = relax.transform.precision(policy="bf16", speedup=10)(module)
    # five rows take as long as their weights, and one product on 12 or 14 is faster than in float32
    assert ("astype" in operators_of(low)) == (is_in_parts or rows in (5, 12, 14))


@pytest.mark.parametrize("policy", ["bf16", "bf16x3", "bf16x6", "bf16x9"])
@pytest.mark.parametrize(
    ("name", "data", "weight", "layouts"),
    [
        ("conv1d", (1, 8, 20), (16, 8, 3), {}),
        ("conv2d", (1, 8, 9, 10), (16, 8, 3, 3), {}),
        ("conv2d", (2, 9, 10, 8), (3, 3, 8, 16), {"data_layout": "NHWC", "kernel_layout": "HWIO"}),
        ("conv2d", (1, 9, 10, 8), (16, 8, 2, 3), {"data_layout": "NHWC"}),
        ("conv3d", (1, 8, 5, 6, 9), (16, 8, 2, 2, 2), {}),
    ],
)
@pytest.mark.parametrize("opt_level", [0, 2])
@pytest.mark.parametrize("is_constant", [True, False])
def test_convolutions_in_any_layout(name, data, weight, layouts, policy, opt_level, is_constant):
    """Found: those whose channels are not last crashed."""
    x, w = random(*data), random(*weight)
    conv = getattr(relax.op.nn, name)
    build = (
        (lambda x: conv(x, relax.const(w), **layouts)) if is_constant else lambda x, w: conv(x, w, **layouts)
    )
    arrays = {"x": x} | ({} if is_constant else {"w": w})
    shapes = {key: each.shape for key, each in arrays.items()}
    exact = run_graph(compile_graph(build, **shapes), *arrays.values())
    with PassContext(opt_level=opt_level):
        found = run_graph(compile_with_tiles(build, policy, **shapes), *arrays.values())
    size = (
        run_graph(compile_graph(build, **shapes), *map(np.abs, arrays.values()))
        if not is_constant
        else np.abs(w).sum()
    )
    assert (np.abs(found - exact) <= (bound(policy, 8 * 9) + bound("exact", 8 * 9)) * size).all()


def test_refused_numbers_of_parts_and_dtypes():
    """Found: hundreds of parts took minutes, or crashed; float64 was summed in float32."""
    assert refusal("matmul_of_parts", [(4, 3), (9, 3, 5)], order=1) == (
        "error: matmul_of_parts: w is [9, 3, 5] and order is 1, expected 1 to 8 parts and an order of 0 to 2 (parts - 1)"
    )
    with pytest.raises(UserError) as refused:
        run_op("matmul_of_parts", np.zeros((4, 3)), np.zeros((2, 3, 5)), order=1)
    assert str(refused.value).splitlines()[0] == (
        "error: matmul_of_parts: x is float64, expected a float of at most 32 bits"
    )


NARROW = [
    # data, kernel, strides, padding
    ((1, 23, 31, 3), (7, 7), [2, 2], [3, 3, 3, 3]),
    ((2, 12, 25, 3), (3, 3), [1, 2], [0, 0, 1, 1]),
    ((1, 20, 70, 1), (2, 29), [1, 3], [0, 4, 1, 0]),
    ((1, 18, 15, 7), (1, 4), [1, 1], [0, 1, 0, 2]),
]


@pytest.mark.parametrize("shape,kernel,strides,padding", NARROW)
def test_first_convolutions(shape, kernel, strides, padding):
    """Rows of numbers instead of pixels; the same sums, with zeros behind them."""
    x, w = random(*shape), random(*kernel, shape[3], 16)
    attrs = {"strides": strides, "padding": padding, "data_layout": "NHWC", "kernel_layout": "HWIO"}
    module = conv_module(shape, w, **attrs)
    low = relax.transform.precision(policy="bf16", speedup=16)(module)
    assert f"{shape[2] * shape[3]}, 1)" in low.script()
    exact = run_graph(tilewright.compile(module), x)
    with PassContext(config={"precision.speedup": 16}):
        found = run_graph(tilewright.compile(module, precision="bf16"), x)
    assert found.shape == exact.shape
    size = run_graph(tilewright.compile(conv_module(shape, np.abs(w), **attrs)), np.abs(x))
    terms = kernel[0] * kernel[1] * shape[3]
    assert (np.abs(found - exact) <= (bound("bf16", terms) + bound("exact", terms)) * size).all()


def test_first_convolutions_that_stay():
    """Without instructions for tiles, and where windows or channels are too many."""
    layouts = {"data_layout": "NHWC", "kernel_layout": "HWIO"}
    narrow = conv_module((1, 18, 18, 3), random(3, 3, 3, 16), **layouts)
    assert "reshape" in operators_of(relax.transform.precision(policy="bf16", speedup=10)(narrow))
    assert "reshape" not in operators_of(relax.transform.precision(policy="bf16", speedup=2)(narrow))
    for data, weight in [
        ((1, 18, 50, 3), (1, 11, 3, 16)),  # 33 numbers in a row
        ((1, 18, 18, 8), (3, 3, 8, 16)),  # enough channels
        ((1, 18, 19, 3), (3, 3, 3, 16)),  # 17 places in a row of the result
        ((1, 18, 18, 3), (3, 3, 3, 24)),
        ((1, 9, 8, 3), (3, 3, 3, 16)),  # little work
        ((1, 8, 8, 0), (3, 3, 0, 16)),
        ((1, 8, 8, 3), (0, 3, 3, 16)),
    ]:
        module = conv_module(data, random(*weight), **layouts)
        assert "reshape" not in operators_of(relax.transform.precision(policy="bf16")(module))
