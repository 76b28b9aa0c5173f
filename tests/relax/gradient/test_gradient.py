"""Gradient as programs before and after; what is computed again; gradients of loop programs; a training loop."""

import numpy as np
import pytest
from gradient_testing import call, differentiated, op, rand

import tilewright
from tilewright import relax, te
from tilewright.ir import assert_structural_equal
from tilewright.relax import transform
from tilewright.script import ir as I  # noqa: N812
from tilewright.script import relax as R  # noqa: N812
from tilewright.script import tir as T  # noqa: N812


@I.ir_module
class Product:
    @R.function
    def main(x: R.Tensor((3, 3), "float32"), y: R.Tensor((3,), "float32")) -> R.Tensor((), "float32"):
        with R.dataflow():
            lv = R.multiply(x, y)
            gv = R.sum(lv)
            R.output(gv)
        return gv


@I.ir_module
class ProductAdjoint:
    @R.function
    def main(x: R.Tensor((3, 3), "float32"), y: R.Tensor((3,), "float32")) -> R.Tensor((), "float32"):
        with R.dataflow():
            lv = R.multiply(x, y)
            gv = R.sum(lv)
            R.output(gv)
        return gv

    @R.function
    def main_adjoint(x: R.Tensor((3, 3), "float32"), y: R.Tensor((3,), "float32")) -> R.Tuple(
        R.Tensor((), "float32"), R.Tuple(R.Tensor((3, 3), "float32"), R.Tensor((3,), "float32"))
    ):
        with R.dataflow():
            lv = R.multiply(x, y)
            gv = R.sum(lv)
            target_adjoint = R.ones((), dtype="float32")
            lv1 = R.reshape(target_adjoint, (1, 1))
            lv_adjoint = R.broadcast_to(lv1, (3, 3))
            x_adjoint = R.multiply(lv_adjoint, y)
            lv2 = R.multiply(lv_adjoint, x)
            y_adjoint = R.collapse_sum_to(lv2, (3,))
            x_adjoint1 = x_adjoint
            y_adjoint1 = y_adjoint
            R.output(gv, x_adjoint1, y_adjoint1)
        return (gv, (x_adjoint1, y_adjoint1))


def test_the_adjoint_is_added():
    result = transform.Gradient("main")(Product)
    assert_structural_equal(result, ProductAdjoint)
    assert result["main"].same_as(Product["main"])


def test_only_what_is_required():
    result = transform.Gradient("main", require_grads=Product["main"].params[1])(Product)
    assert "x_adjoint" not in result["main_adjoint"].script()
    loss, (grad,) = call(result, "main_adjoint", [rand(3, 3), rand(3, seed=4)])
    np.testing.assert_allclose(grad.numpy(), rand(3, 3).sum(0), rtol=1e-5)
    swapped = transform.Gradient("main", require_grads=["y", "x"])(Product)
    _, grads = call(swapped, "main_adjoint", [rand(3, 3), rand(3, seed=4)])
    assert [grad.shape for grad in grads] == [(3,), (3, 3)]


def test_target_among_several_results():
    @I.ir_module
    class Pair:
        @R.function
        def main(
            x: R.Tensor(("n", 4), "float32"),
            labels: R.Tensor((7,), "int64"),
            unused: R.Tensor((2,), "float32"),
        ):
            with R.dataflow():
                kept = R.grad.no_grad(x)
                lv = R.multiply(x, kept)
                lv1 = R.add(lv, x)
                loss = R.sum(lv1)
                out = R.exp(x)
                R.output(out, loss)
            return (out, loss)

    x = rand(5, 4)
    module = differentiated(Pair, target_index=1)
    (out, loss), grads = call(module, "main_adjoint", [x, np.zeros(7, "int64"), np.zeros(2, "float32")])
    np.testing.assert_allclose(out.numpy(), np.exp(x), rtol=1e-5)
    np.testing.assert_allclose(loss.numpy(), (x * x + x).sum(), rtol=1e-5)
    assert len(grads) == 2
    np.testing.assert_allclose(grads[0].numpy(), x + 1, rtol=1e-5)  # nothing through no_grad
    np.testing.assert_array_equal(grads[1].numpy(), np.zeros(2))


def test_tuple_parameters_have_tuples_of_gradients():
    @I.ir_module
    class OfTuple:
        @R.function
        def main(x: R.Tuple(R.Tensor((5,), "float32"), R.Tensor((5,), "float32"), R.Tensor((2,), "float32"))):
            with R.dataflow():
                lv = x[0]
                lv1 = x[1]
                lv2 = R.multiply(lv, lv1)
                gv = R.sum(lv2)
                R.output(gv)
            return gv

    module = differentiated(OfTuple)
    function = tilewright.VirtualMachine(tilewright.compile(module))["main_adjoint"]
    arrays = [rand(5), rand(5, seed=4), rand(2)]
    _, (grads,) = function([tilewright.tensor(a) for a in arrays])
    for mine, theirs in zip(grads, [arrays[1], arrays[0], np.zeros(2)], strict=True):
        np.testing.assert_allclose(mine.numpy(), theirs, rtol=1e-6)


def test_bindings_outside_of_dataflow_blocks():
    @I.ir_module
    class Plain:
        @R.function
        def main(x: R.Tensor((5,), "float32")):
            a = R.exp(x)
            b = R.match_cast(a, R.Tensor((5,), "float32"))
            c = R.sum(b)
            return c

    _, (grad,) = call(differentiated(Plain), "main_adjoint", [rand(5)])
    np.testing.assert_allclose(grad.numpy(), np.exp(rand(5)), rtol=1e-5)


# ---- checkpoints


@I.ir_module
class Checkpoint:
    @R.function
    def main(x: R.Tensor((5,), "float32")) -> R.Tensor((), "float32"):
        with R.dataflow():
            a = R.grad.start_checkpoint(x)
            b = R.exp(a)
            c = R.tanh(b)
            d = R.sin(c)
            e = R.grad.end_checkpoint(d)
            gv = R.sum(e)
            R.output(gv)
        return gv


def test_what_is_in_a_checkpoint_is_computed_again():
    module = differentiated(Checkpoint)
    script = module["main_adjoint"].script()
    assert script.count("R.exp(") == 2
    assert script.count("R.tanh(") == 2
    assert script.count("R.sin(") == 1  # nobody asks for it on the way back
    joined = transform.eliminate_common_subexpr()(transform.remove_identities()(module))
    assert joined["main_adjoint"].script().count("R.tanh(") == 2  # start_checkpoint keeps them apart
    legal = transform.legalize_ops()(joined).script()
    assert "R.grad" not in legal
    assert legal.count("cls.tanh,") == 2
    x = rand(5)
    _, (grad,) = call(module, "main_adjoint", [x])
    b = np.exp(x)
    np.testing.assert_allclose(
        grad.numpy(), np.cos(np.tanh(b)) * (1 - np.tanh(b) ** 2) * b, rtol=1e-4, atol=1e-6
    )


# ---- loop programs with a gradient of their own


@I.ir_module
class Scaled:
    @T.prim_func(private=True)
    def scale(A: T.Buffer((T.int64(5),), "float32"), B: T.Buffer((T.int64(5),), "float32")):
        for i in range(T.int64(5)):
            with T.block("B"):
                vi = T.axis.spatial(T.int64(5), i)
                B[vi] = A[vi] * T.float32(3)

    @R.function
    def main(x: R.Tensor((5,), "float32")) -> R.Tensor((), "float32"):
        cls = Scaled
        with R.dataflow():
            lv = R.call_tir_with_grad(
                cls.scale,
                (x,),
                out_sinfo=R.Tensor((5,), dtype="float32"),
                te_grad_name="tests.scale",
                te_grad_kwargs={"factor": T.float32(3)},
            )
            lv1 = R.exp(lv)
            gv = R.sum(lv1)
            R.output(gv)
        return gv


def test_gradient_of_a_loop_program():
    def scale_gradient(grad, x, factor):
        return te.compute(x.shape, lambda i: grad[i] * factor, name="scaled")

    transform.register_te_gradient("tests.scale", scale_gradient)
    assert tilewright.script.parse(Scaled.script())["main"].script() == Scaled["main"].script()
    np.testing.assert_allclose(call(Scaled, "main", [rand(5)]).numpy(), np.exp(3 * rand(5)).sum(), rtol=1e-5)
    module = transform.Gradient("main")(Scaled)
    _, (grad,) = call(module, "main_adjoint", [rand(5)])
    np.testing.assert_allclose(grad.numpy(), 3 * np.exp(3 * rand(5)), rtol=1e-5)


def test_as_a_decorator_and_with_several_inputs_and_outputs():
    @transform.register_te_gradient("tests.mix")
    def mix_gradient(grads, x, y):
        first, second = grads
        return [
            te.compute(x.shape, lambda i: first[i] + second[i] * y[i]),
            te.compute(y.shape, lambda i: second[i] * x[i]),
        ]

    def mix(x, y):
        return [
            te.compute(x.shape, lambda i: x[i] + te.const(1.0, "float32")),
            te.compute(x.shape, lambda i: x[i] * y[i]),
        ]

    bb = relax.BlockBuilder()
    x, y = (relax.Var(name, relax.TensorType([7], "float32")) for name in "xy")
    with bb.function("main", [x, y]):
        with bb.dataflow():
            both = bb.emit(bb.call_te_with_grad(mix, x, y, te_grad_name="tests.mix"))
            out = bb.emit_output(op.sum(op.exp(both[1])))
        bb.emit_func_output(out)
    a, b = rand(7), rand(7, seed=4)
    _, grads = call(transform.Gradient("main")(bb.get()), "main_adjoint", [a, b])
    np.testing.assert_allclose(grads[0].numpy(), np.exp(a * b) * b, rtol=1e-4)
    np.testing.assert_allclose(grads[1].numpy(), np.exp(a * b) * a, rtol=1e-4)


# ---- training


def test_an_mlp_learns_as_in_torch():
    torch = pytest.importorskip("torch")
    module = tilewright.script.parse(MLP)
    trained = transform.Gradient("main", require_grads=["w0", "b0", "w1", "b1"])(module)
    step = tilewright.VirtualMachine(tilewright.compile(trained))["main_adjoint"]
    rng = np.random.default_rng(0)
    images, labels = rng.random((64, 127)).astype("float32"), rng.integers(0, 10, 64)
    shapes = [(127, 32), (32,), (32, 10), (10,)]
    weights = [(rng.standard_normal(s) * 0.1).astype("float32") for s in shapes]
    mine = [tilewright.tensor(w) for w in weights]
    theirs = [torch.tensor(w, requires_grad=True) for w in weights]
    losses = []
    for _ in range(20):
        loss, grads = step(tilewright.tensor(images), tilewright.tensor(labels), *mine)
        mine = [tilewright.tensor(w.numpy() - 0.5 * g.numpy()) for w, g in zip(mine, grads, strict=True)]
        hidden = torch.relu(torch.tensor(images) @ theirs[0] + theirs[1])
        wanted = torch.nn.functional.cross_entropy(hidden @ theirs[2] + theirs[3], torch.tensor(labels))
        np.testing.assert_allclose(loss.numpy(), wanted.item(), rtol=1e-4)
        for w, g in zip(theirs, torch.autograd.grad(wanted, theirs), strict=True):
            w.data -= 0.5 * g
        losses.append(float(loss.numpy()))
    assert losses[-1] < 0.9 * losses[0]


MLP = """
@I.ir_module
class Module:
    @R.function
    def main(
        x: R.Tensor(("n", 127), "float32"),
        labels: R.Tensor(("n",), "int64"),
        w0: R.Tensor((127, 32), "float32"),
        b0: R.Tensor((32,), "float32"),
        w1: R.Tensor((32, 10), "float32"),
        b1: R.Tensor((10,), "float32"),
    ):
        with R.dataflow():
            hidden = R.nn.relu(R.add(R.matmul(x, w0), b0))
            logits = R.add(R.matmul(hidden, w1), b1)
            loss = R.nn.nll_loss(R.nn.log_softmax(logits), labels)
            R.output(loss)
        return loss
"""
