"""Local response normalization of sequences, pictures and volumes against its formula."""

import numpy as np
import pytest

import tilewright
from tilewright.frontend.onnx import from_onnx

onnx = pytest.importorskip("onnx")
from onnx import TensorProto, helper  # noqa: E402


def model(tmp_path, shape, **attrs):
    graph = helper.make_graph(
        [helper.make_node("LRN", ["x"], ["y"], **attrs)],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [onnx.ValueInfoProto(name="y")],
    )
    path = tmp_path / "model.onnx"
    path.write_bytes(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)]).SerializeToString()
    )
    return from_onnx(str(path))


@pytest.mark.parametrize("shape", [(2, 7, 5), (2, 5, 7, 3), (1, 3, 2, 3, 5)])
@pytest.mark.parametrize("size", [1, 2, 3, 5])
def test_any_number_of_dimensions(tmp_path, shape, size):
    x = np.random.default_rng(1).standard_normal(shape, dtype="float32")
    executable = tilewright.compile(model(tmp_path, shape, size=size, alpha=0.5, beta=0.6, bias=2.0))
    channels = shape[1]
    sums = np.stack(
        [
            (x[:, max(0, c - (size - 1) // 2) : min(channels, c + size // 2 + 1)].astype("float64") ** 2).sum(
                1
            )
            for c in range(channels)
        ],
        axis=1,
    )
    found = tilewright.VirtualMachine(executable)["main"](tilewright.tensor(x)).numpy()
    np.testing.assert_allclose(found, x / (2.0 + 0.5 / size * sums) ** 0.6, rtol=1e-5)


def test_what_follows_the_window_is_one_kernel_with_it(tmp_path):
    executable = tilewright.compile(model(tmp_path, (1, 96, 9, 9), size=5))
    assert any(name.startswith("fused_avg_pool2d_multiply_add_power_divide") for name in executable.schedules)


def test_more_dimensions(tmp_path):
    with pytest.raises(tilewright.Unsupported) as refused:
        model(tmp_path, (1, 2, 2, 2, 2, 2), size=3)
    assert "input 0 has 6 dimensions, expected at most 5" in str(refused.value)
