"""Winograd's convolutions: right at odd sizes, nearer to exact arithmetic than sums in order, only where they pay."""

import numpy as np
import pytest
from op_testing import run_op
from winograd_testing import convolution, transformed

import tilewright
from tilewright import relax, tir
from tilewright.errors import UserError
from tilewright.relax import transform
from tilewright.script import parse
from tilewright.testing import whole_numbers

PROGRAM = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor({data}, "{dtype}"), w: R.Tensor({weight}, "{dtype}"), b: R.Tensor((1, 1, 1, 40), "{dtype}")):
        with R.dataflow():
            y = R.nn.conv2d(x, w, padding={padding}, strides={strides}, dilation={dilation}, groups={groups},
                            data_layout="{layout}", kernel_layout="HWIO")
            z = R.nn.relu(R.add(y, b))
            R.output(z)
        return z
"""
USUAL = {
    "data": (1, 15, 13, 33),
    "weight": (3, 3, 33, 40),
    "padding": 1,
    "strides": 1,
    "dilation": 1,
    "groups": 1,
    "layout": "NHWC",
    "dtype": "float32",
}


def program(**changes):
    """The graph with its weights bound, and these."""
    options = USUAL | changes
    weights = {
        "w": whole_numbers(options["weight"]).astype(options["dtype"]),
        "b": whole_numbers((1, 1, 1, 40)).astype(options["dtype"]),
    }
    return transform.BindParams("main", weights)(parse(PROGRAM.format(**options))), weights


@pytest.mark.parametrize("tile", [2, 4])
def test_pass_changes_and_is_done(tile):
    module, weights = program(padding=[2, 1])
    changed = transform.Winograd(tile=tile)(module)
    text = changed.script()
    assert "R.nn.conv2d(" not in text and "R.nn.conv2d_winograd(" in text and "padding=[2, 1, 2, 1]" in text
    assert transform.Winograd()(changed) is changed
    x = whole_numbers(USUAL["data"])
    expected = np.maximum(convolution(x, weights["w"], (2, 1, 2, 1)) + weights["b"], 0)
    main = tilewright.VirtualMachine(tilewright.compile(changed))["main"]
    tolerance = 0 if tile == 2 else 4e-6 * np.abs(expected).max()
    np.testing.assert_allclose(main(tilewright.tensor(x)).numpy(), expected, rtol=0, atol=tolerance)


def points_of(height, width, inputs=33):
    """How many products a tile has along one dimension where the pass chooses."""
    module, _ = program(data=(1, height, width, inputs), weight=(3, 3, inputs, 40))
    shapes = []
    relax.analysis.post_order_visit(
        transform.Winograd()(module)["main"],
        lambda expr: shapes.append(expr.data.shape) if isinstance(expr, relax.Constant) else None,
    )
    (weight,) = (shape for shape in shapes if shape[0] != 1)
    return weight[0]


def test_the_tile_that_takes_less_time():
    # 16 products for each of 9 tiles of four results, or 36 for each of 4 of sixteen, of which many are not needed
    assert points_of(6, 6) == 4
    assert points_of(7, 7) == points_of(10, 10) == points_of(14, 14) == points_of(56, 56) == 6
    # 9 MB of weights are read while 16 tiles are multiplied, not while 4 are; 18 MB take longer than 49 of four
    assert points_of(14, 14, inputs=1600) == 6
    assert points_of(7, 7, inputs=1600) == 4
    assert points_of(14, 14, inputs=3200) == 4
    module, _ = program()
    with pytest.raises(UserError, match=r"tile is 3, expected 0, 2 or 4"):
        transform.Winograd(tile=3)(module)


def test_batch_of_any_size():
    module, weights = program(data='("n", 15, 13, 33)')
    main = tilewright.VirtualMachine(tilewright.compile(module))["main"]
    for batch in (1, 3):
        x = whole_numbers((batch, 15, 13, 33))
        expected = np.maximum(convolution(x, weights["w"], (1, 1, 1, 1)) + weights["b"], 0)
        tolerance = 4e-6 * np.abs(expected).max()
        np.testing.assert_allclose(main(tilewright.tensor(x)).numpy(), expected, rtol=0, atol=tolerance)
    assert any("winograd" in name for name in map(str, tilewright.compile(module).schedules))


@pytest.mark.parametrize(
    "changes",
    [
        {"strides": 2, "data": (1, 31, 27, 33)},
        {"dilation": 2},
        {"groups": 3, "weight": (3, 3, 40, 120), "data": (1, 15, 13, 120)},
        {"weight": (3, 3, 9, 40), "data": (1, 15, 13, 9)},  # few channels
        {"weight": (1, 1, 33, 40)},
        {"weight": (5, 3, 33, 40)},
        {"data": (1, 5, 7, 33)},  # a small image
        {"data": (1, 1, 127, 33)},  # half of each tile would be idle
        {"dtype": "float64"},
        {"layout": "NCHW", "data": (1, 33, 15, 13)},
    ],
)
def test_pass_leaves_others(changes):
    module = parse(PROGRAM.format(**(USUAL | changes)).replace("R.add(y, b)", "y"))
    shape, dtype = (USUAL | changes)["weight"], (USUAL | changes)["dtype"]
    bound = transform.BindParams("main", {"w": whole_numbers(shape).astype(dtype)})(module)
    assert transform.Winograd()(bound) is bound


def test_pass_leaves_weights_that_are_no_constants():
    module = parse(PROGRAM.format(**USUAL))
    assert transform.Winograd()(module) is module


def test_limits_are_options():
    few, _ = program(weight=(3, 3, 4, 40), data=(1, 6, 7, 4))
    assert transform.Winograd()(few) is few
    assert transform.Winograd(min_channels=1, min_pixels=43)(few) is few
    assert transform.Winograd(min_channels=1, min_pixels=42)(few) is not few


def error_of(kind, *args, **attrs):
    with pytest.raises(kind) as error:
        run_op("nn.conv2d_winograd", *args, **attrs)
    return str(error.value).splitlines()[0]


def test_operator_refuses():
    x, w = whole_numbers((1, 5, 7, 3)), whole_numbers((4, 4, 3, 9))
    name = "error: nn.conv2d_winograd: "
    assert (
        error_of(UserError, x, w[:3])
        == name + "weight is [3, 4, 3, 9], expected [4, 4, inputs, outputs] or [6, 6, inputs, outputs]"
    )
    assert error_of(UserError, x, w[:, :, :2]) == (
        name + "data is [1, 5, 7, 3] with 3 channels, weight is [4, 4, 2, 9] for 2"
    )
    assert error_of(UserError, x[:, :2], w) == (
        name + "the window of 3 x 3 is larger than data [1, 2, 7, 3] with padding 0"
    )
    assert error_of(UserError, x, w, padding=[1, 1]) == name + "padding has 2 numbers, expected 4"
    assert error_of(UserError, x, w, padding=[0, -1, 0, 0]) == name + "padding is -1, expected at least 0"


@pytest.mark.parametrize("tile", [2, 4])
def test_images_of_unknown_size(tile):
    """The same bits as for an image whose size is known, at sizes that fill tiles and others."""
    random = np.random.default_rng(tile)
    target = "llvm -fp-contract=off"  # LLVM decides where a product and a sum are rounded once
    w = random.standard_normal((tile + 2, tile + 2, 3, 9)).astype("float32")
    builder = relax.BlockBuilder()
    sizes = [tir.Var(name, "int64") for name in "nhw"]
    data = relax.Var("x", relax.TensorType((*sizes, 3), "float32"))
    with builder.function("main", [data]):
        builder.emit_func_output(relax.op.nn.conv2d_winograd(data, relax.const(w), padding=[1, 0, 2, 1]))
    main = tilewright.VirtualMachine(tilewright.compile(builder.get(), target, best_at={"h": 9, "w": 7}))[
        "main"
    ]
    for shape in [(1, 5, 7), (2, 4, 8), (3, 1, 2), (1, 127, 6), (0, 5, 7), (2, 9, 7)]:
        x = random.standard_normal((*shape, 3)).astype("float32")
        fixed = relax.BlockBuilder()
        constant = relax.Var("x", relax.TensorType(x.shape, "float32"))
        with fixed.function("main", [constant]):
            fixed.emit_func_output(
                relax.op.nn.conv2d_winograd(constant, relax.const(w), padding=[1, 0, 2, 1])
            )
        expected = tilewright.VirtualMachine(tilewright.compile(fixed.get(), target))["main"](x)
        np.testing.assert_array_equal(main(x).numpy(), expected.numpy())


def test_nearer_to_exact_arithmetic_than_sums_in_order():
    """By four each result is a sum of 4 * c / 4 products instead of 9 * c: rounding errors add up less.  By sixteen
    the transforms add some of their own."""
    random = np.random.default_rng(0)
    x = np.maximum(random.standard_normal((1, 28, 28, 256)), 0).astype("float32")
    w = (random.standard_normal((3, 3, 256, 64)) * np.sqrt(2 / 9 / 256)).astype("float32")
    exact = convolution(x.astype("float64"), w.astype("float64"), (1, 1, 1, 1))

    def error(result):
        return np.sqrt(((result - exact) ** 2).mean() / (exact**2).mean())

    in_order = np.zeros_like(exact, "float32")
    padded = np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
    for i in range(3):
        for j in range(3):
            for c in range(256):
                in_order += padded[:, i : i + 28, j : j + 28, c : c + 1] * w[i, j, c]
    by_four, by_sixteen = (
        run_op(
            "nn.conv2d_winograd",
            x,
            transformed(w.astype("float64"), tile).astype("float32"),
            opt_level=2,
            padding=[1] * 4,
        )
        for tile in (2, 4)
    )
    assert error(by_four) < error(in_order) < 2e-6
    assert error(by_sixteen) < 2.5 * error(in_order)


@pytest.mark.parametrize(
    ("size", "threads", "has_strips"),
    [
        (56, 2, True),  # 14 rows of tiles, 7 for each; strips of 4 gave one thread 8
        (20, 2, False),  # 5 rows: 3 and 2 take longer than all steps one by one
        (56, 3, True),  # 5, 5 and 4
        (28, 3, False),  # 3, 2 and 2
        (60, 3, True),
    ],
)
def test_strips_give_threads_the_same(size, threads, has_strips):
    x, w = whole_numbers((1, size, size, 64)), whole_numbers((3, 3, 64, 64))
    module = parse(f"""
@R.function
def main(x: R.Tensor((1, {size}, {size}, 64), "float32"), w: R.Tensor((6, 6, 64, 64), "float32")):
    with R.dataflow():
        y = R.nn.conv2d_winograd(x, w, padding=[1, 1, 1, 1])
        R.output(y)
    return y
""")
    executable = tilewright.compile(module, target=f"llvm -num-cores={threads}")
    result = tilewright.VirtualMachine(executable)["main"](x, transformed(w, 4).astype("float32")).numpy()
    np.testing.assert_allclose(result, convolution(x, w, (1, 1, 1, 1)), rtol=1e-3, atol=1e-2)
    (trace,) = executable.schedules.values()
    strips = [n for n in range(1, 15) if f"factors=[None, {n}, 4]" in str(trace)]
    rows = -(-size // 4)
    assert len(strips) == has_strips
    for strip in strips:  # the size of the machine's L2 says how many rows
        most = -(-(-(-rows // strip)) // threads) * strip
        assert 7 / 8 * most * threads <= rows
    if not strips:  # all steps share out tiles or points, not rows of tiles
        assert str(trace).count("sch.parallel(") == str(trace).count("sch.fuse(") == 3


@pytest.mark.parametrize(("height", "width"), [(33, 10), (33, 14), (33, 16), (36, 12), (49, 12), (24, 12)])
@pytest.mark.parametrize(("channels", "outputs"), [(33, 64), (33, 33), (32, 31)])
def test_narrow_images(height, width, channels, outputs):
    """Strips that tiles of rows of two axes do not divide were refused, and the rule was left out altogether."""
    x, w = whole_numbers((1, height, width, channels)), whole_numbers((3, 3, channels, outputs))
    module = parse(f"""
@R.function
def main(x: R.Tensor((1, {height}, {width}, {channels}), "float32"), w: R.Tensor((6, 6, {channels}, {outputs}), "float32")):
    with R.dataflow():
        y = R.nn.conv2d_winograd(x, w, padding=[1, 1, 1, 1])
        R.output(y)
    return y
""")
    executable = tilewright.compile(module, target="llvm -num-cores=2")
    result = tilewright.VirtualMachine(executable)["main"](x, transformed(w, 4).astype("float32")).numpy()
    np.testing.assert_allclose(result, convolution(x, w, (1, 1, 1, 1)), rtol=1e-3, atol=1e-2)
    (trace,) = executable.schedules.values()
    assert str(trace).count("sch.compute_at") >= 3  # transforms in registers, tiles of sums
