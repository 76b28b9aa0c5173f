"""Pools, against torch."""

import numpy as np
import pytest
from op_images import VOLUME, WAVE, X, t
from op_testing import check_op

torch = pytest.importorskip("torch")

F = torch.nn.functional
POOLS = [
    {"pool_size": 2},
    {"pool_size": 3, "strides": 2, "padding": 1},
    {"pool_size": 3, "strides": 2, "ceil_mode": True},
]


@pytest.mark.parametrize("attrs", POOLS, ids=str)
def test_pools(attrs):
    torch_attrs = {"stride": attrs.get("strides", 1), "padding": attrs.get("padding", 0)}
    torch_attrs["ceil_mode"] = attrs.get("ceil_mode", False)
    for data, dims in [(WAVE, 1), (X, 2), (VOLUME, 3)]:
        largest = getattr(F, f"max_pool{dims}d")(t(data), attrs["pool_size"], **torch_attrs).numpy()
        check_op(f"nn.max_pool{dims}d", [data], attrs, largest)
        mean = getattr(F, f"avg_pool{dims}d")(
            t(data), attrs["pool_size"], count_include_pad=False, **torch_attrs
        )
        options = {**attrs, "count_include_pad": False}
        check_op(f"nn.avg_pool{dims}d", [data], options, mean.numpy(), atol=1e-5)


@pytest.mark.parametrize("strides, padding", [(1, 1), (2, 1), (3, 2), (1, 3)])
def test_a_dilated_average_counts_the_places_inside_of_the_data(strides, padding):
    """Found by random graph 10211: the first place inside was taken for 0, also where the window steps over it."""
    padded = np.pad(WAVE, ((0, 0), (0, 0), (padding, padding)))
    inside = np.pad(np.ones_like(WAVE), ((0, 0), (0, 0), (padding, padding)))
    starts = np.arange(0, padded.shape[-1] - 4, strides)

    def summed(values):
        return sum(values[..., starts + place] for place in (0, 2, 4))

    wanted = summed(padded) / np.maximum(summed(inside), 1)
    attrs = {
        "pool_size": 3,
        "strides": strides,
        "padding": padding,
        "dilation": 2,
        "count_include_pad": False,
    }
    check_op("nn.avg_pool1d", [WAVE], attrs, wanted, atol=1e-5)


def test_averages_count_padding_by_default_but_in_pictures():
    """As apache-tvm 0.27: avg_pool1d and avg_pool3d count it, avg_pool2d does not."""
    for dims, data, counts in [(1, WAVE, True), (2, X, False), (3, VOLUME, True)]:
        pool = getattr(F, f"avg_pool{dims}d")
        wanted = pool(t(data), 3, 2, 1, count_include_pad=counts).numpy()
        check_op(
            f"nn.avg_pool{dims}d", [data], {"pool_size": 3, "strides": 2, "padding": 1}, wanted, atol=1e-5
        )


def test_adaptive_pools():
    for data, dims in [(WAVE, 1), (X, 2), (VOLUME, 3)]:
        wanted = getattr(F, f"adaptive_avg_pool{dims}d")(t(data), 3).numpy()
        check_op(f"nn.adaptive_avg_pool{dims}d", [data], {"output_size": [3]}, wanted, atol=1e-5)
