"""Losses, optimizers and the training loop, against torch."""

import numpy as np
import pytest

import tilewright
from tilewright import relax
from tilewright.relax import training
from tilewright.script import ir as I  # noqa: N812
from tilewright.script import relax as R  # noqa: N812

torch = pytest.importorskip("torch")
F = torch.nn.functional

PREDICTIONS = relax.TensorType([5, 7], "float32")


def run(func, *arrays):
    machine = tilewright.VirtualMachine(tilewright.compile(tilewright.IRModule({"main": func})))
    return machine["main"](*(tilewright.tensor(a) for a in arrays)).numpy()


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_losses(reduction):
    rng = np.random.default_rng(1)
    p, t = rng.standard_normal((5, 7)).astype("float32"), rng.standard_normal((5, 7)).astype("float32")
    labels, weights = rng.integers(0, 7, 5), rng.random(7).astype("float32")
    tp, tt, tl, tw = (torch.tensor(x) for x in (p, t, labels, weights))
    int_type, weight_type = relax.TensorType([5], "int64"), relax.TensorType([7], "float32")
    loss = training.loss
    cases = [
        (loss.L1Loss(reduction)(PREDICTIONS, PREDICTIONS), (p, t), F.l1_loss(tp, tt, reduction=reduction)),
        (loss.MSELoss(reduction)(PREDICTIONS, PREDICTIONS), (p, t), F.mse_loss(tp, tt, reduction=reduction)),
        (
            loss.CrossEntropyLoss(reduction)(PREDICTIONS, int_type, weight_type),
            (p, labels, weights),
            F.cross_entropy(tp, tl, tw, reduction=reduction),
        ),
        (
            loss.CategoricalCrossEntropyLoss(reduction, from_logits=True)(PREDICTIONS, PREDICTIONS),
            (p, t),
            F.cross_entropy(tp, tt, reduction=reduction),
        ),
    ]
    for func, arrays, wanted in cases:
        np.testing.assert_allclose(run(func, *arrays), wanted.numpy(), rtol=1e-4, atol=1e-5)


OPTIMIZERS = {
    "SGD": (
        training.optimizer.SGD(0.1, weight_decay=0.02),
        lambda p: torch.optim.SGD(p, 0.1, weight_decay=0.02),
    ),
    "momentum": (
        training.optimizer.MomentumSGD(0.1, 0.9, weight_decay=0.02),
        lambda p: torch.optim.SGD(p, 0.1, 0.9, weight_decay=0.02),
    ),
    "nesterov": (
        training.optimizer.MomentumSGD(0.1, 0.9, nesterov=True),
        lambda p: torch.optim.SGD(p, 0.1, 0.9, nesterov=True),
    ),
    "Adam": (
        training.optimizer.Adam(0.1, (0.8, 0.95), weight_decay=0.02),
        lambda p: torch.optim.Adam(p, 0.1, (0.8, 0.95), weight_decay=0.02),
    ),
}


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_optimizers_step_as_torch(name):
    mine, make = OPTIMIZERS[name]
    rng = np.random.default_rng(1)
    shapes = [(5, 7), (3,)]
    values = [rng.standard_normal(shape).astype("float32") for shape in shapes]
    variables = [relax.Var(f"p{n}", relax.TensorType(shape, "float32")) for n, shape in enumerate(shapes)]
    function = mine.init(variables).get_function()
    step = tilewright.VirtualMachine(tilewright.compile(tilewright.IRModule({"step": function})))["step"]
    theirs = [torch.tensor(value, requires_grad=True) for value in values]
    other = make(theirs)
    params, states = [tilewright.tensor(value) for value in values], mine.state
    for _ in range(3):
        grads = [rng.standard_normal(shape).astype("float32") for shape in shapes]
        params, states = step(params, [tilewright.tensor(grad) for grad in grads], states)
        for tensor, grad in zip(theirs, grads, strict=True):
            tensor.grad = torch.tensor(grad)
        other.step()
    for tensor, value in zip(params, theirs, strict=True):
        np.testing.assert_allclose(tensor.numpy(), value.detach().numpy(), rtol=1e-4, atol=1e-5)
    assert int(states[0].numpy()) == 3


@I.ir_module
class Backbone:
    I.module_attrs({"param_num": 4, "state_num": 0})

    @R.function
    def backbone(
        x: R.Tensor((64, 784), "float32"),
        w0: R.Tensor((784, 32), "float32"),
        b0: R.Tensor((32,), "float32"),
        w1: R.Tensor((32, 10), "float32"),
        b1: R.Tensor((10,), "float32"),
    ) -> R.Tensor((64, 10), "float32"):
        with R.dataflow():
            lv = R.matmul(x, w0)
            lv1 = R.add(lv, b0)
            lv2 = R.nn.relu(lv1)
            lv3 = R.matmul(lv2, w1)
            logits = R.add(lv3, b1)
            R.output(logits)
        return logits


def trainer(optimizer):
    types = [relax.TensorType([64, 10], "float32"), relax.TensorType([64], "int64")]
    setup = training.SetupTrainer(training.loss.CrossEntropyLoss(), optimizer, types)
    module = setup(Backbone)
    return training.Trainer(module, tilewright.VirtualMachine(tilewright.compile(module)))


@pytest.mark.parametrize("name", ["SGD", "Adam"])
def test_an_mlp_learns_as_in_torch(name):
    mine, make = {
        "SGD": (training.optimizer.SGD(0.1), lambda p: torch.optim.SGD(p, 0.1)),
        "Adam": (training.optimizer.Adam(0.003), lambda p: torch.optim.Adam(p, 0.003)),
    }[name]
    learner = trainer(mine)
    learner.xaiver_uniform_init_params(seed=3)
    start = {key: value.numpy().copy() for key, value in learner.export_params().items()}
    theirs = {key: torch.tensor(value, requires_grad=True) for key, value in start.items()}
    other = make(list(theirs.values()))
    rng = np.random.default_rng(0)
    images, labels = rng.random((64, 784)).astype("float32"), rng.integers(0, 10, 64)
    losses = []
    for _ in range(20):
        loss = learner.update(images, labels)
        hidden = torch.relu(torch.tensor(images) @ theirs["w0"] + theirs["b0"])
        wanted = F.cross_entropy(hidden @ theirs["w1"] + theirs["b1"], torch.tensor(labels))
        np.testing.assert_allclose(loss.numpy(), wanted.item(), rtol=1e-4)
        other.zero_grad()
        wanted.backward()
        other.step()
        losses.append(float(loss.numpy()))
    assert losses[-1] < 0.9 * losses[0]
    logits = learner.predict(images).numpy()
    assert logits.shape == (64, 10)


@I.ir_module
class WithStatistics:
    I.module_attrs({"param_num": 2, "state_num": 2})

    @R.function
    def backbone(
        x: R.Tensor((8, 3), "float32"),
        g: R.Tensor((3,), "float32"),
        b: R.Tensor((3,), "float32"),
        mean: R.Tensor((3,), "float32"),
        var: R.Tensor((3,), "float32"),
    ):
        with R.dataflow():
            lv = R.nn.batch_norm(x, g, b, mean, var, axis=1, training=True)
            out = lv[0]
            new_mean = lv[1]
            new_var = lv[2]
            R.output(out, new_mean, new_var)
        return (out, new_mean, new_var)


def test_states_are_carried_on():
    types = [relax.TensorType([8, 3], "float32")] * 2
    module = training.SetupTrainer(training.loss.MSELoss(), training.optimizer.SGD(0.1), types)(
        WithStatistics
    )
    learner = training.Trainer(module, tilewright.VirtualMachine(tilewright.compile(module)))
    x = np.random.default_rng(1).standard_normal((8, 3)).astype("float32")
    learner.load_params({"g": np.ones(3, "float32"), "b": np.zeros(3, "float32")})
    learner.update(x, x)
    np.testing.assert_allclose(learner.export_states()["mean"].numpy(), 0.1 * x.mean(0), rtol=1e-4)
    assert learner.predict(x).shape == (8, 3)


def test_append_loss_as_a_program():
    @I.ir_module
    class Model:
        @R.function
        def f(x: R.Tensor(("n", 3), "float32")):
            with R.dataflow():
                gv = R.exp(x)
                gv1 = R.sum(x)
                R.output(gv, gv1)
            return (gv, gv1)

    @I.ir_module
    class Loss:
        @R.function
        def loss(p: R.Tensor(("m", 3), "float32"), t: R.Tensor(("m", 3), "float32")):
            with R.dataflow():
                gv = R.subtract(p, t)
                gv1 = R.sum(gv)
                R.output(gv1)
            return gv1

    result = training.AppendLoss("f", Loss["loss"])(Model)
    assert result["f"].same_as(Model["f"])
    x, t = (np.random.default_rng(n).standard_normal((5, 3)).astype("float32") for n in (1, 2))
    machine = tilewright.VirtualMachine(tilewright.compile(result))
    loss, total = machine["f_loss"](tilewright.tensor(x), tilewright.tensor(t))
    np.testing.assert_allclose(loss.numpy(), (np.exp(x) - t).sum(), rtol=1e-4)
    np.testing.assert_allclose(total.numpy(), x.sum(), rtol=1e-4)
