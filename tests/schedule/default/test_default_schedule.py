"""build() schedules plain functions by rules: the numbers stay those of numpy, and nothing outside is touched.

Inputs are small whole numbers, so that every sum is exact in any order and results are compared bit by bit.
Every array ends at (or begins after) a page that may not be touched: an access outside of it is a crash.
"""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from schedule_checking import TARGETS, check, guarded

import tilewright
from tilewright import te
from tilewright.compat.analysis import estimate_tir_flops

EDGES = [1, 2, 15, 16, 17, 31, 33, 127, 129]  # around the edges of tiles and vectors


def matmul(m, n, k, dtype="float32", a_is_transposed=False, b_is_transposed=False, batch=None, relu=False):
    outer = [] if batch is None else [batch]
    a = te.placeholder([*outer, k, m] if a_is_transposed else [*outer, m, k], dtype, name="A")
    b = te.placeholder([*outer, n, k] if b_is_transposed else [*outer, k, n], dtype, name="B")
    r = te.reduce_axis((0, k), "k")

    def element(*axes):
        *lead, i, j = axes
        x = a[(*lead, r, i)] if a_is_transposed else a[(*lead, i, r)]
        y = b[(*lead, j, r)] if b_is_transposed else b[(*lead, r, j)]
        return te.sum(x * y, axis=r)

    c = te.compute([*outer, m, n], element, name="C")

    def reference(x, y):
        x, y = x.astype("float64"), y.astype("float64")
        x = np.swapaxes(x, -1, -2) if a_is_transposed else x
        y = np.swapaxes(y, -1, -2) if b_is_transposed else y
        product = x @ y
        return np.maximum(product, 0) if relu else product

    if relu:
        d = te.compute(
            [*outer, m, n], lambda *axes: te.max(c(*axes), tilewright.tir.const(0, dtype)), name="D"
        )
        return [a, b, d], reference
    return [a, b, c], reference


@pytest.mark.parametrize("size", EDGES)
def test_matmul_columns(size):
    check(*matmul(5, size, 7))


@pytest.mark.parametrize("size", EDGES)
def test_matmul_rows(size):
    check(*matmul(size, 33, 7))


@pytest.mark.parametrize("size", EDGES)
def test_matmul_terms(size):
    check(*matmul(17, 31, size))


@pytest.mark.parametrize(
    ("m", "n", "k"), [(129, 127, 129), (1, 129, 127), (127, 1, 129), (64, 4096, 3), (257, 65, 33)]
)
def test_matmul_large(m, n, k):
    check(*matmul(m, n, k), threads=[1, 2])


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "int64", "float16", "float64"])
def test_matmul_dtypes(dtype):
    arguments, reference = matmul(17, 33, 15, dtype)
    targets = TARGETS[:2] if dtype == "float16" else TARGETS  # x86-64 without F16C has no conversions
    check(arguments, lambda x, y: reference(x, y).astype("int64").astype(dtype), targets)


@pytest.mark.parametrize("a_is_transposed", [False, True])
@pytest.mark.parametrize("b_is_transposed", [False, True])
@pytest.mark.parametrize("batch", [None, 3])
def test_matmul_operands(a_is_transposed, b_is_transposed, batch):
    check(*matmul(17, 65, 33, "float32", a_is_transposed, b_is_transposed, batch, relu=True))


def windows(x, kernel, stride, dilation=1):
    """[batch, channels, height, width, kernel, kernel]: the windows of the last two axes."""
    reach = (kernel - 1) * dilation + 1
    view = np.lib.stride_tricks.sliding_window_view(x, (reach, reach), axis=(2, 3))
    return view[:, :, ::stride, ::stride, ::dilation, ::dilation]


def conv2d(
    batch,
    channels,
    height,
    width,
    filters,
    kernel,
    stride=1,
    padding=0,
    dilation=1,
    groups=1,
    dtype="float32",
):
    reach = (kernel - 1) * dilation + 1
    out_height = (height + 2 * padding - reach) // stride + 1
    out_width = (width + 2 * padding - reach) // stride + 1
    per_group = channels // groups
    x = te.placeholder((batch, channels, height, width), dtype, name="X")
    w = te.placeholder((filters, per_group, kernel, kernel), dtype, name="W")
    source = x
    if padding:

        def padded(n, c, i, j):
            inside = tilewright.tir.all(i >= padding, i < height + padding, j >= padding, j < width + padding)
            zero = tilewright.tir.const(0, dtype)
            return tilewright.tir.if_then_else(inside, x[n, c, i - padding, j - padding], zero)

        source = te.compute((batch, channels, height + 2 * padding, width + 2 * padding), padded, name="pad")
    rc, rh, rw = (
        te.reduce_axis((0, per_group), "rc"),
        te.reduce_axis((0, kernel), "rh"),
        te.reduce_axis((0, kernel), "rw"),
    )

    def element(n, f, i, j):
        channel = rc if groups == 1 else f // (filters // groups) * per_group + rc
        pixel = source[n, channel, i * stride + rh * dilation, j * stride + rw * dilation]
        return te.sum(pixel * w[f, rc, rh, rw], axis=[rc, rh, rw])

    y = te.compute((batch, filters, out_height, out_width), element, name="Y")

    def reference(image, weight):
        image = np.pad(image.astype("float64"), ((0, 0), (0, 0), (padding, padding), (padding, padding)))
        view = windows(image, kernel, stride, dilation)
        view = view.reshape(batch, groups, per_group, *view.shape[2:])
        split = weight.reshape(groups, filters // groups, per_group, kernel, kernel)
        result = np.einsum("ngcijkl,gfckl->ngfij", view, split.astype("float64"))
        return result.reshape(batch, filters, out_height, out_width)

    return [x, w, y], reference


@pytest.mark.parametrize("width", [3, 4, 17, 18, 19, 33, 35, 129])
@pytest.mark.parametrize("stride", [1, 2])
def test_conv2d_width(width, stride):
    check(*conv2d(1, 3, 7, width, 5, 3, stride))


@pytest.mark.parametrize(
    "options",
    [
        {"padding": 1},
        {"padding": 1, "stride": 2},
        {"dilation": 2},
        {"dilation": 2, "padding": 2, "stride": 2},
        {"groups": 2},
        {"groups": 4, "padding": 1},
        {"groups": 4, "stride": 2, "padding": 1},
        {"stride": 3},
        {"stride": 5},
        {"padding": 1, "dtype": "int32"},
        {"padding": 1, "dtype": "float64", "stride": 2},
    ],
    ids=str,
)
def test_conv2d_kinds(options):
    check(*conv2d(2, 4, 9, 33, 8, 3, **options))


def test_conv2d_large():
    check(*conv2d(1, 32, 29, 31, 48, 3, padding=1), threads=[1, 2])


def pool(batch, channels, height, width, kernel, stride, kind, dtype="float32"):
    x = te.placeholder((batch, channels, height, width), dtype, name="X")
    out = (batch, channels, (height - kernel) // stride + 1, (width - kernel) // stride + 1)
    rh, rw = te.reduce_axis((0, kernel), "rh"), te.reduce_axis((0, kernel), "rw")
    reduce = te.max if kind == "max" else te.sum
    y = te.compute(
        out, lambda n, c, i, j: reduce(x[n, c, i * stride + rh, j * stride + rw], axis=[rh, rw]), name="Y"
    )
    return [x, y], lambda image: getattr(windows(image, kernel, stride), kind)(axis=(4, 5))


@pytest.mark.parametrize("kind", ["max", "sum"])
@pytest.mark.parametrize("kernel", [2, 3])
@pytest.mark.parametrize("stride", [1, 2, 3])
@pytest.mark.parametrize("width", [17, 33, 37])
def test_pool(kind, kernel, stride, width):
    check(*pool(2, 3, 7, width, kernel, stride, kind))


@pytest.mark.parametrize("dtype", ["int8", "int32", "float64"])
def test_max_pool_dtypes(dtype):
    check(*pool(1, 3, 7, 35, 3, 2, "max", dtype))


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("size", [1, 16, 17, 48, 127, 128, 1000])
def test_sum_over_axis(axis, size):
    shape = [5, 7, size]
    x = te.placeholder(shape, name="X")
    r = te.reduce_axis((0, shape[axis]), "r")

    def element(*axes):
        axes = list(axes)
        return te.sum(x[(*axes[:axis], r, *axes[axis:])], axis=r)

    y = te.compute(shape[:axis] + shape[axis + 1 :], element, name="Y")
    check([x, y], lambda array: array.sum(axis=axis))


@pytest.mark.parametrize("size", EDGES)
def test_elementwise_with_broadcast(size):
    a, b, c = (
        te.placeholder((7, size), name="A"),
        te.placeholder((size,), name="B"),
        te.placeholder((7, 1), name="C"),
    )
    d = te.compute(
        (7, size), lambda i, j: te.max(a[i, j] * b[j] + c[i, 0], tilewright.tir.const(0, "float32"))
    )
    check([a, b, c, d], lambda x, y, z: np.maximum(x * y + z, 0))


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int32", "int64", "float16", "float64"])
def test_elementwise_dtypes(dtype):
    a, b = te.placeholder((5, 127), dtype, name="A"), te.placeholder((5, 127), dtype, name="B")
    targets = TARGETS[:2] if dtype == "float16" else TARGETS
    check(
        [a, b, te.compute((5, 127), lambda i, j: a[i, j] * b[i, j] + a[i, j])],
        lambda x, y: x * y + x,
        targets,
    )


def test_compare_gives_bools():
    a, b = te.placeholder((5, 127), name="A"), te.placeholder((5, 127), name="B")
    check([a, b, te.compute((5, 127), lambda i, j: a[i, j] < b[i, j])], lambda x, y: x < y)


def test_select_by_bools():
    a, b = te.placeholder((5, 127), "bool", name="A"), te.placeholder((5, 127), name="B")
    zero = tilewright.tir.const(0, "float32")
    check(
        [a, b, te.compute((5, 127), lambda i, j: tilewright.tir.Select(a[i, j], b[i, j], zero))],
        lambda x, y: np.where(x, y, 0),
    )


@pytest.mark.parametrize("shape", [(1, 1), (5, 7), (17, 33), (64, 48), (127, 129)])
def test_transpose(shape):
    a = te.placeholder(shape, name="A")
    check([a, te.compute(shape[::-1], lambda i, j: a[j, i])], lambda x: x.T)


@pytest.mark.parametrize("shape", [(6, 5), (34, 33), (128, 129)])
def test_reshape(shape):
    rows, columns = shape
    a = te.placeholder(shape, name="A")
    b = te.compute(
        (rows // 2, columns * 2),
        lambda i, j: a[(i * columns * 2 + j) // columns, (i * columns * 2 + j) % columns],
    )
    check([a, b], lambda x: x.reshape(rows // 2, columns * 2))


@pytest.mark.parametrize("size", [5, 16, 33])
def test_concatenation(size):
    a, b = te.placeholder((3, size), name="A"), te.placeholder((3, 17), name="B")
    c = te.compute(
        (3, size + 17), lambda i, j: tilewright.tir.if_then_else(j < size, a[i, j], b[i, j - size]), name="C"
    )
    check([a, b, c], lambda x, y: np.concatenate([x, y], axis=1))


@pytest.mark.parametrize("size", [5, 16, 33])
def test_padding(size):
    a = te.placeholder((3, size), name="A")
    zero = tilewright.tir.const(0, "float32")
    b = te.compute(
        (5, size + 5),
        lambda i, j: tilewright.tir.if_then_else(
            tilewright.tir.all(i >= 1, i < 4, j >= 2, j < size + 2), a[i - 1, j - 2], zero
        ),
    )
    check([a, b], lambda x: np.pad(x, ((1, 1), (2, 3))))


def padded_colours(height, width, channels, pad):
    x = te.placeholder((height, width, channels), "float32", name="X")

    def element(i, j, c):
        inside = tilewright.tir.all(i >= pad, i < height + pad, j >= pad, j < width + pad)
        return tilewright.tir.if_then_else(inside, x[i - pad, j - pad, c], tilewright.tir.const(0, "float32"))

    y = te.compute((height + 2 * pad, width + 2 * pad, channels), element, name="Y")
    return [x, y], lambda image: np.pad(image, ((pad, pad), (pad, pad), (0, 0)))


@pytest.mark.parametrize("channels", [2, 3])
@pytest.mark.parametrize(("height", "width", "pad"), [(7, 5, 1), (3, 127, 3), (1, 1, 2), (5, 16, 0)])
def test_padding_of_colours(height, width, pad, channels):
    check(*padded_colours(height, width, channels, pad))


@pytest.mark.parametrize(
    ("channels", "target", "is_fused"),
    [
        (3, "skylake-avx512", True),
        (3, "core-avx2", True),
        (3, "x86-64", False),  # vectors there leave no lanes out
        (4, "skylake-avx512", False),  # a vector by themselves
        (1, "skylake-avx512", False),
    ],
)
def test_colours_make_vectors_with_the_axis_before(channels, target, is_fused):
    module = tilewright.IRModule({"main": te.create_prim_func(padded_colours(7, 127, channels, 1)[0])})
    assert (
        "sch.fuse(" in str(tilewright.schedule.by_rules(module, f"llvm -mcpu={target}").trace)
    ) == is_fused


def test_colours_in_another_order_stay_apart():
    x = te.placeholder((5, 3, 127), "float32", name="X")
    moved = te.compute((5, 127, 3), lambda i, j, c: x[i, c, j], name="Y")
    module = tilewright.IRModule({"main": te.create_prim_func([x, moved])})
    assert "sch.fuse(" not in str(tilewright.schedule.by_rules(module, "llvm -mcpu=skylake-avx512").trace)
    check([x, moved], lambda image: image.transpose(0, 2, 1))


def test_reversal():
    a = te.placeholder((3, 127), name="A")
    check([a, te.compute((3, 127), lambda i, j: a[i, 126 - j])], lambda x: x[:, ::-1])


def test_strided_slice():
    a = te.placeholder((3, 127), name="A")
    check([a, te.compute((3, 43), lambda i, j: a[i, j * 3])], lambda x: x[:, ::3][:, :43])


def test_gather():
    a, index = te.placeholder((4, 33), name="A"), te.placeholder((17,), "int32", name="index")
    random = np.random.default_rng(0)
    arrays = [random.standard_normal((4, 33)).astype("float32"), random.integers(0, 4, 17).astype("int32")]
    check([a, index, te.compute((17, 33), lambda i, j: a[index[i], j])], lambda x, n: x[n], inputs=arrays)


@pytest.mark.parametrize("batch", [0, 1, 5, 17])
def test_symbolic_batch(batch):
    n = te.var("n")
    a, b = te.placeholder((n, 33), name="A"), te.placeholder((33, 65), name="B")
    k = te.reduce_axis((0, 33), "k")
    c = te.compute((n, 65), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), name="C")
    check([a, b, c], lambda x, y: x @ y, shapes=[[batch, 33], [33, 65], [batch, 65]])


@pytest.mark.parametrize("size", [0, 1, 31, 129])
def test_symbolic_last_dimension(size):
    n = te.var("n")
    a = te.placeholder((5, n), name="A")
    check([a, te.compute((5, n), lambda i, j: a[i, j] + a[i, j])], lambda x: x + x, shapes=[[5, size]] * 2)


@pytest.mark.parametrize("shape", [(0, 7, 5), (5, 0, 7), (5, 7, 0)])
def test_matmul_of_nothing(shape):
    check(*matmul(*shape))


def test_elementwise_of_nothing():
    a = te.placeholder((5, 0), name="A")
    check([a, te.compute((5, 0), lambda i, j: a[i, j] * a[i, j])], lambda x: x * x)


def softmax(rows, columns):
    x = te.placeholder((rows, columns), name="X")
    r, s = te.reduce_axis((0, columns), "r"), te.reduce_axis((0, columns), "s")
    most = te.compute((rows,), lambda i: te.max(x[i, r], axis=r), name="most")
    power = te.compute((rows, columns), lambda i, j: te.exp(x[i, j] - most[i]), name="power")
    total = te.compute((rows,), lambda i: te.sum(power[i, s], axis=s), name="total")
    y = te.compute((rows, columns), lambda i, j: power[i, j] / total[i], name="Y")
    return te.create_prim_func([x, y])


@pytest.mark.parametrize("columns", [1, 17, 40, 127, 256])
@pytest.mark.parametrize("target", TARGETS)
def test_softmax(columns, target):
    x = guarded(np.random.default_rng(0).standard_normal((5, columns), dtype="float32"), True)
    y = guarded(np.zeros_like(x), True)
    tilewright.build(softmax(5, columns), target=target)["main"](
        tilewright.from_dlpack(x), tilewright.from_dlpack(y)
    )
    power = np.exp(x - x.max(1, keepdims=True))
    np.testing.assert_allclose(y, power / power.sum(1, keepdims=True), rtol=1e-5)


@pytest.mark.parametrize("target", TARGETS)
def test_nan_and_infinity_pass_through(target):
    a, b = te.placeholder((3, 33), name="A"), te.placeholder((33, 17), name="B")
    k = te.reduce_axis((0, 33), "k")
    c = te.compute((3, 17), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), name="C")
    x, y = np.ones((3, 33), "float32"), np.ones((33, 17), "float32")
    x[0, 32], x[1, 0], y[5, 16] = np.nan, np.inf, -np.inf
    with np.errstate(invalid="ignore"):
        check([a, b, c], lambda p, q: p @ q, targets=[target], inputs=[x, y])


@pytest.mark.parametrize("target", TARGETS)
def test_padding_keeps_nan_out(target):
    """Elements behind the edge are not multiplied by zero: they may be infinite."""
    arguments, _ = conv2d(1, 1, 3, 17, 1, 3, padding=1)
    image, weight = np.zeros((1, 1, 3, 17), "float32"), np.ones((1, 1, 3, 3), "float32")
    image[0, 0, 0, 16] = np.nan
    expected = np.zeros((1, 1, 3, 17), "float32")
    expected[0, 0, :2, 15:] = np.nan
    check(arguments, lambda x, w: expected, targets=[target], inputs=[image, weight])


def test_doubled_sums_stay_small():
    """y = x + x forty times over would be a statement of 2 ** 40 terms."""
    a = te.placeholder((33,), "int32", name="A")
    b = a
    for n in range(40):
        b = te.compute((33,), lambda i, b=b: b[i] + b[i], name=f"B{n}")
    check([a, b], lambda x: np.zeros(33, "int32"))


small = st.integers(1, 40)
some_targets = st.sampled_from(TARGETS)
RANDOM = settings(max_examples=60, deadline=None, derandomize=True)


@pytest.mark.slow
@RANDOM
@given(
    small,
    small,
    small,
    st.booleans(),
    st.booleans(),
    st.sampled_from([None, 1, 3]),
    st.booleans(),
    some_targets,
)
def test_random_matmuls(m, n, k, a_is_transposed, b_is_transposed, batch, relu, target):
    check(
        *matmul(m, n, k, "float32", a_is_transposed, b_is_transposed, batch, relu),
        targets=[target],
        threads=[1],
    )


@pytest.mark.slow
@RANDOM
@given(
    st.integers(1, 2), st.integers(1, 5), st.integers(1, 9), st.integers(1, 40), st.integers(1, 9),
    st.sampled_from([1, 2, 3, 5]), st.integers(1, 4), st.integers(0, 2), st.integers(1, 2), st.integers(1, 3), some_targets,
)  # fmt: skip
def test_random_convolutions(
    batch, channels, height, width, filters, kernel, stride, padding, dilation, groups, target
):
    reach = (kernel - 1) * dilation + 1
    assume(height + 2 * padding >= reach and width + 2 * padding >= reach)
    arguments = (
        batch,
        channels * groups,
        height,
        width,
        filters * groups,
        kernel,
        stride,
        padding,
        dilation,
        groups,
    )
    check(*conv2d(*arguments), targets=[target])


@pytest.mark.slow
@RANDOM
@given(
    small, st.integers(3, 9), st.integers(3, 40), st.integers(1, 3), st.integers(1, 4), st.sampled_from(["max", "sum"]),
    some_targets,
)  # fmt: skip
def test_random_pools(channels, height, width, kernel, stride, kind, target):
    check(*pool(1, channels, height, width, kernel, stride, kind), targets=[target])


@pytest.mark.slow
@RANDOM
@given(
    st.lists(st.integers(1, 20), min_size=1, max_size=4), st.integers(0, 15), st.booleans(),
    st.sampled_from(["int8", "int32", "float32", "float64"]), some_targets,
)  # fmt: skip
def test_random_elements(shape, mask, is_reversed, dtype, target):
    """A[...] * B[...] + A[...], where B is broadcast along the axes of `mask`, or all axes run the other way."""
    other = [1 if mask >> axis & 1 else extent for axis, extent in enumerate(shape)]
    a, b = te.placeholder(shape, dtype, name="A"), te.placeholder(other, dtype, name="B")

    def element(*axes):
        from_b = b[tuple(0 if extent == 1 else axis for axis, extent in zip(axes, other, strict=True))]
        from_a = a[
            tuple(
                extent - 1 - axis if is_reversed else axis for axis, extent in zip(axes, shape, strict=True)
            )
        ]
        return from_a * from_b + from_a

    def reference(x, y):
        x = np.flip(x) if is_reversed else x
        return x * y + x

    check([a, b, te.compute(shape, element)], reference, targets=[target])


@pytest.mark.parametrize(("terms", "is_spread"), [(1024, True), (1040, False), (1023, False), (2048, True)])
def test_rows_that_would_meet_in_the_cache_are_copied(terms, is_spread):
    """Lines 4096 bytes apart belong in the same eight places of L1."""
    a = te.placeholder((14, terms), "float32", name="a")
    b = te.placeholder((terms, 200), "float32", name="b")
    k = te.reduce_axis((0, terms))
    c = te.compute((14, 200), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k))
    target = "llvm -mcpu=skylake-avx512"
    trace = str(tilewright.schedule.by_rules(te.create_prim_func([a, b, c]), target=target).trace)
    assert ("% 16" in trace) == is_spread, trace
    check([a, b, c], lambda x, y: x @ y, threads=(1, 2))


@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
def test_reductions_along_the_outer_axis_are_computed_once(name):
    """And not again for each of the rows that use them."""
    module = tilewright.script.parse(f"""
@R.function
def main(x: R.Tensor((127, 7), "float32")):
    with R.dataflow():
        y = R.nn.{name}(x, axis=0)
        R.output(y)
    return y
""")
    executable = tilewright.compile(module, target="llvm -num-cores=1")
    func = executable.legalized[name]
    scheduled = tilewright.schedule.by_rules(func, "llvm -num-cores=1").mod["main"]
    assert estimate_tir_flops(scheduled) <= 8 / 7 * estimate_tir_flops(func)  # lanes that idle
    x = np.random.default_rng(0).standard_normal((127, 7)).astype("float32")
    exp = np.exp(x.astype("float64"))
    expected = exp / exp.sum(0) if name == "softmax" else np.log(exp / exp.sum(0))
    result = tilewright.VirtualMachine(executable)["main"](x).numpy()
    np.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(("channels", "vectors"), [(96, 6), (256, 8), (40, 2), (16, None), (7, None)])
def test_pooling_by_two_reads_neighbours(channels, vectors):
    """All channels of a place, or as many as eight vectors hold, before those of the next one."""
    module = tilewright.script.parse(f"""
@R.function
def main(x: R.Tensor((2, 9, 11, {channels}), "float32")):
    with R.dataflow():
        y = R.nn.max_pool2d(x, pool_size=(3, 3), strides=(2, 2), padding=(1, 1), layout="NHWC")
        R.output(y)
    return y
""")
    executable = tilewright.compile(module, target="llvm -mcpu=skylake-avx512 -num-cores=1")
    (trace,) = executable.schedules.values()
    assert (f"factors=[None, {vectors}, 16]" in str(trace)) == (vectors is not None), str(trace)
    x = np.random.default_rng(0).standard_normal((2, 9, 11, channels)).astype("float32")
    padded = np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)), constant_values=-np.inf)
    expected = np.max([padded[:, i : i + 9 : 2, j : j + 11 : 2] for i in range(3) for j in range(3)], axis=0)
    main = tilewright.VirtualMachine(tilewright.compile(module))["main"]
    np.testing.assert_array_equal(main(x).numpy(), expected)
