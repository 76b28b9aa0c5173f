"""Pools of large windows, which are computed by steps: numbers against numpy, schedules, bits that open extents do not change."""

import numpy as np
import pytest

import tilewright as tw

RNG = np.random.default_rng(35)


def graph(op, shape, attrs, dtype="float32"):
    words = ", ".join(f"{name}={value!r}" for name, value in attrs.items())
    extents = ", ".join(map(str, shape)) + ("," if len(shape) == 1 else "")
    names = sorted({extent for extent in shape if isinstance(extent, str)})
    lines = [f"    {name} = T.int64()" for name in names]
    return tw.script.parse(
        "\n".join(
            [
                "@R.function",
                f'def main(x: R.Tensor(({extents}), "{dtype}")):'.replace(
                    extents, ", ".join(repr(extent) for extent in shape)
                ),
                *lines,
                f"    return R.nn.{op}(x, {words})",
            ]
        )
    )


def run(op, data, attrs, shape=None, target="llvm"):
    module = graph(op, shape or data.shape, attrs, str(data.dtype))
    return tw.VirtualMachine(tw.compile(module, target=target))["main"](tw.tensor(data)).numpy()


def windows(data, size, stride, pad, dilation, outside):
    """The windows of the last two dimensions, [..., rows, columns, size, size]."""
    padded = np.pad(data, [(0, 0)] * (data.ndim - 2) + [(pad, pad)] * 2, constant_values=outside)
    covered = (size - 1) * dilation + 1
    view = np.lib.stride_tricks.sliding_window_view(padded, (covered, covered), (-2, -1))
    return view[..., ::stride, ::stride, ::dilation, ::dilation]


CASES = [
    (3, 2, 1, 1),
    (5, 3, 0, 1),
    (7, 7, 3, 1),
    (31, 1, 15, 1),
    (7, 2, 9, 3),
]


@pytest.mark.parametrize("size, stride, pad, dilation", CASES)
@pytest.mark.parametrize("shape", [(1, 2, 127, 67), (2, 3, 31, 33)], ids=str)
def test_numbers_fixed_and_open(shape, size, stride, pad, dilation):
    data = RNG.standard_normal(shape).astype("float32")
    attrs = {
        "pool_size": [size] * 2,
        "strides": [stride] * 2,
        "padding": [pad] * 2,
        "dilation": [dilation] * 2,
    }
    largest = run("max_pool2d", data, attrs)
    np.testing.assert_array_equal(largest, windows(data, size, stride, pad, dilation, -np.inf).max((-2, -1)))
    counts = windows(np.ones(shape), size, stride, pad, dilation, 0).sum((-2, -1))
    sums = windows(data.astype("float64"), size, stride, pad, dilation, 0).sum((-2, -1))
    parts = run("avg_pool2d", data, {**attrs, "count_include_pad": False})
    np.testing.assert_allclose(parts, sums / np.maximum(counts, 1), rtol=1e-5, atol=1e-6)
    every = ("n", "c", "h", "w")
    assert run("max_pool2d", data, attrs, every).tobytes() == largest.tobytes()
    assert run("avg_pool2d", data, {**attrs, "count_include_pad": False}, every).tobytes() == parts.tobytes()


@pytest.mark.parametrize("size, stride", [(15, 1), (31, 5), (16, 16)])
def test_rows(size, stride):
    shape = (2, 3, 127)
    data = RNG.standard_normal(shape).astype("float32")
    view = np.lib.stride_tricks.sliding_window_view(data, size, -1)[..., ::stride, :]
    attrs = {"pool_size": [size], "strides": [stride]}
    np.testing.assert_array_equal(run("max_pool1d", data, attrs), view.max(-1))
    np.testing.assert_allclose(run("avg_pool1d", data, attrs), view.mean(-1), rtol=1e-5, atol=1e-6)
    assert run("max_pool1d", data, attrs, (*shape[:2], "w")).tobytes() == view.max(-1).tobytes()


def test_volumes_and_channels_last():
    data = RNG.standard_normal((1, 2, 7, 11, 13)).astype("float32")
    view = np.lib.stride_tricks.sliding_window_view(data, (5, 5, 5), (2, 3, 4))
    attrs = {"pool_size": [5, 5, 5]}
    np.testing.assert_array_equal(run("max_pool3d", data, attrs), view.max((-3, -2, -1)))
    picture = RNG.standard_normal((2, 17, 19, 5)).astype("float32")
    view = np.lib.stride_tricks.sliding_window_view(picture, (9, 9), (1, 2))[:, ::2, ::2]
    attrs = {"pool_size": [9, 9], "strides": [2, 2], "layout": "NHWC"}
    np.testing.assert_array_equal(run("max_pool2d", picture, attrs), view.max((-2, -1)))
    np.testing.assert_allclose(run("avg_pool2d", picture, attrs), view.mean((-2, -1)), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("dtype", ["float16", "int8", "uint8", "int32", "float64"])
def test_other_dtypes(dtype):
    data = (RNG.standard_normal((1, 3, 33, 37)) * 50).astype(dtype)
    least = np.iinfo(dtype).min if np.issubdtype(data.dtype, np.integer) else -np.inf
    attrs = {"pool_size": [7, 7], "padding": [3, 3]}
    wanted = windows(data, 7, 1, 3, 1, least).max((-2, -1))
    np.testing.assert_array_equal(run("max_pool2d", data, attrs), wanted)


@pytest.mark.parametrize("size, stride, pad", [(2, 2, 0), (3, 2, 1), (7, 1, 3)])
def test_halves_are_compared_as_float32(size, stride, pad):
    data = (RNG.standard_normal((1, 5, 35, 127)) * 100).astype("float16")
    data[0, 0, 5, 7], data[0, 1, 20, 20], data[0, 2] = np.nan, np.inf, -np.inf
    attrs = {"pool_size": [size] * 2, "strides": [stride] * 2, "padding": [pad] * 2}
    wanted = windows(data, size, stride, pad, 1, -np.inf).max((-2, -1))
    for shape in (data.shape, (1, 5, "h", "w")):
        np.testing.assert_array_equal(run("max_pool2d", data, attrs, shape), wanted)
    program = tw.compile(graph("max_pool2d", data.shape, attrs, "float16")).legalized["max_pool2d"].script()
    assert 'T.Cast("float16", pool_max[' in program


def test_nan_stays_and_infinities_are_numbers():
    data = RNG.standard_normal((1, 1, 35, 37)).astype("float32")
    data[0, 0, 5, 7], data[0, 0, 20, 20], data[0, 0, 30, 3] = np.nan, np.inf, -np.inf
    for size, stride in [(2, 2), (3, 1), (15, 1), (15, 2)]:
        attrs = {"pool_size": [size] * 2, "strides": [stride] * 2}
        wanted = windows(data, size, stride, 0, 1, -np.inf).max((-2, -1))
        np.testing.assert_array_equal(run("max_pool2d", data, attrs), wanted)
    least = np.full((1, 2, 9, 9), -np.inf, "float32")
    np.testing.assert_array_equal(run("max_pool2d", least, {"pool_size": [5, 5], "padding": [2, 2]}), least)


def test_an_empty_batch():
    data = np.zeros((0, 3, 33, 37), "float32")
    attrs = {"pool_size": [15, 15], "padding": [7, 7]}
    assert run("max_pool2d", data, attrs, ("n", 3, 33, 37)).shape == (0, 3, 33, 37)
    assert run("avg_pool2d", data, attrs, ("n", 3, "h", "w")).shape == (0, 3, 33, 37)


@pytest.mark.parametrize("shape", [(1, 8, 127, 127), ("n", 8, "h", "w"), (4, 64, 13, 13)], ids=str)
def test_the_rule_takes_it(shape):
    for op in ("max_pool2d", "avg_pool2d"):
        for size in (5, 31):
            attrs = {"pool_size": [size] * 2, "padding": [size // 2] * 2}
            module = tw.compile(graph(op, shape, attrs)).legalized
            rejections = tw.schedule.by_rules(module).rejections
            assert [reason for _, rule, reason in rejections if rule == "tile_pool"] == []


def test_target_c_computes_the_same():
    data = RNG.standard_normal((1, 3, 33, 37)).astype("float32")
    for op in ("max_pool2d", "avg_pool2d"):
        attrs = {"pool_size": [15, 15], "padding": [7, 7]}
        assert run(op, data, attrs, target="c").tobytes() == run(op, data, attrs).tobytes()


def test_tiles_of_open_pictures_have_a_constant_size():
    """A stride makes the width of what is read (w + 1) // 2 * 2 + 1, which no tile ends with."""
    module = tw.compile(
        graph("max_pool2d", (1, 3, "h", "w"), {"pool_size": [3, 3], "strides": [2, 2], "padding": [1, 1]})
    ).legalized
    scheduled = tw.schedule.by_rules(module).mod["max_pool2d"].with_attr("global_symbol", "f")
    assert "float pool_rows_local[" in tw.build(scheduled, target="c").get_source("c")
