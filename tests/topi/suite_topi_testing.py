"""topi.testing: the numbers by numpy are those of topi's functions, and its schedules build; where `import tvm` is tilewright."""

import numpy as np
import pytest
import tvm
import tvm.topi.testing
from topi.table import built
from tvm import te, topi

reference = topi.testing
RNG = np.random.default_rng(0)


def numbers(*shape, dtype="float32", high=5):
    return (
        RNG.integers(0, high, shape).astype(dtype)
        if dtype != "float32"
        else RNG.uniform(-1, 1, shape).astype(dtype)
    )


def run(make, *arrays):
    """What make(placeholders ...) computes of arrays."""
    inputs = [te.placeholder(each.shape, str(each.dtype), f"x{n}") for n, each in enumerate(arrays)]
    output = make(*inputs)
    result = tvm.nd.array(np.zeros([int(extent) for extent in output.shape], output.dtype))
    built(inputs, [output])(*map(tvm.nd.array, arrays), result)
    return result.numpy()


X, IMAGE = numbers(5, 7), numbers(2, 4, 7, 6)
NHWC = np.ascontiguousarray(IMAGE.transpose(0, 2, 3, 1))
W, HWIO, GROUPS = numbers(6, 4, 3, 3), numbers(3, 3, 4, 6), numbers(6, 2, 3, 3)
ROWS = np.sort(numbers(3, 7), -1)
A, B = numbers(2, 5, 7), numbers(2, 3, 7)
LENGTHS = numbers(2, dtype="int32")
CASES = {
    "softmax_python": (lambda: run(lambda x: topi.nn.softmax(x, 1), X), lambda: reference.softmax_python(X)),
    "log_softmax_python": (lambda: run(lambda x: topi.nn.log_softmax(x, 1), X), lambda: reference.log_softmax_python(X)),
    "dense": (
        lambda: np.maximum(run(topi.nn.dense, X, B[0], B[0, :, 0]), 0), lambda: reference.dense(X, B[0], B[0, :, 0], True, True),
    ),
    "batch_matmul": (lambda: run(lambda a, b: topi.einsum("nik,njk->nij", a, b), A, B), lambda: reference.batch_matmul(A, B)),
    "conv2d_nchw_python": (
        lambda: run(lambda x, w: topi.nn.conv2d(x, w, 2, 1, 1), IMAGE, W), lambda: reference.conv2d_nchw_python(IMAGE, W, 2, 1),
    ),
    "conv2d_nchw_python of groups": (
        lambda: run(lambda x, w: topi.nn.group_conv2d_nchw(x, w, 1, 0, 1, 2), IMAGE, GROUPS),
        lambda: reference.conv2d_nchw_python(IMAGE, GROUPS, 1, "VALID", 2),
    ),
    "conv2d_nhwc_python": (
        lambda: run(lambda x, w: topi.nn.conv2d_nhwc(x, w, 2, "SAME", 1), NHWC, HWIO),
        lambda: reference.conv2d_nhwc_python(NHWC, HWIO, 2, "SAME"),
    ),
    "depthwise_conv2d_python_nchw": (
        lambda: run(lambda x, w: topi.nn.depthwise_conv2d_nchw(x, w, 1, 1, 1), IMAGE, W[:4, :1].copy()),
        lambda: reference.depthwise_conv2d_python_nchw(IMAGE, W[:4, :1], 1, 1),
    ),
    "poolnd_python max": (
        lambda: run(lambda x: topi.nn.pool2d(x, [2, 2], [2, 2], [1, 1], [0, 0, 0, 0], "max"), IMAGE),
        lambda: reference.poolnd_python(IMAGE, [2, 2], [2, 2], [1, 1], [0, 0], [0, 0], "max"),
    ),
    "poolnd_python avg": (
        lambda: run(lambda x: topi.nn.pool2d(x, [3, 3], [1, 1], [1, 1], [1, 1, 1, 1], "avg", count_include_pad=False), IMAGE),
        lambda: reference.poolnd_python(IMAGE, [3, 3], [1, 1], [1, 1], [1, 1], [1, 1], "avg", False),
    ),
    "dilate_python": (lambda: run(lambda x: topi.nn.dilate(x, [2, 3]), X), lambda: reference.dilate_python(X, [2, 3])),
    "sequence_mask": (
        lambda: run(lambda x, n: topi.sequence_mask(x, n, 1, 1), A, LENGTHS), lambda: reference.sequence_mask(A, LENGTHS, 1, 1),
    ),
    "strided_slice_python": (
        lambda: run(lambda x: topi.strided_slice(x, [4, 1], [0, 7], [-2, 3]), X), lambda: reference.strided_slice_python(X, [4, 1], [0, 7], [-2, 3]),
    ),
    "strided_slice_python by sizes": (
        lambda: run(lambda x: topi.strided_slice(x, [1, 2], [2, -1], slice_mode="size"), X),
        lambda: reference.strided_slice_python(X, [1, 2], [2, -1], None, "size"),
    ),
    "searchsorted_ref": (
        lambda: run(lambda s, x: topi.searchsorted(s, x, True, "int32"), ROWS, X[:3]), lambda: reference.searchsorted_ref(ROWS, X[:3], True, "int32"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_numbers_are_those_of_topi(name):
    ours, theirs = CASES[name]
    np.testing.assert_allclose(ours(), theirs(), rtol=1e-4, atol=1e-5)


def test_indices():
    at = numbers(5, 3, dtype="int64")
    np.testing.assert_array_equal(
        run(lambda x, i: topi.gather(x, 1, i), X, at), reference.gather_python(X, 1, at)
    )
    places = numbers(2, 3, dtype="int32")
    np.testing.assert_array_equal(run(topi.gather_nd, X, places), reference.gather_nd_python(X, places))
    hot = run(lambda i: topi.one_hot(i, 2, 0, 5, 1, "float32"), places)
    np.testing.assert_array_equal(hot, reference.one_hot(places, 2, 0, 5, 1, "float32"))
    bounds = [np.array(each, "int32") for each in ([0, 1], [4, 6], [2, 2])]
    value = numbers(2, 3)
    made = run(topi.strided_set, X, value, *bounds)
    np.testing.assert_array_equal(made, reference.strided_set_python(X, value, *bounds))


def test_norms_by_hand():
    x = np.array([[3.0, 4.0]])
    np.testing.assert_allclose(reference.l2_normalize_python(x, 0, 1), [[0.6, 0.8]])
    np.testing.assert_allclose(reference.rms_norm_python(x, 2.0, 1, 0), x * 2 / np.sqrt(12.5))
    np.testing.assert_allclose(reference.layer_norm_python(x, 2.0, 1.0, 1, 0), [[-1.0, 3.0]])


@pytest.mark.parametrize("kind", ["injective", "elemwise", "broadcast", "reduce"])
def test_schedules_build(kind):
    x = te.placeholder((5, 7), name="x")
    output = topi.sum(x, axis=1) if kind == "reduce" else topi.add(x, x)
    schedule = getattr(reference, f"get_{kind}_schedule")("llvm")(output)
    result = tvm.nd.array(np.zeros(X.sum(1).shape if kind == "reduce" else X.shape, "float32"))
    tvm.build(schedule, [x, output], "llvm")(tvm.nd.array(X), result)
    np.testing.assert_allclose(result.numpy(), X.sum(1) if kind == "reduce" else X + X, rtol=1e-5)
