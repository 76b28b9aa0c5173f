"""Windows that sum over no channels (depthwise convolutions, pools) read padding where it is needed, without a copy."""

import re

import numpy as np
import pytest
from schedule_checking import check

import tilewright
from tilewright import te, tir


def windows(x, kernel, stride):
    """[height, width, channels, kernel, kernel]: the windows of the first two axes."""
    view = np.lib.stride_tricks.sliding_window_view(x, (kernel, kernel), axis=(0, 1))
    return view[::stride, ::stride]


def padded(x, pad, value):
    height, width, channels = x.shape

    def element(i, j, c):
        inside = tir.all(i >= pad, i < height + pad, j >= pad, j < width + pad)
        return tir.if_then_else(inside, x[i - pad, j - pad, c], value)

    return te.compute((height + 2 * pad, width + 2 * pad, channels), element, name="pad_temp")


def depthwise(height, width, channels, kernel, stride, pad, dtype="float32"):
    x = te.placeholder((height, width, channels), dtype, name="X")
    w = te.placeholder((kernel, kernel, channels), dtype, name="W")
    source = padded(x, pad, tir.const(0, dtype))
    rh, rw = te.reduce_axis((0, kernel), "rh"), te.reduce_axis((0, kernel), "rw")
    out = ((height + 2 * pad - kernel) // stride + 1, (width + 2 * pad - kernel) // stride + 1, channels)
    y = te.compute(
        out,
        lambda i, j, c: te.sum(source[i * stride + rh, j * stride + rw, c] * w[rh, rw, c], axis=[rh, rw]),
        name="Y",
    )

    def reference(image, weight):
        image = np.pad(image, ((pad, pad), (pad, pad), (0, 0)))
        return np.einsum("hwckl,klc->hwc", windows(image, kernel, stride), weight)

    return [x, w, y], reference


def max_pool(height, width, channels, kernel, stride, pad, dtype="float32"):
    x = te.placeholder((height, width, channels), dtype, name="X")
    source = padded(x, pad, tir.min_value(dtype))
    rh, rw = te.reduce_axis((0, kernel), "rh"), te.reduce_axis((0, kernel), "rw")
    out = ((height + 2 * pad - kernel) // stride + 1, (width + 2 * pad - kernel) // stride + 1, channels)
    y = te.compute(
        out, lambda i, j, c: te.max(source[i * stride + rh, j * stride + rw, c], axis=[rh, rw]), name="Y"
    )

    def reference(image):
        least = (np.finfo if image.dtype.kind == "f" else np.iinfo)(image.dtype).min
        image = np.pad(image, ((pad, pad), (pad, pad), (0, 0)), constant_values=least)
        return windows(image, kernel, stride).max(axis=(3, 4))

    return [x, y], reference


def steps_of(tensors):
    func = te.create_prim_func(tensors)
    module = tilewright.IRModule({"main": func})
    return str(tilewright.schedule.by_rules(module, "llvm -mcpu=skylake-avx512").trace)


@pytest.mark.parametrize("program", [depthwise, max_pool])
def test_copies_of_a_tile_are_written_out_and_nothing_is_copied(program):
    steps = steps_of(program(9, 31, 34, 3, 1, 1)[0])
    assert "compute_inline" in steps  # the padding
    tiles = [line for line in steps.splitlines() if "reorder" in line]
    unrolled = steps[: steps.index(tiles[1])].strip().splitlines()[-1].strip()
    assert unrolled.startswith("sch.unroll("), steps


@pytest.mark.parametrize(
    ("sizes", "target"),
    [
        (
            (28, 28, 64, 11, 1, 5),
            "skylake-avx512",
        ),  # too many copies: conditions would be asked in every step
        (
            (28, 28, 64, 7, 1, 3),
            "core-avx2",
        ),  # four rows in a tile, of which half the windows may be at the edge
        ((56, 56, 5, 3, 1, 1), "skylake-avx512"),  # no whole vector
        (
            (28, tir.Var("n", "int64"), 64, 3, 1, 1),
            "skylake-avx512",
        ),  # where an open width ends is never decided
    ],
)
def test_padding_is_copied_where_conditions_cost_more(sizes, target):
    module = tilewright.IRModule({"main": te.create_prim_func(depthwise(*sizes)[0])})
    steps = str(tilewright.schedule.by_rules(module, f"llvm -mcpu={target}").trace)
    assert "compute_inline" not in steps


def test_padding_of_what_vectors_do_not_follow_is_copied():
    # sums over channels read it again for every filter; and vectors of columns would need masks
    def convolution(x, source):
        w = te.placeholder((3, 3, 16, 32), "float32", name="W")
        rh, rw, rc = te.reduce_axis((0, 3), "rh"), te.reduce_axis((0, 3), "rw"), te.reduce_axis((0, 16), "rc")
        return [
            x,
            w,
            te.compute(
                (7, 28, 32),
                lambda i, j, f: te.sum(source[i + rh, j + rw, rc] * w[rh, rw, rc, f], axis=[rh, rw, rc]),
            ),
        ]

    x = te.placeholder((7, 28, 16), "float32", name="X")
    assert "compute_inline" not in steps_of(convolution(x, padded(x, 1, tir.const(0, "float32"))))

    rows = te.placeholder((7, 127), "float32", name="X")
    wide = te.compute(
        (7, 129),
        lambda i, j: tir.if_then_else(tir.all(j >= 1, j < 128), rows[i, j - 1], 0.0),
        name="pad_temp",
    )
    rw = te.reduce_axis((0, 3), "rw")
    pool = te.compute((7, 127), lambda i, j: te.max(wide[i, j + rw], axis=rw))
    assert "compute_inline" not in steps_of([rows, pool])


@pytest.mark.parametrize("channels", [5, 16, 34, 127])
@pytest.mark.parametrize(
    ("height", "width", "kernel", "stride", "pad"),
    [
        (7, 7, 3, 1, 1),
        (5, 28, 3, 1, 1),
        (9, 31, 3, 2, 1),
        (5, 127, 5, 2, 2),
        (3, 6, 7, 1, 3),
        (9, 20, 11, 1, 5),
        (1, 1, 3, 1, 1),
        (4, 5, 3, 3, 5),
    ],
)
@pytest.mark.parametrize("program", [depthwise, max_pool])
def test_padding(program, height, width, kernel, stride, pad, channels):
    check(*program(height, width, channels, kernel, stride, pad))


@pytest.mark.parametrize("dtype", ["float64", "float16", "int32", "int8", "uint8"])
@pytest.mark.parametrize("program", [depthwise, max_pool])
def test_dtypes(program, dtype):
    check(*program(5, 15, 129, 3, 1, 1, dtype))


def test_a_batch_of_unknown_size():
    n = tir.Var("n", "int64")
    x = te.placeholder((n, 5, 17, 33), "float32", name="X")
    inside = lambda b, i, j, c: tir.if_then_else(  # noqa: E731
        tir.all(i >= 1, i < 6, j >= 1, j < 18), x[b, i - 1, j - 1, c], tir.min_value("float32")
    )
    source = te.compute((n, 7, 19, 33), inside, name="pad_temp")
    rh, rw = te.reduce_axis((0, 3), "rh"), te.reduce_axis((0, 3), "rw")
    y = te.compute((n, 5, 17, 33), lambda b, i, j, c: te.max(source[b, i + rh, j + rw, c], axis=[rh, rw]))

    def reference(images):
        return np.stack([max_pool(5, 17, 33, 3, 1, 1)[1](image) for image in images])

    assert "compute_inline" in steps_of([x, y])
    check([x, y], reference, shapes=[(3, 5, 17, 33), (3, 5, 17, 33)])


def factors_of(steps):
    return re.findall(r"factors=\[None, (\d+)", steps)


def steps_at_likely_sizes(tensors):
    func = te.create_prim_func(tensors).with_attr("likely_sizes", {"h": 56, "w": 56})
    module = tilewright.IRModule({"main": func})
    return str(tilewright.schedule.by_rules(module, "llvm -mcpu=skylake-avx512").trace)


@pytest.mark.parametrize("program", [depthwise, max_pool])
def test_open_pictures_have_the_tiles_of_likely_ones(program):
    height, width = tir.Var("h", "int64"), tir.Var("w", "int64")
    for stride in (1, 2):
        steps = steps_at_likely_sizes(program(height, width, 64, 3, stride, 1)[0])
        fixed = steps_of(program(56, 56, 64, 3, stride, 1)[0])
        assert ("compute_inline" in steps) == ("compute_inline" in fixed), steps
        assert factors_of(steps) == factors_of(fixed), steps


@pytest.mark.parametrize("width", [1, 5, 13, 31])
@pytest.mark.parametrize(("kernel", "stride", "channels"), [(3, 1, 16), (3, 2, 34), (5, 2, 16), (3, 1, 127)])
@pytest.mark.parametrize("program", [depthwise, max_pool])
def test_open_pictures_of_any_size(program, width, kernel, stride, channels):
    """Whole tiles, and smaller ones for what is left."""
    height, pad = 7, kernel // 2
    tensors, _ = program(tir.Var("h", "int64"), tir.Var("w", "int64"), channels, kernel, stride, pad)
    fixed, reference = program(height, width, channels, kernel, stride, pad)
    shapes = [[int(extent) for extent in tensor.shape] for tensor in fixed]
    check(tensors, reference, shapes=shapes, attrs={"likely_sizes": {"h": 56, "w": 56}})


def test_large_on_two_threads():
    check(*depthwise(41, 57, 136, 3, 1, 1), threads=(1, 2))


def test_padding_times_infinity_is_no_number():
    # as of the padded image: zeros are multiplied, not left out
    tensors, reference = depthwise(5, 7, 16, 3, 1, 1)
    image, weight = np.ones((5, 7, 16), "float32"), np.ones((3, 3, 16), "float32")
    weight[0, 0] = np.inf
    with np.errstate(invalid="ignore"):
        check(tensors, reference, inputs=[image, weight])
