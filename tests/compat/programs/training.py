"""Gradients, training, mixed precision and prepared weights under TVM's names."""

import numpy as np
import pytest
import tvm
from tvm import relax, te
from tvm.ir.instrument import DumpIR, PassTimingInstrument, WellFormedInstrument
from tvm.relax.op import grad
from tvm.relax.training import SetupTrainer, Trainer
from tvm.relax.training.loss import CategoricalCrossEntropyLoss, MSELoss
from tvm.relax.training.optimizer import SGD, Adam, MomentumSGD
from tvm.relax.training.utils import AppendLoss, register_te_gradient
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((3, 3), "float32"), y: R.Tensor((3, 3), "float32")) -> R.Tensor((), "float32"):
        with R.dataflow():
            lv1 = R.multiply(x, y)
            gv = R.sum(lv1)
            R.output(gv)
        return gv


# ---- Gradient

x, y = (np.random.default_rng(n).random((3, 3)).astype("float32") for n in range(2))
After = relax.transform.Gradient("main")(Module)
assert [var.name_hint for var in After.get_global_vars()] == ["main", "main_adjoint"]
vm = relax.VirtualMachine(relax.build(After, "llvm"), tvm.cpu())
loss, (dx, dy) = vm["main_adjoint"](tvm.nd.array(x), tvm.nd.array(y))
np.testing.assert_allclose(loss.numpy(), (x * y).sum(), rtol=1e-5)
np.testing.assert_allclose(dx.numpy(), y)
np.testing.assert_allclose(dy.numpy(), x)
only_y = relax.transform.Gradient("main", require_grads=Module["main"].params[1], target_index=0)(Module)
assert "x_adjoint" not in only_y["main_adjoint"].script()

# ---- a loop program with a gradient


@register_te_gradient("program.square")
def square_gradient(output_grad, a, factor=2.0):
    return te.compute(a.shape, lambda *i: output_grad(*i) * a(*i) * te.const(factor, "float32"))


bb = relax.BlockBuilder()
v = relax.Var("v", relax.TensorStructInfo((5,), "float32"))
with bb.function("main", [v]):
    with bb.dataflow():
        squared = bb.emit(
            bb.call_te_with_grad(
                lambda a: te.compute(a.shape, lambda *i: a(*i) * a(*i)), v, te_grad_name="program.square"
            )
        )
        kept = bb.emit(grad.no_grad(v))
        out = bb.emit_output(relax.op.sum(relax.op.multiply(squared, kept)))
    bb.emit_func_output(out)
vm = relax.VirtualMachine(relax.build(relax.transform.Gradient("main")(bb.get()), "llvm"), tvm.cpu())
data = np.arange(5).astype("float32")
_, (dv,) = vm["main_adjoint"](tvm.nd.array(data))
np.testing.assert_allclose(dv.numpy(), 2 * data * data)

# ---- SetupTrainer and Trainer


@I.ir_module
class MLP:
    I.module_attrs({"param_num": 2, "state_num": 0})

    @R.function
    def backbone(
        x: R.Tensor((8, 10), "float32"), w0: R.Tensor((10, 5), "float32"), b0: R.Tensor((5,), "float32")
    ):
        with R.dataflow():
            lv0 = R.matmul(x, w0)
            out = R.add(lv0, b0)
            R.output(out)
        return out


pred, target = relax.TensorStructInfo((8, 5), "float32"), relax.TensorStructInfo((8, 5), "float32")
for optimizer in (SGD(0.1), MomentumSGD(0.05, 0.9, nesterov=True), Adam(0.05)):
    setup = SetupTrainer(CategoricalCrossEntropyLoss(reduction="mean"), optimizer, [pred, target])
    train_mod = setup(MLP)
    assert {"backbone", "backbone_loss", "backbone_loss_adjoint", "optimizer"} <= {
        var.name_hint for var in train_mod.get_global_vars()
    }
    vm = relax.VirtualMachine(relax.build(train_mod, "llvm"), tvm.cpu())
    trainer = Trainer(train_mod, vm, tvm.cpu(), False)
    trainer.xaiver_uniform_init_params()
    rng = np.random.default_rng(0)
    inputs, labels = rng.random((8, 10)).astype("float32"), np.eye(5, dtype="float32")[rng.integers(0, 5, 8)]
    losses = [trainer.update([inputs], [labels]).numpy() for _ in range(20)]
    assert losses[-1] < losses[0]
    assert trainer.predict(inputs).numpy().shape == (8, 5)
    assert sorted(trainer.export_params()) == ["b0", "w0"]

loss_mod = AppendLoss("backbone", MSELoss()(pred, target))(MLP)
assert "backbone_loss" in [var.name_hint for var in loss_mod.get_global_vars()]

# ---- mixed precision, prepared weights

mixed = relax.transform.ToMixedPrecision(out_dtype="float32")(MLP)
assert 'out_dtype="float32"' in mixed.script() and 'dtype="float16"' in mixed.script()


@I.ir_module
class Weights:
    @R.function
    def main(x: R.Tensor((3, 7), "float32"), w: R.Tensor((5, 7), "float32")) -> R.Tensor((3, 5), "float32"):
        R.func_attr({"num_input": 1})
        with R.dataflow():
            lv = R.permute_dims(w)
            gv = R.matmul(x, lv)
            R.output(gv)
        return gv


lifted = relax.transform.LiftTransformParams()(Weights)
bundled = relax.transform.BundleModelParams("model_params")(lifted)
assert [param.name_hint for param in bundled["main"].params] == ["x", "model_params"]
vm = relax.VirtualMachine(relax.build(bundled, "llvm"), tvm.cpu())
a, w = np.random.default_rng(3).random((3, 7), "float32"), np.random.default_rng(4).random((5, 7), "float32")
params = vm["main_transform_params"]([tvm.nd.array(w)])
np.testing.assert_allclose(vm["main"](tvm.nd.array(a), params).numpy(), a @ w.T, rtol=1e-5)
with pytest.raises(tvm.TVMError) as error:
    relax.transform.LiftTransformParams(shared_transform=True)
assert str(error.value) == (
    "LiftTransformParams: shared_transform is not served\nhelp: each function has a transform of its own"
)

# ---- who watches

timing = PassTimingInstrument()
with tvm.transform.PassContext(opt_level=3, instruments=[timing, WellFormedInstrument()]):
    executable = relax.build(Weights, "llvm")
assert "fuse_ops" in timing.render()
assert DumpIR
calls = []
vm = relax.VirtualMachine(executable, tvm.cpu())


def watch(func, name, before_run, ret_value, *args):
    calls.append((name, before_run))
    return relax.VMInstrumentReturnKind.NO_OP


vm.set_instrument(watch)
vm["main"](tvm.nd.array(a), tvm.nd.array(w))
assert [before for _, before in calls] == [True, False] * (len(calls) // 2) and calls
print("ok")
