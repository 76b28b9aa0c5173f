"""to_mixed_precision: what is computed in float16 or bfloat16, and how far the numbers are off."""

import numpy as np
import pytest
from graph_testing import flat, random, run

import tilewright
from tilewright import relax
from tilewright.ir import assert_structural_equal
from tilewright.relax import transform
from tilewright.script import ir as I  # noqa: N812
from tilewright.script import parse
from tilewright.script import relax as R  # noqa: N812


@I.ir_module
class Layers:
    @R.function
    def main(x: R.Tensor((5, 7), "float32"), w: R.Tensor((7, 3), "float32")) -> R.Tensor((5, 3), "float32"):
        with R.dataflow():
            lv = R.nn.relu(x)
            lv1 = R.matmul(lv, w)
            lv2 = R.add(lv1, R.const([1.0, 2.0, 3.0], "float32"))
            lv3 = R.nn.relu(lv2)
            lv4 = R.nn.softmax(lv1)
            gv = R.matmul(lv3, R.const([[1.0, 0.0, 0.5], [2.0, 1.0, 1.0], [0.25, 1.0, 4.0]], "float32"))
            gv1 = R.add(gv, lv4)
            R.output(gv1)
        return gv1


@I.ir_module
class LayersMixed:
    @R.function
    def main(x: R.Tensor((5, 7), "float32"), w: R.Tensor((7, 3), "float32")) -> R.Tensor((5, 3), "float32"):
        with R.dataflow():
            lv = R.astype(x, dtype="float16")
            lv_1 = R.nn.relu(lv)
            lv1 = R.astype(w, dtype="float16")
            lv1_1 = R.matmul(lv_1, lv1, out_dtype="float32")
            lv2 = R.astype(lv1_1, dtype="float16")
            lv2_1 = R.add(lv2, R.const([1.0, 2.0, 3.0], "float16"))
            lv3 = R.nn.relu(lv2_1)
            lv4 = R.nn.softmax(lv1_1)
            gv = R.matmul(
                lv3,
                R.const([[1.0, 0.0, 0.5], [2.0, 1.0, 1.0], [0.25, 1.0, 4.0]], "float16"),
                out_dtype="float32",
            )
            gv1 = R.add(gv, lv4)
            R.output(gv1)
        return gv1


def test_products_are_low_and_what_only_they_use():
    result = transform.to_mixed_precision()(Layers)
    assert_structural_equal(result, LayersMixed)
    inputs = [random(5, 7), random(7, 3)]
    # float16 has 11 digits: each rounding is off by 2**-11
    np.testing.assert_allclose(run(result, *inputs), run(Layers, *inputs), rtol=5e-3, atol=2e-2)


def test_sums_in_low_precision():
    result = transform.to_mixed_precision(out_dtype="float16")(Layers)
    script = result["main"].script()
    assert script.count('out_dtype="float16"') == 2
    inputs = [random(5, 7), random(7, 3)]
    np.testing.assert_allclose(run(result, *inputs), run(Layers, *inputs), rtol=2e-2, atol=5e-2)


def test_bfloat16():
    result = transform.to_mixed_precision(dtype="bfloat16")(Layers)
    assert 'R.astype(x, dtype="bfloat16")' in result["main"].script()
    inputs = [random(5, 7), random(7, 3)]
    np.testing.assert_allclose(run(result, *inputs), run(Layers, *inputs), rtol=5e-2, atol=1e-1)


def test_optimized_too():
    result = transform.to_mixed_precision()(Layers)
    inputs = [random(5, 7), random(7, 3)]
    np.testing.assert_allclose(run(result, *inputs, opt_level=2), run(result, *inputs), rtol=2e-3, atol=2e-3)


@I.ir_module
class NothingToDo:
    @R.function
    def main(x: R.Tensor((5, 7), "float32")) -> R.Tensor((5, 7), "float32"):
        with R.dataflow():
            lv = R.nn.relu(x)
            gv = R.nn.softmax(lv)
            R.output(gv)
        return gv


def test_without_products_nothing_changes():
    assert transform.to_mixed_precision()(NothingToDo) is NothingToDo
    doubled = transform.to_mixed_precision()(transform.to_mixed_precision()(Layers))
    assert_structural_equal(doubled, transform.to_mixed_precision()(Layers))


@I.ir_module
class Convolution:
    @R.function
    def main(x: R.Tensor(("n", 4, 9, 7), "float32"), w: R.Tensor((4, 4, 3, 3), "float32")):
        with R.dataflow():
            lv = R.nn.conv2d(x, w)
            lv1 = R.nn.max_pool2d(lv, pool_size=[2, 2])
            lv2 = R.split(lv1, 2, axis=1)
            lv3 = lv2[0]
            lv4 = lv2[1]
            lv5 = R.concat((lv4, lv3), axis=1)
            lv6 = R.nn.conv2d(lv5, w, padding=[1, 1])
            gv = R.sum(lv6, axis=[1])
            R.output(gv)
        return (gv, gv)


def test_images_stay_low_between_convolutions():
    result = transform.to_mixed_precision()(Convolution)
    script = result["main"].script()
    assert script.count("R.astype(") == 3  # x, w, and the sums of the first convolution
    inputs = [random(2, 4, 9, 7), random(4, 4, 3, 3)]
    for mine, theirs in zip(flat(run(result, *inputs)), flat(run(Convolution, *inputs)), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=2e-2, atol=0.3)


def test_inputs_in_low_precision():
    result = transform.to_mixed_precision(low_inputs=["x"])(Layers)
    assert [str(param.type.dtype) for param in result["main"].params] == ["float16", "float32"]
    inputs = [random(5, 7), random(7, 3)]
    got = run(result, inputs[0].astype("float16"), inputs[1])
    np.testing.assert_allclose(got, run(Layers, *inputs), rtol=5e-3, atol=2e-2)


def test_lists_of_operators_are_the_users():
    kept = transform.to_mixed_precision(never=["relax.matmul"])(Layers)
    assert kept is Layers
    wide = transform.to_mixed_precision(follow=["relax.nn.softmax"], always=["relax.add"])(Layers)
    assert wide["main"].script().count('dtype="float16"') > 2


@pytest.mark.parametrize("dtype", ["float32", "int8"])
def test_what_it_computes_in(dtype):
    with pytest.raises(tilewright.UserError) as error:
        transform.to_mixed_precision(dtype=dtype)(Layers)
    assert str(error.value) == f"error: to_mixed_precision: dtype is {dtype}, expected float16 or bfloat16"


def test_dtype_of_sums():
    with pytest.raises(tilewright.UserError) as error:
        transform.to_mixed_precision(out_dtype="float64")(Layers)
    assert str(error.value) == "error: to_mixed_precision: out_dtype is float64, expected float32 or float16"


BRANCHES = """
@R.function
def main(c: R.Tensor((), "bool"), x: R.Tensor((5, 7), "float32"), w: R.Tensor((7, 7), "float32")):
    with R.dataflow():
        a0 = R.matmul(x, w)
        a = R.nn.softmax(a0)
        R.output(a)
    if c:
        with R.dataflow():
            b = R.nn.relu(a)
            d0 = R.matmul(b, w)
            R.output(d0)
        y = R.add(d0, a)
    else:
        y0 = R.matmul(a, w)
        y = R.matmul(y0, w)
    z = R.matmul(y, w)
    return z
"""


def branches():
    return tilewright.IRModule({"main": parse(BRANCHES)})


def test_dataflow_blocks_in_branches():
    """Products in branches and no other operators; a value that is converted in a branch is not seen outside."""
    result = transform.to_mixed_precision(dtype="bfloat16")(branches())
    text = result.script()
    assert relax.analysis.well_formed(result)
    lines = [line.strip() for line in text.splitlines() if "R.matmul(" in line]
    assert ['out_dtype="float32"' in line for line in lines] == [True, True, False, False, False]
    assert "R.nn.relu(" in text and 'R.Tensor((5, 7), dtype="bfloat16") = R.nn.relu(' in text


@pytest.mark.parametrize("level", [0, 1, 2])
def test_precision_reaches_branches_and_other_blocks(level):
    """The policy bf16 rounds the operands of every product, where it stands and at every level."""
    precision = transform.precision(policy="bf16")(branches())
    assert relax.analysis.well_formed(precision)
    text = precision.script()
    assert text.count('out_dtype="float32"') == text.count("R.matmul(") == 5

    def low(x):
        return torch.tensor(x).bfloat16().float().numpy()

    torch = pytest.importorskip("torch")
    x, w = random(5, 7), random(7, 7)
    a = torch.softmax(torch.tensor(low(x) @ low(w)), -1).numpy()
    wanted = {True: low(low(np.maximum(a, 0)) @ low(w) + a) @ low(w)}
    wanted[False] = low(low(low(a) @ low(w)) @ low(w)) @ low(w)
    with tilewright.transform.PassContext(opt_level=level):
        main = tilewright.VirtualMachine(tilewright.compile(branches(), precision="bf16"))["main"]
        exact = tilewright.VirtualMachine(tilewright.compile(branches()))["main"]
    for taken in (True, False):
        given = [tilewright.tensor(each) for each in (np.array(taken), x, w)]
        np.testing.assert_allclose(main(*given).numpy(), wanted[taken], rtol=2e-2, atol=2e-2)
        assert np.abs(main(*given).numpy() - exact(*given).numpy()).max() > 1e-4


def test_nested_branches():
    program = """
@R.function
def main(c: R.Tensor((), "bool"), x: R.Tensor((5, 7), "float32"), w: R.Tensor((7, 7), "float32")):
    if c:
        a = R.matmul(x, w)
        if c:
            y0 = R.matmul(a, w)
        else:
            y0 = a
        y = y0
    else:
        y = x
    return y
"""
    module = tilewright.IRModule({"main": parse(program)})
    result = transform.precision(policy="bf16")(module)
    assert relax.analysis.well_formed(result)
    assert result.script().count('out_dtype="float32"') == 2
    x, w = random(5, 7), random(7, 7)
    np.testing.assert_allclose(run(result, np.array(True), x, w), x @ w @ w, rtol=5e-2, atol=0.2)
    np.testing.assert_array_equal(run(result, np.array(False), x, w), x)


def test_nothing_to_do_in_branches():
    program = """
@R.function
def main(c: R.Tensor((), "bool"), x: R.Tensor((5, 7), "float32")):
    if c:
        y = R.exp(x)
    else:
        y = x
    return y
"""
    module = transform.normalize()(tilewright.IRModule({"main": parse(program)}))
    assert transform.precision(policy="bf16")(module)._node is module._node
