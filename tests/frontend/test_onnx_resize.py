"""Crops that Resize makes, tf_crop_and_resize, against onnx's own reference."""

import numpy as np
import pytest

import tilewright
from tilewright.frontend.onnx import from_onnx

onnx = pytest.importorskip("onnx")
from onnx import TensorProto, helper  # noqa: E402
from onnx.reference import ReferenceEvaluator  # noqa: E402

RNG = np.random.default_rng(5)
CROP = [0.25, -0.25, 0.75, 1.25]  # of height and width: begins, ends; the columns begin and end outside
WHOLE = [0, 0, *CROP[:2], 1, 1, *CROP[2:]]


def check(tmp_path, x, wanted, attrs, roi, opset=18):
    """Resize of x to `wanted`, {"sizes" or "scales": numbers}, gives what the reference gives."""
    ((name, numbers),) = wanted.items()
    values = np.array(numbers, "float32" if name == "scales" else "int64")
    inputs = ["x", "roi", "s"] if name == "scales" else ["x", "roi", "", "s"]
    node = helper.make_node(
        "Resize", inputs, ["y"], coordinate_transformation_mode="tf_crop_and_resize", **attrs
    )
    weights = {"roi": np.array(roi, "float32"), "s": values}
    graph = helper.make_graph(
        [node],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, x.shape)],
        [onnx.ValueInfoProto(name="y")],
        [onnx.numpy_helper.from_array(value, name) for name, value in weights.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
    path = tmp_path / "model.onnx"
    path.write_bytes(model.SerializeToString())
    (expected,) = ReferenceEvaluator(model).run(None, {"x": x})
    main = tilewright.VirtualMachine(tilewright.compile(from_onnx(str(path))))["main"]
    np.testing.assert_allclose(main(tilewright.tensor(x)).numpy(), expected, rtol=1e-3, atol=1e-4)


def picture(*shape):
    return RNG.standard_normal(shape, dtype="float32")


@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
def test_pictures(tmp_path, mode):
    attrs = {"mode": mode, "extrapolation_value": 9.0}
    check(tmp_path, picture(2, 3, 5, 7), {"sizes": [2, 3, 7, 3]}, attrs, WHOLE, opset=13)


def test_one_row(tmp_path):
    check(tmp_path, picture(1, 2, 5, 7), {"sizes": [1, 2, 1, 9]}, {"mode": "linear"}, WHOLE)


def test_the_size_of_the_picture(tmp_path):
    check(tmp_path, picture(1, 2, 5, 7), {"sizes": [1, 2, 5, 7]}, {"mode": "linear"}, WHOLE)


def test_all_of_a_picture_in_its_size_is_the_picture(tmp_path):
    check(tmp_path, picture(1, 2, 5, 7), {"sizes": [1, 2, 5, 7]}, {"mode": "linear"}, [0] * 4 + [1] * 4)


def test_scales_are_those_of_the_whole_picture(tmp_path):
    check(tmp_path, picture(1, 2, 6, 8), {"scales": [1, 1, 2, 0.5]}, {"mode": "linear"}, WHOLE)


def test_axes_in_another_order(tmp_path):
    attrs = {"mode": "linear", "axes": [3, 2]}
    check(tmp_path, picture(1, 2, 5, 7), {"sizes": [4, 9]}, attrs, [0.125, 0.25, 0.5, 1.25])


def test_volumes(tmp_path):
    roi = [0, 0, 0.125, 0.25, -0.25, 1, 1, 1, 0.75, 1.25]
    check(tmp_path, picture(1, 2, 3, 5, 7), {"sizes": [1, 2, 4, 3, 5]}, {"mode": "linear"}, roi)
