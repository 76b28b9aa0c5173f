"""image.resize3d in all methods and modes, against onnx, torch and sums written out; the modes of resize2d that torch lacks."""

import itertools

import numpy as np
import pytest
from op_testing import build, check_op

import tilewright
from tilewright import relax

RNG = np.random.default_rng(11)
VOLUME, PICTURE = (RNG.standard_normal(shape, dtype="float32") for shape in [(1, 2, 3, 4, 5), (1, 2, 4, 5)])
METHODS = {"nearest_neighbor": "nearest", "linear": "linear", "cubic": "cubic"}
MODES = ["half_pixel", "half_pixel_symmetric", "align_corners", "asymmetric", "pytorch_half_pixel"]
ROUNDINGS = ["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"]


def by_onnx(x, size, attrs, roi=()):
    onnx = pytest.importorskip("onnx")
    evaluator = pytest.importorskip("onnx.reference").ReferenceEvaluator
    inputs = {"x": x, "sizes": np.array([*x.shape[:2], *size])}
    if roi:
        half = len(roi) // 2
        inputs["roi"] = np.array([0, 0, *roi[:half], 1, 1, *roi[half:]], "float32")
    node = onnx.helper.make_node("Resize", ["x", "roi" if roi else "", "", "sizes"], ["y"], **attrs)
    return evaluator(node).run(None, inputs)[0].astype("float32")


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("mode", MODES)
def test_volumes_as_onnx(mode, method):
    attrs = {
        "method": method,
        "coordinate_transformation_mode": mode,
        "rounding_method": "round_prefer_floor",
    }
    named = {"mode": METHODS[method], "coordinate_transformation_mode": mode}
    # of one row onnx's reference takes a place outside, against its own text: onnxruntime takes the first
    is_other = mode == "pytorch_half_pixel" and method == "cubic"
    for size in [(2, 7, 3), (5, 2 if is_other else 1, 9)]:
        wanted = by_onnx(VOLUME, size, named)
        check_op("image.resize3d", [VOLUME, size], attrs, wanted, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("method", ["linear", "cubic"])
@pytest.mark.parametrize("size", [(9, 7), (3, 127), (1, 3), (5, 0)])
def test_pictures_of_halves(method, size):
    """Rows are made once for all rows of the result where there are not far fewer of these."""
    picture = RNG.standard_normal((2, 3, 11, 5)).astype("float16")
    named = {"mode": method, "coordinate_transformation_mode": "half_pixel"}
    if 0 in size:
        wanted = np.zeros((2, 3, *size), "float16")
    else:
        wanted = by_onnx(picture.astype("float32"), size, named).astype("float16")
    attrs = {"method": method, "layout": "NCHW", "coordinate_transformation_mode": "half_pixel"}
    check_op("image.resize2d", [picture, size], attrs, wanted, rtol=2e-3, atol=2e-3)


def test_one_row_of_pytorch_half_pixel_is_the_first():
    attrs = {"method": "cubic", "coordinate_transformation_mode": "pytorch_half_pixel"}
    column = VOLUME[..., 2:3].copy()
    check_op("image.resize3d", [column, (1, 1, 1)], attrs, column[:, :, :1, :1], rtol=1e-5)


@pytest.mark.parametrize("rounding", ROUNDINGS)
def test_roundings_as_onnx(rounding):
    attrs = {"method": "nearest_neighbor", "rounding_method": rounding}
    wanted = by_onnx(VOLUME, (5, 7, 3), {"mode": "nearest", "nearest_mode": rounding})
    check_op("image.resize3d", [VOLUME, (5, 7, 3)], attrs, wanted)


@pytest.mark.parametrize(
    ("name", "x", "size"), [("resize2d", PICTURE, (7, 3)), ("resize3d", VOLUME, (5, 7, 3))]
)
def test_cubic_of_what_is_inside(name, x, size):
    attrs = {"method": "cubic", "cubic_exclude": True, "cubic_alpha": -0.5}
    wanted = by_onnx(x, size, {"mode": "cubic", "exclude_outside": 1, "cubic_coeff_a": -0.5})
    check_op(f"image.{name}", [x, size], attrs, wanted, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("method", ["nearest_neighbor", "linear"])
@pytest.mark.parametrize(
    ("name", "x", "size", "roi"),
    [
        ("resize2d", PICTURE, (7, 3), [0.25, -0.25, 0.75, 1.25]),
        ("resize3d", VOLUME, (5, 7, 3), [0.125, 0.25, -0.25, 1, 0.75, 1.25]),
        ("resize3d", VOLUME, (1, 7, 3), [0.25, 0.25, 0, 0.5, 0.75, 1]),
    ],
)
def test_crops_as_onnx(name, x, size, roi, method):
    mode = "tf_crop_and_resize"
    named = {"mode": METHODS[method], "coordinate_transformation_mode": mode, "extrapolation_value": 9.0}
    attrs = {"method": method, "coordinate_transformation_mode": mode, "extrapolation_value": 9.0, "roi": roi}
    attrs["rounding_method"] = "round_prefer_floor"
    check_op(f"image.{name}", [x, size], attrs, by_onnx(x, size, named, roi), rtol=1e-3, atol=1e-4)


def middles(to, extent):
    """tf_half_pixel_for_nn: an element of the result lies where its middle does."""
    return np.minimum(np.floor((np.arange(to) + 0.5) * extent / to).astype(int), extent - 1)


@pytest.mark.parametrize(
    ("name", "x", "size"), [("resize2d", PICTURE, (7, 3)), ("resize3d", VOLUME, (5, 7, 3))]
)
def test_nearest_of_middles(name, x, size):
    at = np.ix_(
        range(1), range(2), *(middles(to, extent) for to, extent in zip(size, x.shape[2:], strict=True))
    )
    attrs = {"method": "nearest_neighbor", "rounding_method": "floor"}
    check_op(
        f"image.{name}", [x, size], {**attrs, "coordinate_transformation_mode": "tf_half_pixel_for_nn"}, x[at]
    )


@pytest.mark.parametrize("size", [(2, 9, 3), (6, 8, 10), (1, 1, 1)])
def test_volumes_as_torch(size):
    torch = pytest.importorskip("torch")
    x = RNG.standard_normal((2, 3, 3, 7, 5), dtype="float32")
    for mode, is_aligned in [("half_pixel", False), ("align_corners", True)]:
        wanted = torch.nn.functional.interpolate(
            torch.tensor(x), size, mode="trilinear", align_corners=is_aligned
        )
        attrs = {"coordinate_transformation_mode": mode}
        check_op("image.resize3d", [x, size], attrs, wanted.numpy(), rtol=1e-4, atol=1e-5)
        last, wanted_last = (
            np.ascontiguousarray(each.transpose(0, 2, 3, 4, 1)) for each in (x, wanted.numpy())
        )
        check_op(
            "image.resize3d", [last, size], {**attrs, "layout": "NDHWC"}, wanted_last, rtol=1e-4, atol=1e-5
        )


def test_dtypes_of_the_result():
    x = RNG.integers(-100, 100, (1, 1, 2, 3, 2)).astype("int8")
    wide = np.zeros((1, 1, 2, 3, 3))
    for z, y, i in itertools.product(range(2), range(3), range(3)):  # corners at 0, the middle, 1
        wide[0, 0, z, y, i] = x[0, 0, z, y, :].astype(int).sum() / 2 if i == 1 else x[0, 0, z, y, i // 2]
    attrs = {"coordinate_transformation_mode": "align_corners"}
    check_op("image.resize3d", [x, (2, 3, 3)], attrs, np.round(wide).astype("int8"))
    check_op("image.resize3d", [x, (2, 3, 3)], {**attrs, "out_dtype": "float32"}, wide.astype("float32"))


@pytest.mark.parametrize("shape", [(3, 4, 5), (7,), (), (2, 0, 3)])
@pytest.mark.parametrize("dtype", ["float32", "int8", "bool"])
def test_size(shape, dtype):
    x = np.zeros(shape, dtype)
    check_op("size", [x], {}, np.array(x.size))
    check_op("size", [x], {}, np.array(x.size), symbols=(3, 5, 7))


def test_volumes_of_an_onnx_model():
    onnx = pytest.importorskip("onnx")
    wanted = by_onnx(VOLUME, (6, 4, 5), {"mode": "linear"})
    node = onnx.helper.make_node("Resize", ["x", "", "", "sizes"], ["y"], mode="linear")
    x = onnx.helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, VOLUME.shape)
    sizes = onnx.numpy_helper.from_array(np.array([1, 2, 6, 4, 5]), "sizes")
    graph = onnx.helper.make_graph([node], "g", [x], [onnx.ValueInfoProto(name="y")], [sizes])
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 18)])
    main = tilewright.VirtualMachine(tilewright.compile(model))["main"]
    np.testing.assert_allclose(main(tilewright.tensor(VOLUME)).numpy(), wanted, rtol=1e-4, atol=1e-5)


def test_size_of_a_known_shape_is_a_constant():
    folded = relax.transform.fold_constant()(build("size", [VOLUME], {}))
    assert "R.size" not in folded.script() and "120" in folded.script()
    assert "R.size" in relax.transform.fold_constant()(build("size", [VOLUME], {}, symbols=(5,))).script()
