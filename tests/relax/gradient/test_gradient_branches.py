"""Gradients through `if`: those of variables of both branches, as torch's (tests/errors/gradient.txt: what has none)."""

import itertools
import random
import textwrap
import types

import numpy as np
import pytest
from gradient_testing import call, differentiated, rand

import tilewright
from tilewright import relax
from tilewright.ir import assert_structural_equal
from tilewright.script import parse

torch = pytest.importorskip("torch")


def module(
    body, params="c: R.Tensor((), 'bool'), x: R.Tensor((3, 5), 'float32'), w: R.Tensor((5,), 'float32')"
):
    """main of these statements."""
    lines = "\n".join("        " + line for line in body.strip("\n").splitlines())
    head = "@I.ir_module\nclass Module:\n    @R.function\n    def main("
    return parse(f"{head}{params}):\n{lines}\n")


def check(body, function, *arrays, params=None, condition=True, rtol=1e-4):
    """Loss and gradients of main are torch's, at both ends of the pipeline, whichever way the conditions go."""
    made = module(body, params) if params else module(body)
    adjoint = differentiated(made)
    assert relax.analysis.well_formed(adjoint)
    functions = []
    for level in (0, 2):
        with tilewright.transform.PassContext(opt_level=level):
            functions.append(tilewright.VirtualMachine(tilewright.compile(adjoint))["main_adjoint"])
    for taken in [True, False] if condition else [None]:
        given = arrays if taken is None else [np.array(taken), *arrays]
        tensors = [torch.tensor(a) for a in given]
        floats = [tensor.requires_grad_() for tensor in tensors if tensor.is_floating_point()]
        loss = function(*tensors)
        wanted = torch.autograd.grad(loss, floats, allow_unused=True)
        for main_adjoint in functions:
            value, grads = main_adjoint(*(tilewright.tensor(a) for a in given))
            np.testing.assert_allclose(value.numpy(), loss.detach().numpy(), rtol=rtol)
            assert len(grads) == len(wanted)
            for mine, theirs, of in zip(grads, wanted, floats, strict=True):
                zero = np.zeros(of.shape, "float32")
                np.testing.assert_allclose(
                    mine.numpy(), zero if theirs is None else theirs, rtol=rtol, atol=1e-5
                )


X, W = rand(3, 5), rand(5, seed=4)

TWO_WAYS = """
a = R.sin(x)
if c:
    b = R.exp(a)
    y = R.multiply(b, w)
else:
    y = R.add(a, a)
z = R.multiply(y, a)
loss = R.sum(z)
return loss
"""


def test_both_branches():
    def function(c, x, w):
        a = torch.sin(x)
        return ((torch.exp(a) * w if c else a + a) * a).sum()

    check(TWO_WAYS, function, X, W)


def test_program():
    """Values of a branch that gradients use are computed again; each branch gives gradients of the variables of both, zeros for those it does not use."""
    adjoint = differentiated(
        module(
            """
if c:
    a = R.exp(x)
    y = R.sum(a)
else:
    y = R.sum(w)
return y
""",
            params="c: R.Tensor((), 'bool'), x: R.Tensor((5,), 'float32'), w: R.Tensor((5,), 'float32')",
        )
    )
    after = parse("""
@I.ir_module
class Module:
    @R.function
    def main_adjoint(c: R.Tensor((), "bool"), x: R.Tensor((5,), "float32"), w: R.Tensor((5,), "float32")) -> R.Tuple(
        R.Tensor((), "float32"), R.Tuple(R.Tensor((5,), "float32"), R.Tensor((5,), "float32"))
    ):
        if c:
            a = R.exp(x)
            y_1 = R.sum(a)
            y = y_1
        else:
            y_2 = R.sum(w)
            y = y_2
        target_adjoint = R.ones((), dtype="float32")
        if c:
            a1 = R.exp(x)
            gv = R.reshape(target_adjoint, (1,))
            a_adjoint = R.broadcast_to(gv, (5,))
            x_adjoint = R.multiply(a_adjoint, a1)
            gv1 = R.zeros((5,), dtype="float32")
            y_if = (x_adjoint, gv1)
        else:
            gv2 = R.reshape(target_adjoint, (1,))
            w_adjoint = R.broadcast_to(gv2, (5,))
            gv3 = R.zeros((5,), dtype="float32")
            y_if = (gv3, w_adjoint)
        gv4 = y_if[0]
        gv5 = y_if[1]
        return (y, (gv4, gv5))
""")
    assert_structural_equal(adjoint, after, map_free_vars=True)


def test_nested():
    body = """
d = R.greater(R.sum(x), R.const(0.0, "float32"))
if c:
    a = R.exp(x)
    if d:
        b = R.multiply(a, w)
        e = R.sin(b)
    else:
        e = R.multiply(x, a)
    y = R.multiply(e, a)
else:
    if d:
        y = R.tanh(x)
    else:
        y = R.subtract(R.multiply(w, w), x)
z = R.multiply(R.sum(y), R.sum(w))
return z
"""

    def function(c, x, w):
        d = bool(x.sum() > 0)
        if c:
            a = torch.exp(x)
            y = (torch.sin(a * w) if d else x * a) * a
        else:
            y = torch.tanh(x) if d else w * w - x
        return y.sum() * w.sum()

    for x in (np.abs(X), -np.abs(X)):
        check(body, function, x, W)


def test_symbolic_shapes():
    params = "c: R.Tensor((), 'bool'), x: R.Tensor(('n', 5), 'float32'), w: R.Tensor((5, 'm'), 'float32')"
    body = """
if c:
    a = R.matmul(x, w)
    y = R.sum(R.sin(a))
else:
    b = R.mean(x, axis=[0])
    y = R.sum(R.multiply(b, b))
return y
"""

    def function(c, x, w):
        return torch.sin(x @ w).sum() if c else (x.mean(0) ** 2).sum()

    check(body, function, X, rand(5, 7), params=params)


def test_branches_of_other_shapes():
    """The result of the `if` has no known shape until it is cast."""
    body = """
n = T.int64()
if c:
    y = R.exp(x)
else:
    y = R.concat((x, x), axis=0)
z = R.match_cast(y, R.Tensor((n, 5), "float32"))
loss = R.sum(R.multiply(z, w))
return loss
"""

    def function(c, x, w):
        return ((torch.exp(x) if c else torch.cat([x, x])) * w).sum()

    check(body, function, X, W)


def test_shapes_cast_in_a_branch():
    params = "c: R.Tensor((), 'bool'), x: R.Tensor(('n', 5), 'float32'), w: R.Tensor((5,), 'float32')"
    body = """
m = T.int64()
if c:
    a = R.match_cast(x, R.Tensor((m, 5), "float32"))
    y = R.sum(R.exp(R.multiply(a, w)))
else:
    y = R.sum(w)
return y
"""
    check(body, lambda c, x, w: torch.exp(x * w).sum() if c else w.sum(), X, W, params=params)


def test_tuples():
    """Tuples outside and as results, with integers among them."""
    body = """
p = (x, R.argmax(x, axis=1), w)
if c:
    q = (R.multiply(p[0], p[2]), p[1], p[2])
else:
    q = p
loss = R.add(R.sum(R.multiply(q[0], q[0])), R.sum(q[2]))
return loss
"""

    def function(c, x, w):
        return ((x * w if c else x) ** 2).sum() + w.sum()

    check(body, function, X, W)


def test_values_that_are_handed_on():
    body = """
if c:
    y = x
else:
    y = R.const([[1.0, 2.0, 3.0, 4.0, 5.0]], "float32")
loss = R.sum(R.multiply(y, w))
return loss
"""
    check(
        body,
        lambda c, x, w: ((x if c else torch.arange(1.0, 6.0)[None]) * w).sum(),
        rand(1, 5),
        W,
        params="c: R.Tensor((), 'bool'), x: R.Tensor((1, 5), 'float32'), w: R.Tensor((5,), 'float32')",
    )


def test_without_a_use_of_variables():
    """Nothing to differentiate in the branches."""
    body = """
if c:
    y = R.const(2.0, "float32")
else:
    y = R.const(3.0, "float32")
loss = R.multiply(y, R.sum(x))
return loss
"""
    check(body, lambda c, x, w: (2.0 if c else 3.0) * x.sum(), X, W)


def test_conditions_on_values():
    """A condition that depends on x has no part in the gradient."""
    params = "x: R.Tensor((3, 5), 'float32')"
    body = """
s = R.sum(x)
if R.greater(s, R.const(0.0, "float32")):
    y = R.multiply(s, s)
else:
    y = R.negative(s)
return y
"""
    for x in (np.abs(X), -np.abs(X)):
        check(body, lambda x: x.sum() ** 2 if x.sum() > 0 else -x.sum(), x, params=params, condition=False)


def test_one_variable_many_times():
    """In the condition, in both branches and after them; a second `if` uses the first."""
    body = """
if c:
    y = R.multiply(x, x)
else:
    y = R.sin(x)
if c:
    z = R.multiply(y, x)
else:
    z = R.add(y, w)
loss = R.sum(R.multiply(z, x))
return loss
"""

    def function(c, x, w):
        y = x * x if c else torch.sin(x)
        z = y * x if c else y + w
        return (z * x).sum()

    check(body, function, X, W)


def test_dataflow_blocks_in_branches():
    body = """
with R.dataflow():
    a0 = R.sin(x)
    a = R.exp(a0)
    R.output(a)
if c:
    with R.dataflow():
        b = R.multiply(a, w)
        y0 = R.sum(b)
        R.output(y0)
    y = y0
else:
    y = R.sum(a)
return y
"""
    check(body, lambda c, x, w: (torch.exp(torch.sin(x)) * (w if c else 1)).sum(), X, W)


def test_checkpoints():
    """Values between checkpoints around and in an `if` are computed again."""
    body = """
a = R.grad.start_checkpoint(x)
b = R.exp(a)
if c:
    d = R.multiply(b, w)
    y0 = R.sin(d)
else:
    y0 = R.cos(b)
y = R.grad.end_checkpoint(y0)
loss = R.sum(R.multiply(y, y))
return loss
"""

    def function(c, x, w):
        y = torch.sin(torch.exp(x) * w) if c else torch.cos(torch.exp(x))
        return (y * y).sum()

    check(body, function, X, W)
    adjoint = differentiated(module(body)).script()
    assert adjoint.count("R.exp(") == 2


def test_no_grad_in_a_branch():
    body = """
if c:
    kept = R.grad.no_grad(x)
    y = R.multiply(kept, x)
else:
    y = R.grad.no_grad(x)
loss = R.sum(y)
return loss
"""
    check(body, lambda c, x, w: (x.detach() * x if c else x.detach()).sum() + 0 * w.sum() + 0 * x.sum(), X, W)


EFFECTS = """
@I.ir_module
class Module:
    @R.function(pure=False)
    def main(c: R.Tensor((), "bool"), x: R.Tensor((3, 5), "float32")):
        a = R.sin(x)
        if c:
            noise = R.call_packed("test.gradient.noise", R.grad.no_grad(a), sinfo_args=R.Tensor((3, 5), "float32"))
            shifted = R.add(a, noise)
            R.assert_op(c, format="c is false")
            y = R.multiply(shifted, x)
        else:
            y = R.add(a, x)
        z = R.ones((3, 5), "float32")
        if c:
            R.call_packed("test.gradient.noise", z, sinfo_args=R.Tensor((3, 5), "float32"))
            w = R.multiply(z, z)
        else:
            w = R.exp(z)
        loss = R.sum(R.add(R.multiply(y, y), w))
        return loss
"""


def test_side_effects_that_the_way_back_needs_nothing_of():
    """They happen once, on the way there: what the branch computes again is what the gradient uses."""
    calls = []

    def noise(x):
        calls.append(x.shape)
        return tilewright.tensor(np.zeros((3, 5), "float32"))

    tilewright.register_func("test.gradient.noise", noise, override=True)
    needs_noise = parse(EFFECTS)
    with pytest.raises(tilewright.Unsupported, match="uses the result of a call with side effects"):
        differentiated(needs_noise)
    adjoint = differentiated(parse(EFFECTS.replace("R.multiply(shifted, x)", "R.add(shifted, x)")))
    for taken in (True, False):
        calls.clear()
        loss, grads = call(adjoint, "main_adjoint", [np.array(taken), X])
        x = torch.tensor(X, requires_grad=True)
        wanted = ((torch.sin(x) + x) ** 2).sum() + (15 if taken else 15 * np.e)
        wanted.backward()
        np.testing.assert_allclose(loss.numpy(), wanted.detach(), rtol=1e-4)
        np.testing.assert_allclose(grads[0].numpy(), x.grad, rtol=1e-4, atol=1e-5)
        assert calls == [(3, 5)] * (2 if taken else 0)


def test_training_a_model_with_a_branch():
    """append_loss gives the branches of the model variables of their own."""
    model = module("""
if c:
    y = R.multiply(x, w)
else:
    y = x
return y
""")
    loss = relax.training.loss.MSELoss(reduction="sum")
    target = relax.TensorType((3, 5), "float32")
    with_loss = relax.training.AppendLoss(
        "main", loss(target, target), num_backbone_outputs=1, new_func_name="loss"
    )(model)
    assert relax.analysis.well_formed(with_loss)
    made = relax.transform.Gradient("loss", require_grads=["x", "w"])(with_loss)
    for taken in (True, False):
        value, (dx, dw) = call(made, "loss_adjoint", [np.array(taken), X, W, np.ones_like(X)])
        error = (X * W if taken else X) - 1
        np.testing.assert_allclose(value.numpy(), (error**2).sum(), rtol=1e-5)
        np.testing.assert_allclose(dx.numpy(), 2 * error * (W if taken else 1), rtol=1e-4)
        np.testing.assert_allclose(dw.numpy(), (2 * error * X).sum(0) * taken, rtol=1e-4)


# the same text is a program of graphs and, with torch's functions as R, of Python
TORCH = types.SimpleNamespace(
    sin=torch.sin, tanh=torch.tanh, add=torch.add, multiply=torch.mul, maximum=torch.maximum, sum=torch.sum
)


def random_branches(seed):
    """Statements over x and w with branches inside of branches; the last gives a scalar."""
    choose = random.Random(seed)
    lines, count = [], itertools.count()

    def value(names):
        if choose.random() < 0.4:
            return f"R.{choose.choice(['sin', 'tanh'])}({choose.choice(names)})"
        op = choose.choice(["add", "multiply", "maximum"])
        return f"R.{op}({choose.choice(names)}, {choose.choice(names)})"

    def block(names, indent):
        names = list(names)
        for _ in range(choose.randrange(1, 4)):
            name = f"v{next(count)}"
            if len(indent) < 6 and choose.random() < 0.5:
                for head in (f"if {choose.choice('cd')}:", "else:"):
                    lines.append(indent + head)
                    inner = block(names, indent + "  ")
                    lines.append(f"{indent}  {name} = {choose.choice([value(inner), inner[-1]])}")
            else:
                lines.append(f"{indent}{name} = {value(names)}")
            names.append(name)
        return names

    lines.append(f"loss = R.sum({block(['x', 'w'], '')[-1]})")
    return "\n".join([*lines, "return loss"])


@pytest.mark.parametrize("seed", range(8))
def test_random_branches(seed):
    body = random_branches(seed)
    scope = {"R": TORCH}
    exec("def function(c, d, x, w):\n" + textwrap.indent(body, "  "), scope)
    shape = ["3, 5", "'n', 5"][seed % 2]
    params = "c: R.Tensor((), 'bool'), d: R.Tensor((), 'bool'), " + ", ".join(
        f"{name}: R.Tensor(({shape}), 'float32')" for name in "xw"
    )
    for second in (True, False):
        check(body, scope["function"], np.array(second), X, rand(3, 5, seed=9), params=params)
