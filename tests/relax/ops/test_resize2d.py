"""image.resize2d, against torch and onnx."""

import numpy as np
import pytest
from op_images import X, t
from op_testing import check_op

torch = pytest.importorskip("torch")

F = torch.nn.functional
SIZES = [(3, 11), (14, 10), (5, 7)]


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_resize_as_torch(size):
    for method, torch_method in [("linear", "bilinear"), ("cubic", "bicubic")]:
        for mode, align in [("half_pixel", False), ("align_corners", True)]:
            wanted = F.interpolate(t(X), size, mode=torch_method, align_corners=align).numpy()
            attrs = {"method": method, "coordinate_transformation_mode": mode}
            check_op("image.resize2d", [X, size], attrs, wanted, rtol=1e-4, atol=1e-4)
    wanted = F.interpolate(t(X), size, mode="nearest").numpy()
    attrs = {
        "method": "nearest_neighbor",
        "coordinate_transformation_mode": "asymmetric",
        "rounding_method": "floor",
    }
    check_op("image.resize2d", [X, size], attrs, wanted)
    nhwc = np.ascontiguousarray(X.transpose(0, 2, 3, 1))
    check_op("image.resize2d", [nhwc, size], {**attrs, "layout": "NHWC"}, wanted.transpose(0, 2, 3, 1))


MODES = ["half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel", "half_pixel_symmetric"]


@pytest.mark.parametrize("mode", MODES)
def test_resize_as_onnx(mode):
    onnx = pytest.importorskip("onnx")
    evaluator = pytest.importorskip("onnx.reference").ReferenceEvaluator
    for method, name in [("nearest_neighbor", "nearest"), ("linear", "linear"), ("cubic", "cubic")]:
        modes = {"mode": name, "coordinate_transformation_mode": mode, "nearest_mode": "round_prefer_floor"}
        node = onnx.helper.make_node("Resize", ["x", "", "", "sizes"], ["y"], **modes)
        for size in [(3, 11), (14, 10)]:
            (wanted,) = evaluator(node).run(None, {"x": X[:1, :1], "sizes": np.array([1, 1, *size])})
            attrs = {"method": method, "coordinate_transformation_mode": mode}
            attrs["rounding_method"] = "round_prefer_floor"
            check_op(
                "image.resize2d",
                [X[:1, :1].copy(), size],
                attrs,
                wanted.astype("float32"),
                rtol=1e-3,
                atol=1e-4,
            )
