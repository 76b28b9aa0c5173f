"""Convolutions in groups are tiled, each group in vectors of its own where others would reach over, and right."""

import numpy as np
import pytest

import tilewright as tw


def reference(x, w, groups):
    n, height, width, channels = x.shape
    kh, kw, per_group, outputs = w.shape
    result = np.zeros((n, height - kh + 1, width - kw + 1, outputs))
    for out in range(outputs):
        first = out // (outputs // groups) * per_group
        for y in range(kh):
            for z in range(kw):
                window = x[:, y : y + result.shape[1], z : z + result.shape[2], first : first + per_group]
                result[..., out] += window @ w[y, z, :, out]
    return result


def checked_trace(channels, outputs, groups, kernel):
    """The schedule of a convolution of 7 x 5 places whose numbers are those of the reference."""
    executable = tw.compile(
        tw.script.parse(f"""
@R.function
def main(x: R.Tensor((1, 7, 5, {channels}), "float32"), w: R.Tensor(({kernel}, {kernel}, {channels // groups}, {outputs}), "float32")):
    with R.dataflow():
        y = R.nn.conv2d(x, w, groups={groups}, data_layout="NHWC", kernel_layout="HWIO")
        R.output(y)
    return y
""")
    )
    rng = np.random.default_rng(0)
    x = rng.standard_normal((1, 7, 5, channels)).astype("float32")
    w = rng.standard_normal((kernel, kernel, channels // groups, outputs)).astype("float32")
    result = tw.VirtualMachine(executable)["main"](x, w).numpy()
    np.testing.assert_allclose(result, reference(x, w, groups), rtol=1e-4, atol=1e-4)
    (trace,) = executable.schedules.values()
    return str(trace)


@pytest.mark.parametrize(
    ("channels", "outputs", "groups", "is_tiled"),
    [
        (6, 128, 2, True),  # 64 outputs in a group
        (8, 16, 4, True),  # 4 of them: vectors of 4
        (6, 54, 2, True),  # 27: vectors of each group
        (12, 60, 3, True),  # 20
        (14, 14, 7, True),  # 2 inputs, 2 outputs
        (3, 381, 3, None),  # 1 input, 127 outputs
        (5, 5, 5, None),  # each channel by itself
    ],
)
def test_groups(channels, outputs, groups, is_tiled):
    trace = checked_trace(channels, outputs, groups, 3)
    assert is_tiled is None or ("sch.decompose_reduction" in trace) == is_tiled, trace


@pytest.mark.parametrize(
    ("channels", "outputs", "groups", "is_by_group"),
    [
        (24, 112, 4, True),  # 6 terms
        (16, 112, 4, False),  # 4 terms, which vectors of 4 outputs serve
        (24, 112, 8, True),  # 3 terms, but 14 outputs: nothing narrower is left
        (14, 14, 7, False),
        (24, 128, 4, False),  # 32 outputs: no vector reaches over
    ],
)
def test_groups_of_few_terms(channels, outputs, groups, is_by_group):
    trace = checked_trace(channels, outputs, groups, 1)
    # the sum, and what puts groups side by side
    assert ("b1, b2 = sch.get_child_blocks" in trace) == is_by_group


def trace_with_residual(x_shape, w_shape):
    """The schedule of relu(convolution in two groups + residual), whose numbers are those of the reference."""
    r_shape = (1, x_shape[1] - w_shape[0] + 1, x_shape[2] - w_shape[1] + 1, w_shape[3])
    executable = tw.compile(
        tw.script.parse(f"""
@R.function
def main(x: R.Tensor({x_shape}, "float32"), w: R.Tensor({w_shape}, "float32"), r: R.Tensor({r_shape}, "float32")):
    with R.dataflow():
        y = R.nn.relu(R.add(R.nn.conv2d(x, w, groups=2, data_layout="NHWC", kernel_layout="HWIO"), r))
        R.output(y)
    return y
""")
    )
    rng = np.random.default_rng(0)
    x, w, r = (rng.standard_normal(shape).astype("float32") for shape in (x_shape, w_shape, r_shape))
    result = tw.VirtualMachine(executable)["main"](x, w, r).numpy()
    np.testing.assert_allclose(result, np.maximum(reference(x, w, 2) + r, 0), rtol=1e-4, atol=1e-4)
    (trace,) = executable.schedules.values()
    return str(trace)


@pytest.mark.parametrize("per_group", [17, 68, 127])
@pytest.mark.parametrize("kernel", [1, 3])
def test_what_follows_is_computed_with_the_tiles(per_group, kernel):
    # found: residuals and activations were loops of their own, over results that had left L1
    trace = trace_with_residual((1, 14, 15, 8), (kernel, kernel, 4, 2 * per_group))
    assert "sch.set_scope" in trace and "sch.cache_write" not in trace


def test_narrow_groups_whose_results_are_far_are_not_stored_one_by_one():
    # found: each of 16 groups touched 16 of the 64 bytes of every line of results and residuals
    trace = trace_with_residual((1, 257, 256, 4), (1, 1, 2, 8))
    assert "sch.transform_block_layout" not in trace
