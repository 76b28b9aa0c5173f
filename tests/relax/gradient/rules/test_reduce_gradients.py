"""Gradients of reductions, cumulative sums and order, against torch's."""

import numpy as np
import pytest
from gradient_testing import call, check, check_by_differences, differentiated, op, rand

from tilewright import relax
from tilewright.ir import assert_structural_equal
from tilewright.script import parse

torch = pytest.importorskip("torch")


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("axis", [[1], [0, 2], None])
@pytest.mark.parametrize("name", ["sum", "mean", "max", "min", "variance", "std", "prod"])
def test_reductions(name, axis, keepdims):
    def reference(x):
        dims = tuple(range(3)) if axis is None else tuple(axis)
        if name == "prod":
            for dim in sorted(dims, reverse=True):
                x = x.prod(dim, keepdim=keepdims)
            return x
        function = {"max": "amax", "min": "amin", "variance": "var"}.get(name, name)
        more = {"correction": 0} if name in ("variance", "std") else {}
        return getattr(torch, function)(x, dim=dims, keepdim=keepdims, **more)

    check(lambda x: getattr(op, name)(x, axis=axis, keepdims=keepdims), reference, rand(3, 5, 4))


def test_reductions_of_everything_have_the_shape_of_scalars():
    """Also of a tensor whose number of dimensions is not known; a tensor of no dimensions has the shape ()."""
    scalar = relax.TensorType([], "float32")
    x = relax.Var("x", relax.TensorType(None, "float32", -1))
    bb = relax.BlockBuilder()
    with bb.function("main", [x]):
        for name in ("sum", "mean", "max", "prod", "std"):
            assert_structural_equal(bb.emit(getattr(op, name)(x)).type, scalar)
        bb.emit_func_output(x)
    assert_structural_equal(relax.TensorType(None, "float32", 0), scalar)


LOSS = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((3, 5), "float32"), w: TYPE):
        with R.dataflow():
            loss = R.multiply(R.sum(R.multiply(x, x)), R.sum(w))
            R.output(loss)
        return loss
"""


def test_a_sum_of_unknown_rank_is_a_target():
    adjoint = differentiated(parse(LOSS.replace("TYPE", 'R.Tensor("float32")')), require_grads=["x"])
    assert relax.analysis.well_formed(adjoint)
    x, w = rand(3, 5), np.array(1.5, "float32")
    adjoint = differentiated(parse(LOSS.replace("TYPE", 'R.Tensor("float32", ndim=0)')))
    loss, (grad_x, grad_w) = call(adjoint, "main_adjoint", [x, w])
    np.testing.assert_allclose(loss.numpy(), (x * x).sum() * w, rtol=1e-5)
    np.testing.assert_allclose(grad_x.numpy(), 2 * x * w, rtol=1e-5)
    np.testing.assert_allclose(grad_w.numpy(), (x * x).sum(), rtol=1e-5)


def test_product_with_zeros():
    x = rand(3, 5)
    x[0, 1] = x[2, 0] = x[2, 3] = 0
    check(lambda x: op.prod(x, axis=[1]), lambda x: torch.prod(x, 1), x)


def test_equal_largest_ones_share():
    check(
        lambda x: op.max(x, axis=[1]), lambda x: torch.amax(x, 1), np.array([[1, 3, 3], [2, 2, 2]], "float32")
    )


def test_cumulative_sums():
    check(lambda x: op.cumsum(x, axis=1), lambda x: torch.cumsum(x, 1), rand(5, 7))
    check(op.cumsum, lambda x: torch.cumsum(x.reshape(-1), 0), rand(3, 5))
    check(
        lambda x: op.cumsum(x, axis=0, exclusive=True, reverse=True),
        lambda x: torch.flip(torch.cumsum(torch.flip(x, [0]), 0), [0]) - x,
        rand(5),
    )


def test_cumulative_products():
    x = rand(3, 5)
    x[1, 2] = x[2, 1] = x[2, 3] = 0
    check(lambda x: op.cumprod(x, axis=1), lambda x: torch.cumprod(x, 1), x)
    check(lambda x: op.cumprod(x, axis=0), lambda x: torch.cumprod(x, 0), x)
    check(lambda x: op.cumprod(x), lambda x: torch.cumprod(x.reshape(-1), 0), rand(3, 5))
    check(lambda x: op.cumprod(x, axis=1), lambda x: torch.cumprod(x, 1), x, symbols=(5,))
    check(
        lambda x: op.cumprod(x, axis=1, reverse=True),
        lambda x: torch.cumprod(x.flip(1), 1).flip(1),
        x,
    )
    check_by_differences(lambda x: op.cumprod(x, axis=1, exclusive=True), x)
    check_by_differences(lambda x: op.cumprod(x, axis=1, reverse=True, exclusive=True), x)


def test_median():
    x = rand(3, 5, 7)
    check(lambda x: op.median(x, axis=[1]), lambda x: torch.median(x, 1).values, x)
    check(
        lambda x: op.median(x, axis=[0], keepdims=True), lambda x: torch.median(x, 0, keepdim=True).values, x
    )
    check(op.median, torch.median, x)


def test_order():
    check(lambda x: op.sort(x, axis=0, descending=True), lambda x: torch.sort(x, 0, True)[0], rand(5, 7))
    check(lambda x: op.topk(x, k=3), lambda x: torch.topk(x, 3)[0], rand(5, 7))
    check(lambda x: op.topk(x, k=2, axis=0, ret_type="values"), lambda x: torch.topk(x, 2, 0)[0], rand(5, 7))
