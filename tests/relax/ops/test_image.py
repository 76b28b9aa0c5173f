"""grid_sample and affine_grid, against torch."""

import numpy as np
import pytest
from op_images import X, t
from op_testing import check_op

torch = pytest.importorskip("torch")

F = torch.nn.functional
RNG = np.random.default_rng(6)


def some(*shape):
    return RNG.standard_normal(shape, dtype="float32")


def test_a_grid_speaks_of_edges_by_default():
    """As apache-tvm 0.27 and torch: align_corners is false."""
    grid = RNG.uniform(-1, 1, (2, 2, 3, 11)).astype("float32")
    wanted = F.grid_sample(t(X), t(grid).permute(0, 2, 3, 1), align_corners=False).numpy()
    check_op("image.grid_sample", [X, grid], {}, wanted, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("method", ["bilinear", "nearest", "bicubic"])
@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
def test_grid_sample(method, padding):
    grid = RNG.uniform(-1.7, 1.7, (2, 2, 3, 11)).astype("float32")
    for align in [True, False]:
        wanted = F.grid_sample(t(X), t(grid).permute(0, 2, 3, 1), method, padding, align).numpy()
        attrs = {"method": method, "padding_mode": padding, "align_corners": align}
        check_op("image.grid_sample", [X, grid], attrs, wanted, rtol=1e-3, atol=1e-4)


def test_affine_grid():
    theta = some(2, 2, 3)
    wanted = F.affine_grid(t(theta), [2, 1, 5, 7], align_corners=True).permute(0, 3, 1, 2).numpy()
    check_op("image.affine_grid", [theta, (5, 7)], {}, wanted, atol=1e-5)
    wanted = F.affine_grid(t(theta), [2, 1, 5, 7], align_corners=False).permute(0, 3, 1, 2).numpy()
    check_op("image.affine_grid", [theta, (5, 7)], {"align_corners": False}, wanted, atol=1e-5)


@pytest.mark.parametrize("is_aligned", [True, False])
def test_affine_grid_of_a_volume(is_aligned):
    theta = some(2, 3, 4)
    wanted = F.affine_grid(t(theta), [2, 1, 3, 5, 7], align_corners=is_aligned).permute(0, 4, 1, 2, 3).numpy()
    check_op("image.affine_grid", [theta, (3, 5, 7)], {"align_corners": is_aligned}, wanted, atol=1e-5)


@pytest.mark.parametrize("method", ["bilinear", "nearest"])
@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
def test_grid_sample_of_a_volume(method, padding):
    x, grid = some(2, 3, 4, 5, 7), RNG.uniform(-1.7, 1.7, (2, 3, 2, 3, 5)).astype("float32")
    for align in [True, False]:
        wanted = F.grid_sample(t(x), t(grid).permute(0, 2, 3, 4, 1), method, padding, align).numpy()
        attrs = {"method": method, "layout": "NCDHW", "padding_mode": padding, "align_corners": align}
        check_op("image.grid_sample", [x, grid], attrs, wanted, rtol=1e-3, atol=1e-4)
