"""Resize and Upsample of any rank and any open extents, in all modes, against onnx's own reference and onnxruntime."""

import itertools

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
F32 = {"rtol": 1e-3, "atol": 1e-4}


def picture(*shape):
    return RNG.standard_normal(shape, dtype="float32")


def resize_model(shape, wanted, attrs, roi=None, opset=18, dtype="float32"):
    """Resize of x, whose extents are `shape`, to `wanted`, {"sizes" or "scales": numbers}."""
    ((name, numbers),) = wanted.items()
    weights = {"s": np.array(numbers, "float32" if name == "scales" else "int64")}
    if roi is not None:
        weights["roi"] = np.array(roi, "float32")
    region = "" if roi is None else "roi"
    inputs = {10: ["x", "s"]}.get(opset, ["x", region, "s"] if name == "scales" else ["x", region, "", "s"])
    element = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    graph = helper.make_graph(
        [helper.make_node("Resize", inputs, ["y"], **attrs)],
        "g",
        [helper.make_tensor_value_info("x", element, shape)],
        [helper.make_tensor_value_info("y", element, None)],
        [onnx.numpy_helper.from_array(value, key) for key, value in weights.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)


def run(model, *arrays):
    return tilewright.VirtualMachine(tilewright.compile(from_onnx(model)))["main"](*arrays).numpy()


def by_reference(model, x):
    return ReferenceEvaluator(model).run(None, {"x": x})[0]


def by_onnxruntime(model, x):
    runtime = pytest.importorskip("onnxruntime")
    options = runtime.SessionOptions()
    options.log_severity_level = 3
    session = runtime.InferenceSession(model.SerializeToString(), options, ["CPUExecutionProvider"])
    return session.run(None, {"x": x})[0]


def open_shape(ndim):
    return [f"d{n}" for n in range(ndim)]


def check(x, wanted, attrs, roi=None, opset=18, oracle=by_reference, open_sizes=True, **tolerance):
    """With fixed and with open extents the numbers are those of the oracle."""
    fixed = resize_model(x.shape, wanted, attrs, roi, opset, x.dtype)
    expected = oracle(fixed, x)
    shapes = [fixed]
    if open_sizes:
        shapes.append(resize_model(open_shape(x.ndim), wanted, attrs, roi, opset, x.dtype))
    for model in shapes:
        result = run(model, x)
        assert (result.shape, result.dtype) == (expected.shape, x.dtype)
        np.testing.assert_allclose(result.astype("float64"), expected.astype("float64"), **(tolerance or F32))


# ---- crops


@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
def test_crops(mode):
    attrs = {
        "mode": mode,
        "extrapolation_value": 9.0,
        "coordinate_transformation_mode": "tf_crop_and_resize",
    }
    check(picture(2, 3, 5, 7), {"sizes": [2, 3, 7, 3]}, attrs, WHOLE, opset=13)


CROPPED = {"mode": "linear", "coordinate_transformation_mode": "tf_crop_and_resize"}


@pytest.mark.parametrize(
    ("shape", "wanted", "roi"),
    [
        ((1, 2, 5, 7), {"sizes": [1, 2, 1, 9]}, WHOLE),
        ((1, 2, 5, 7), {"sizes": [1, 2, 5, 7]}, WHOLE),
        ((1, 2, 5, 7), {"sizes": [1, 2, 5, 7]}, [0] * 4 + [1] * 4),
        ((1, 2, 6, 8), {"scales": [1, 1, 2, 0.5]}, WHOLE),
        ((1, 2, 3, 5, 7), {"sizes": [1, 2, 4, 3, 5]}, [0, 0, 0.125, 0.25, -0.25, 1, 1, 1, 0.75, 1.25]),
        ((6, 5), {"sizes": [4, 3]}, [0.25, 0, 1, 0.5]),
        ((1, 4, 7), {"sizes": [1, 3, 9]}, [0, 0.5, 0.75, 1, 0, 0]),  # backwards
    ],
    ids=str,
)
def test_crops_of_shapes(shape, wanted, roi):
    check(picture(*shape), wanted, CROPPED, roi)


def test_crops_of_axes_in_another_order():
    check(picture(1, 2, 5, 7), {"sizes": [4, 9]}, {**CROPPED, "axes": [3, 2]}, [0.125, 0.25, 0.5, 1.25])


# ---- modes

MODES = [
    "half_pixel",
    "half_pixel_symmetric",
    "align_corners",
    "asymmetric",
    "pytorch_half_pixel",
]
# of a scale that makes no whole number of elements the reference divides by that number less 1, against the text
ORACLES = {"align_corners": by_onnxruntime}
ROUNDINGS = ["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"]


@pytest.mark.parametrize("rounding", ROUNDINGS)
@pytest.mark.parametrize("mode", MODES)
def test_nearest(mode, rounding):
    attrs = {"mode": "nearest", "coordinate_transformation_mode": mode, "nearest_mode": rounding}
    x = picture(1, 2, 5, 6)
    for wanted in [
        {"scales": [1, 1, 2, 3]},
        {"scales": [1, 1, 0.5, 1.5]},
        {"sizes": [1, 2, 7, 3]},
        {"sizes": [1, 2, 8, 12]},
    ]:
        check(x, wanted, attrs, rtol=0, atol=0, oracle=ORACLES.get(mode, by_reference))


@pytest.mark.parametrize("method", ["linear", "cubic"])
@pytest.mark.parametrize("mode", MODES)
def test_mixed(mode, method):
    attrs = {"mode": method, "coordinate_transformation_mode": mode}
    x = picture(2, 3, 5, 4)
    for wanted in [
        {"scales": [1, 1, 2, 1.3]},
        {"scales": [1, 1, 0.6, 0.8]},
        {"sizes": [2, 3, 7, 3]},
    ]:
        check(x, wanted, attrs, oracle=ORACLES.get(mode, by_reference))


@pytest.mark.parametrize("method", ["nearest", "linear", "cubic"])
@pytest.mark.parametrize(
    ("shape", "scales"),
    [
        ((7,), [1.5]),
        ((5, 7), [2, 0.8]),
        ((2, 3, 5), [1, 1, 2]),
        ((2, 3, 5), [2, 3, 1]),
        ((2, 3, 4, 5), [1, 2, 1, 1.2]),
        ((1, 2, 3, 3, 4), [1, 1, 2, 1.5, 0.5]),
    ],
    ids=str,
)
def test_ranks(shape, scales, method):
    check(picture(*shape), {"scales": scales}, {"mode": method})


def test_all_five_dimensions():
    check(picture(2, 3, 2, 3, 2), {"scales": [1.5, 2, 1.5, 2, 1.5]}, {"mode": "linear"})


@pytest.mark.parametrize("method", ["linear", "cubic"])
def test_127_elements(method):
    check(picture(1, 127), {"scales": [1, 0.37]}, {"mode": method})
    check(picture(1, 127), {"sizes": [1, 389]}, {"mode": method})


def test_cubic_of_what_is_inside():
    check(
        picture(1, 2, 5, 7),
        {"scales": [1, 1, 2, 0.6]},
        {"mode": "cubic", "exclude_outside": 1, "cubic_coeff_a": -0.5},
    )


@pytest.mark.parametrize("opset", [10, 11, 13, 19])
def test_opsets(opset):
    x = picture(1, 2, 5, 7)
    attrs = {"mode": "nearest"}
    check(x, {"scales": [1, 1, 2, 2]}, attrs, [] if opset == 11 else None, opset, by_onnxruntime)


def test_middles_of_elements():
    """tf_half_pixel_for_nn, of opset 11 only: an element lies where its middle does."""
    attrs = {
        "mode": "nearest",
        "coordinate_transformation_mode": "tf_half_pixel_for_nn",
        "nearest_mode": "floor",
    }
    x = picture(1, 1, 5, 7)
    at = [
        np.minimum(np.floor((np.arange(to) + 0.5) * n / to).astype(int), n - 1) for to, n in ((8, 5), (3, 7))
    ]
    expected = x[:, :, at[0]][..., at[1]]
    for shape in (x.shape, open_shape(4)):
        result = run(resize_model(shape, {"scales": [1, 1, 8 / 5, 3 / 7]}, attrs, roi=[], opset=11), x)
        np.testing.assert_array_equal(result, expected)


# ---- ties: places half way between two elements are never rounded to the wrong one


@pytest.mark.parametrize(("extent", "size"), [(5, 3), (6, 4), (10, 4), (7, 14), (9, 6), (15, 25), (127, 254)])
@pytest.mark.parametrize("rounding", ROUNDINGS)
@pytest.mark.parametrize("mode", ["half_pixel", "asymmetric", "align_corners"])
def test_ties(mode, rounding, extent, size):
    from fractions import Fraction

    floor = {
        "floor": lambda p: p.__floor__(),
        "ceil": lambda p: p.__ceil__(),
        "round_prefer_floor": lambda p: (p - Fraction(1, 2)).__ceil__(),
        "round_prefer_ceil": lambda p: (p + Fraction(1, 2)).__floor__(),
    }[rounding]
    step = Fraction(extent, size)
    places = {
        "half_pixel": lambda i: (i + Fraction(1, 2)) * step - Fraction(1, 2),
        "asymmetric": lambda i: i * step,
        "align_corners": lambda i: i * Fraction(extent - 1, size - 1),
    }[mode]
    expected = np.array([min(max(floor(places(i)), 0), extent - 1) for i in range(size)], "float32")
    attrs = {"mode": "nearest", "coordinate_transformation_mode": mode, "nearest_mode": rounding}
    x = np.arange(extent, dtype="float32")
    scale = np.float32(size / extent)
    for shape, wanted in itertools.product([[extent], ["n"]], [{"sizes": [size]}, {"scales": [scale]}]):
        np.testing.assert_array_equal(run(resize_model(shape, wanted, attrs), x), expected)


def test_scales_that_are_no_binary_numbers():
    """0.7 of 10 elements are 7, and 0.6f of 5 are 3, although 0.7f * 10 is less than 7 in float64."""
    for extent, scale, size in [(10, 0.7, 7), (5, 0.6, 3), (30, 0.1, 3), (3, 1 / 3, 1), (7, 0.7, 4)]:
        for shape in ([extent], ["n"]):
            assert run(resize_model(shape, {"scales": [scale]}, {}), picture(extent)).shape == (size,)


# ---- smoothing


@pytest.mark.parametrize("method", ["linear", "cubic"])
@pytest.mark.parametrize(
    ("shape", "wanted"),
    [
        ((1, 1, 7, 9), {"scales": [1, 1, 0.6, 0.4]}),
        ((2, 3, 9, 5), {"sizes": [2, 3, 2, 7]}),
        ((13,), {"sizes": [4]}),
    ],
    ids=str,
)
def test_antialias(shape, wanted, method):
    check(picture(*shape), wanted, {"mode": method, "antialias": 1})


def test_antialias_with_weights_inside_is_what_torch_computes():
    functional = pytest.importorskip("torch").nn.functional
    import torch

    x = picture(1, 3, 11, 14)
    for method, name, a in [("linear", "bilinear", -0.75), ("cubic", "bicubic", -0.5)]:
        expected = functional.interpolate(torch.tensor(x), (4, 5), mode=name, antialias=True).numpy()
        attrs = {"mode": method, "antialias": 1, "exclude_outside": 1, "cubic_coeff_a": a}
        for shape in (x.shape, open_shape(4)):
            result = run(resize_model(shape, {"sizes": [1, 3, 4, 5]}, attrs), x)
            np.testing.assert_allclose(result, expected, **F32)


def test_antialias_of_integers_is_rounded_once():
    x = RNG.integers(0, 255, (1, 1, 12, 14)).astype("uint8")
    attrs = {"mode": "linear", "antialias": 1}
    wanted = {"sizes": [1, 1, 5, 6]}
    exact = by_reference(resize_model(x.shape, wanted, attrs), x.astype("float32"))
    result = run(resize_model(x.shape, wanted, attrs, dtype="uint8"), x)
    assert np.abs(result.astype("float32") - exact).max() <= 0.5 + 1e-3


# ---- sizes


@pytest.mark.parametrize("policy", ["not_larger", "not_smaller"])
@pytest.mark.parametrize("method", ["nearest", "linear"])
@pytest.mark.parametrize("size", [[7, 8], [3, 9], [10, 4], [5, 6]])
def test_aspect_ratio_is_kept(policy, method, size):
    attrs = {"mode": method, "keep_aspect_ratio_policy": policy, "axes": [2, 3]}
    check(picture(1, 2, 4, 6), {"sizes": size}, attrs)


def values(**shapes):
    return [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in shapes.items()]


def test_to_the_size_of_another_tensor():
    """As feature pyramids do: batch and channels of x, height and width of z, all open."""
    node = helper.make_node
    nodes = [
        node("Shape", ["x"], ["nc"], start=0, end=2),
        node("Shape", ["z"], ["hw"], start=2, end=4),
        node("Concat", ["nc", "hw"], ["sizes"], axis=0),
        node("Resize", ["x", "", "", "sizes"], ["u"], mode="nearest", nearest_mode="floor"),
        node("Add", ["u", "z"], ["y"]),
    ]
    inputs = values(x=["n", "c", "h", "w"], z=["n", "c", "p", "q"])
    graph = helper.make_graph(nodes, "g", inputs, values(y=None))
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10)
    main = tilewright.VirtualMachine(tilewright.compile(from_onnx(model)))["main"]
    for shape in [(2, 3, 4, 4), (1, 5, 7, 3)]:
        x, z = picture(*shape), picture(*shape[:2], 8, 11)
        (expected,) = ReferenceEvaluator(model).run(None, {"x": x, "z": z})
        np.testing.assert_allclose(main(x, z).numpy(), expected, **F32)


def test_extents_that_stay_are_not_resized():
    module = from_onnx(resize_model(open_shape(4), {"scales": [1, 1, 2, 1]}, {"mode": "linear"}))
    assert "axes=[2]" in module.script()


def test_nothing_to_resize_is_the_input():
    module = from_onnx(resize_model(open_shape(4), {"scales": [1] * 4}, {"mode": "linear"}))
    assert "resize" not in module.script()


def test_one_program_for_many_extents():
    model = resize_model(["n", 3, "h", "w"], {"scales": [1, 1, 2, 2]}, {"mode": "linear"})
    main = tilewright.VirtualMachine(tilewright.compile(from_onnx(model)))["main"]
    for shape in [(1, 3, 5, 7), (4, 3, 1, 1), (2, 3, 7, 2), (0, 3, 4, 4), (1, 3, 0, 5)]:
        x = picture(*shape)
        result = main(x).numpy()
        assert result.shape == (*shape[:2], 2 * shape[2], 2 * shape[3])
        if x.size:
            np.testing.assert_allclose(result, by_onnxruntime(model, x), **F32)


@pytest.mark.parametrize("mode", ["nearest", "linear"])
def test_upsample(mode):
    for opset in (7, 9):
        scales = np.array([1, 1, 2, 1.5], "float32")
        node = helper.make_node("Upsample", ["x"] if opset == 7 else ["x", "s"], ["y"], mode=mode)
        if opset == 7:
            node.attribute.append(helper.make_attribute("scales", scales.tolist()))
        weights = [] if opset == 7 else [onnx.numpy_helper.from_array(scales, "s")]
        graph = helper.make_graph([node], "g", values(x=["n", "c", "h", "w"]), values(y=None), weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)
        x = picture(2, 3, 4, 6)
        np.testing.assert_allclose(run(model, x), by_onnxruntime(model, x), **F32)


@pytest.mark.parametrize("dtype", ["float16", "float64", "int32", "uint8"])
def test_dtypes(dtype):
    x = (picture(1, 2, 5, 7) * 50).astype(dtype)
    wanted = {"scales": [1, 1, 2, 3]}
    check(x, wanted, {"mode": "nearest"}, rtol=0, atol=0)
    exact = by_reference(
        resize_model(x.shape, wanted, {"mode": "linear"}, dtype="float64"), x.astype("float64")
    )
    exact = exact if x.dtype.kind == "f" else np.round(exact)
    for shape in (x.shape, open_shape(4)):
        result = run(resize_model(shape, wanted, {"mode": "linear"}, dtype=dtype), x)
        np.testing.assert_allclose(
            result.astype("float64"),
            exact,
            rtol={"float16": 1e-2, "float64": 1e-12}.get(dtype, 0),
            atol=1 if x.dtype.kind in "iu" else 1e-6,
        )


def test_nothing_cannot_become_something():
    """Sizes are asked for elements when the model runs, too."""
    model = resize_model(["n", "c"], {"sizes": [3, 7]}, {"mode": "linear"})
    main = tilewright.VirtualMachine(tilewright.compile(from_onnx(model)))["main"]
    assert main(picture(2, 5)).numpy().shape == (3, 7)
    with pytest.raises(tilewright.UserError) as error:
        main(picture(2, 0))
    assert str(error.value).split("\n")[0] == (
        'error: main: Resize node that makes "y": image.resize: dimension 1 of data [n = 2, c = 0] is empty, size is 7'
    )
