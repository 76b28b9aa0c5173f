"""convert_layout: channels last where that fills vectors, as programs before and after; the numbers stay."""

import numpy as np
import pytest

import tilewright
from tilewright.ir import assert_structural_equal
from tilewright.relax import transform
from tilewright.script import ir as I  # noqa: N812
from tilewright.script import parse
from tilewright.script import relax as R  # noqa: N812


def random(*shape):
    return np.random.default_rng(7).standard_normal(shape, dtype="float32")


def run(module, *inputs):
    with tilewright.transform.PassContext(opt_level=0):
        main = tilewright.VirtualMachine(tilewright.compile(module))["main"]
    return main(*(tilewright.tensor(x) for x in inputs)).numpy()


def converted(module):
    """convert_layout, and without what it leaves for the passes after it."""
    for step in (
        transform.convert_layout(),
        transform.remove_identities(),
        transform.dead_code_elimination(),
    ):
        module = step(module)
    return module


def check_numbers(module, *inputs):
    result = converted(module)
    assert result is not module
    np.testing.assert_allclose(run(result, *inputs), run(module, *inputs), rtol=1e-4, atol=1e-4)
    return result


@I.ir_module
class ShortRows:
    @R.function
    def main(x: R.Tensor((1, 16, 5, 7), "float32"), w: R.Tensor((32, 16, 3, 3), "float32")) -> R.Tensor(
        (1, 32, 5, 7), "float32"
    ):
        with R.dataflow():
            lv = R.nn.conv2d(x, w, padding=1)
            gv = R.nn.relu(lv)
            R.output(gv)
        return gv


@I.ir_module
class ShortRowsConverted:
    @R.function
    def main(x: R.Tensor((1, 16, 5, 7), "float32"), w: R.Tensor((32, 16, 3, 3), "float32")) -> R.Tensor(
        (1, 32, 5, 7), "float32"
    ):
        with R.dataflow():
            last = R.permute_dims(x, axes=[0, 2, 3, 1])
            lv = R.permute_dims(w, axes=[2, 3, 1, 0])
            lv1 = R.nn.conv2d(last, lv, padding=1, data_layout="NHWC", kernel_layout="HWIO")
            lv2 = R.nn.relu(lv1)
            gv = R.permute_dims(lv2, axes=[0, 3, 1, 2])
            R.output(gv)
        return gv


def test_short_rows_have_their_channels_last():
    assert_structural_equal(converted(ShortRows), ShortRowsConverted)
    check_numbers(ShortRows, random(1, 16, 5, 7), random(32, 16, 3, 3))
    again = transform.convert_layout()(ShortRowsConverted)
    assert again is ShortRowsConverted


@I.ir_module
class LongRows:
    @R.function
    def main(x: R.Tensor((1, 3, 5, 34), "float32"), w: R.Tensor((8, 3, 3, 3), "float32")) -> R.Tensor(
        (1, 8, 3, 32), "float32"
    ):
        with R.dataflow():
            gv = R.nn.conv2d(x, w)
            R.output(gv)
        return gv


def test_long_rows_stay():
    assert transform.convert_layout()(LongRows) is LongRows


def for_winograd(channels, window):
    """Convolutions of full rows, of a batch of unknown size, with constant weights."""
    rng = np.random.default_rng(0)
    ops = tilewright.relax.op
    weight = rng.standard_normal((32, channels, window, window)).astype("float32")
    n = tilewright.tir.Var("n", "int64")
    x = tilewright.relax.Var("x", tilewright.relax.TensorType((n, channels, 15, 32), "float32"))
    builder = tilewright.relax.BlockBuilder()
    with builder.function("main", [x]):
        with builder.dataflow():
            y = builder.emit_output(ops.nn.conv2d(x, tilewright.relax.const(weight), padding=window // 2))
        builder.emit_func_output(y)
    return builder.get(), weight


def test_full_rows_have_their_channels_last_for_winograd():
    mod, weight = for_winograd(channels=40, window=3)
    assert 'data_layout="NHWC"' in transform.convert_layout()(mod).script()
    executable = tilewright.compile(mod)
    assert "winograd" in executable.legalized.script()
    for batch in (1, 3):
        x = random(batch, 40, 15, 32)
        padded = np.pad(x.astype("float64"), ((0, 0), (0, 0), (1, 1), (1, 1)))
        expected = sum(
            np.einsum(
                "nchw,oc->nohw", padded[:, :, i : i + 15, j : j + 32], weight[:, :, i, j].astype("float64")
            )
            for i in range(3)
            for j in range(3)
        )
        np.testing.assert_allclose(
            tilewright.VirtualMachine(executable)["main"](x).numpy(), expected, rtol=1e-4, atol=1e-3
        )


@pytest.mark.parametrize(("channels", "window"), [(40, 5), (10, 3)])
def test_full_rows_that_winograd_does_not_take_stay(channels, window):
    mod, _ = for_winograd(channels, window)
    assert transform.convert_layout()(mod) is mod


def test_what_counts_as_full_is_an_option():
    assert transform.convert_layout(lanes=64)(ShortRows) is not ShortRows
    assert transform.convert_layout(lanes=1)(ShortRows) is ShortRows
    with pytest.raises(tilewright.UserError) as refusal:
        transform.convert_layout(lanes=0)(ShortRows)
    assert str(refusal.value) == "error: convert_layout: lanes is 0, expected at least 1"


@I.ir_module
class Network:
    @R.function
    def main(
        x: R.Tensor((1, 16, 9, 7), "float32"),
        w: R.Tensor((16, 16, 3, 3), "float32"),
        d: R.Tensor((16, 1, 3, 3), "float32"),
        b: R.Tensor((1, 16, 1, 1), "float32"),
    ) -> R.Tensor((1, 32), "float32"):
        with R.dataflow():
            lv = R.nn.conv2d(x, w, padding=1)
            lv1 = R.add(lv, b)
            lv2 = R.nn.relu(lv1)
            lv3 = R.nn.conv2d(lv2, d, padding=1, strides=2, groups=16)
            lv4 = R.nn.max_pool2d(lv2, pool_size=(3, 3), strides=(2, 2), padding=(1, 1))
            lv5 = R.concat((lv3, lv4), axis=1)
            lv6 = R.multiply(lv5, R.const(0.5, "float32"))
            lv7 = R.mean(lv6, axis=[2, 3])
            gv = R.negative(lv7)
            R.output(gv)
        return gv


def test_a_network_is_permuted_once():
    inputs = random(1, 16, 9, 7), random(16, 16, 3, 3), random(16, 1, 3, 3), random(1, 16, 1, 1)
    text = check_numbers(Network, *inputs).script()
    # the input, both weights, and nothing in between: the bias has one dimension to move, which is a reshape
    assert text.count("R.permute_dims") == 3


@I.ir_module
class Head:
    @R.function
    def main(x: R.Tensor((1, 16, 5, 7), "float32"), w: R.Tensor((16, 16, 1, 1), "float32")) -> R.Tensor(
        (1, 5, 7, 16), "float32"
    ):
        with R.dataflow():
            lv = R.nn.conv2d(x, w)
            gv = R.permute_dims(lv, axes=[0, 2, 3, 1])
            R.output(gv)
        return gv


def test_a_permute_to_channels_last_is_free():
    text = check_numbers(Head, random(1, 16, 5, 7), random(16, 16, 1, 1)).script()
    assert text.count("R.permute_dims") == 2


@I.ir_module
class LastBetween:
    @R.function
    def main(x: R.Tensor((1, 16, 6, 6), "float32"), w: R.Tensor((16, 16, 3, 3), "float32")):
        with R.dataflow():
            lv = R.nn.conv2d(x, w)
            lv1 = R.permute_dims(lv, axes=[0, 2, 3, 1])
            lv2 = R.exp(lv1)
            lv3 = R.permute_dims(lv2, axes=[0, -1, 1, 2])
            gv = R.nn.conv2d(lv3, w)
            R.output(gv)
        return gv


def test_what_was_permuted_to_channels_first_is_taken_as_it_was():
    changed = LastBetween
    for step in (
        transform.convert_layout(always=True),
        transform.remove_identities(),
        transform.dead_code_elimination(),
    ):
        changed = step(changed)
    assert (
        changed.script().count("R.permute_dims") == 4
    )  # x, the result, and the weights for each convolution
    rng = np.random.default_rng(0)
    data = [rng.normal(size=shape).astype("float32") * 0.1 for shape in ((1, 16, 6, 6), (16, 16, 3, 3))]
    np.testing.assert_allclose(run(changed, *data), run(LastBetween, *data), rtol=1e-5, atol=1e-5)


@I.ir_module
class Reduced:
    @R.function
    def main(x: R.Tensor((1, 16, 5, 7), "float32"), w: R.Tensor((16, 16, 1, 1), "float32")) -> R.Tensor(
        (1, 16, 5, 7), "float32"
    ):
        with R.dataflow():
            lv = R.nn.conv2d(x, w)
            lv1 = R.max(lv, axis=[1], keepdims=True)
            lv2 = R.sum(lv, axis=[3])
            lv3 = R.subtract(lv, lv1)
            lv4 = R.expand_dims(lv2, axis=[3])
            gv = R.add(lv3, lv4)
            R.output(gv)
        return gv


def test_reductions_over_any_axis():
    check_numbers(Reduced, random(1, 16, 5, 7), random(16, 16, 1, 1))


@pytest.mark.parametrize(
    "between",
    [
        "R.nn.prelu(y, s, axis=1)",
        'R.dequantize(R.quantize(y, s, z, axis=-3, out_dtype="uint8"), s, z, axis=1)',
    ],
)
def test_vectors_along_channels_between_convolutions(between):
    module = parse(f"""
@I.ir_module
class Module:
    @R.function
    def main(
        x: R.Tensor((1, 16, 6, 6), "float32"),
        w: R.Tensor((16, 16, 3, 3), "float32"),
        s: R.Tensor((16,), "float32"),
        z: R.Tensor((16,), "uint8"),
    ):
        with R.dataflow():
            y = R.nn.conv2d(x, w, padding=1)
            p = {between}
            result = R.nn.conv2d(p, w, padding=1)
            R.output(result)
        return result
""")
    rng = np.random.default_rng(3)
    values = {
        "w": rng.integers(-2, 3, (16, 16, 3, 3)).astype("float32"),
        "s": np.linspace(0.5, 2, 16, dtype="float32"),
        "z": np.arange(100, 116, dtype="uint8"),
    }
    module = transform.BindParams("main", {name: tilewright.tensor(value) for name, value in values.items()})(
        module
    )
    changed = transform.convert_layout(always=True)(module)
    assert 'data_layout="NHWC"' in changed.script()
    x = rng.integers(-3, 4, (1, 16, 6, 6)).astype("float32")
    np.testing.assert_allclose(run(changed, x), run(module, x), rtol=1e-5, atol=1e-4)
