"""relax.testing: models inside of a builder, registered functions, products of matrices."""

import numpy as np
import pytest

import tilewright as tw
from tilewright import relax, te, tir
from tilewright.relax.testing import matmul, nn, vm
from tilewright.script import relax as R

RNG = np.random.default_rng(1)


def test_model_in_a_builder():
    bb = relax.BlockBuilder()
    n = tir.Var("n", "int64")
    with bb.function("main"):
        model = nn.Sequential(nn.Linear(7, 5), nn.ReLU(), nn.Linear(5, 3, bias=False))
        model.append(lambda x: nn.emit_te(lambda a: te.compute(a.shape, lambda i, j: a[i, j] + 1.0), x))
        model.append(nn.LogSoftmax())
        data = nn.Placeholder((n, 7), name="data")
        bb.emit_func_output(model(data), params=[data, *model.parameters()])
    mod = bb.get()
    assert [param.name_hint for param in mod["main"].params] == [
        "data",
        "linear_weight",
        "linear_bias",
        "linear_weight",
    ]
    x, w0, b, w1 = (RNG.standard_normal(s).astype("float32") for s in [(5, 7), (7, 5), (5,), (5, 3)])
    logits = np.maximum(x @ w0 + b, 0) @ w1 + 1
    expected = logits - np.log(np.exp(logits).sum(1, keepdims=True))
    got = tw.VirtualMachine(tw.compile(mod))["main"](x, w0, b, w1).numpy()
    np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-4)
    assert len(model) == 5 and model[0] is next(iter(model))
    with pytest.raises(tw.UserError) as error:
        nn.emit(data)
    assert str(error.value) == (
        "relax.testing.nn: no function is open\nhelp: build the model inside of bb.function(...)"
    )


def test_init_params():
    mod = matmul.get_relax_matmul_module((5, 7), (7, 3), "float32", "float32")
    assert [tensor.shape for tensor in nn.init_params(mod)] == [(5, 7), (7, 3)]


@pytest.mark.parametrize("relu", [relax.op.nn.relu, R.nn.relu])
def test_matmul_module(relu):
    mod = matmul.get_relax_matmul_module(
        (2, 5, 7), (2, 3, 7), "float32", "float32", True, (3,), relu, relax.op.multiply, relax.op.nn.relu
    )
    x, y, bias, residual = (
        RNG.standard_normal(s).astype("float32") for s in [(2, 5, 7), (2, 3, 7), (3,), (2, 5, 3)]
    )
    got = tw.VirtualMachine(tw.compile(mod))["main"](x, y, bias, residual).numpy()
    expected = np.maximum(np.maximum(x @ y.transpose(0, 2, 1) + bias, 0) * residual, 0)
    np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-5)


def test_registered_functions():
    a, b = tw.tensor(np.array([[1.0, 2.0]], "float32")), tw.tensor(np.array([[3.0, 4.0]], "float32"))

    def call(name, *args):
        return tw.get_global_func(f"test.vm.{name}")(*args)

    assert call("add", a, b).numpy().tolist() == [[4, 6]]
    assert call("mul", a, b).numpy().tolist() == [[3, 8]]
    assert call("move", a).numpy().tolist() == [[1, 2]]
    assert call("subtract_one", a).numpy().tolist() == [[0, 1]]
    assert not call("equal_zero", tw.tensor(np.array(1.0))).numpy()
    assert call("add_scalar", 1, 2) == 3
    assert call("get_device_id", tw.cpu(0)) == 0
    out, wide = tw.empty((1, 2), "float32"), tw.empty((1, 4), "float32")
    call("identity", a, out)
    call("tile", a, wide)
    assert out.numpy().tolist() == [[1, 2]] and wide.numpy().tolist() == [[1, 2, 1, 2]]


def test_saved_function():
    mod = matmul.get_relax_matmul_module((5, 7), (7, 3), "float32", "float32")
    vm.check_saved_func(tw.VirtualMachine(tw.compile(mod)), "main", *nn.init_params(mod))


def test_unknown_names():
    with pytest.raises(AttributeError) as error:
        relax.nothing
    assert str(error.value) == "module 'tilewright.relax' has no attribute 'nothing'"
    with pytest.raises(AttributeError) as error:
        relax.frontend.nothing
    assert str(error.value) == "module 'tilewright.relax.frontend' has no attribute 'nothing'"
