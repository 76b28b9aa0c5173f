"""Cast and CastLike to floats of 8 and 4 bits: all numbers, the middles between them, and what is beyond them."""

import ml_dtypes
import numpy as np
import onnx
import pytest
from onnx_testing import parsed, run_model, run_node

import tilewright

SMALL = ["float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float4_e2m1fn"]


def numbers_around(known):
    """All numbers of a small float, the middles between them, their neighbours, and what has no number, as float32."""
    info = ml_dtypes.finfo(known)
    codes = np.arange(2**info.bits).astype("uint8").view(known).astype("float32")
    codes = np.sort(codes[np.isfinite(codes)])
    far = np.float32([float(info.max) * 1.0625, float(info.max) * 1.3, 1e6, 1e30, np.inf, np.nan, 0.0, 1e-30])
    found = np.concatenate([codes, (codes[1:] + codes[:-1]) / 2, far, -far])
    near = [np.nextafter(found, np.float32(side)) for side in (np.inf, -np.inf)]
    return np.concatenate([found, *near])


def require_same_bits(found, right):
    """The same bits, but a NaN for a NaN."""
    assert (found.dtype, found.shape) == (right.dtype, right.shape)
    is_nan = np.isnan(right.astype("float32"))
    np.testing.assert_array_equal(np.isnan(found.astype("float32")), is_nan)
    np.testing.assert_array_equal(found.view("uint8")[~is_nan], right.view("uint8")[~is_nan])


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("saturate", [0, 1])
@pytest.mark.parametrize("source", ["float32", "float16", "bfloat16", "float64"])
@pytest.mark.parametrize("kind", SMALL)
def test_casts_to_small_floats(kind, source, saturate):
    known = np.dtype(getattr(ml_dtypes, kind))
    x = numbers_around(known).astype(np.dtype(getattr(ml_dtypes, source, source)))
    to = onnx.helper.np_dtype_to_tensor_dtype(known)
    right = x.astype("float32")
    right = np.where(
        np.isnan(right), np.float32(np.nan), right
    )  # ml_dtypes keeps the sign of NaN as that of a 0
    if saturate and kind != "float4_e2m1fn":
        largest = float(ml_dtypes.finfo(known).max)
        right = np.clip(right, -largest, largest)
    found = run_node("Cast", [x], opset=25, to=to, saturate=saturate)
    require_same_bits(found, right.astype(known))
    back = run_node("Cast", [found], opset=25, to=onnx.TensorProto.FLOAT)
    np.testing.assert_array_equal(back, found.astype("float32"))


@pytest.mark.parametrize("source", ["int8", "uint8", "int16", "int32", "int64", "uint64", "bool"])
@pytest.mark.parametrize("kind", SMALL)
def test_integers_saturate_as_small_floats(kind, source):
    known = np.dtype(getattr(ml_dtypes, kind))
    x = np.array([0, 1, 2, 3, 17, 100, 127])
    if source[-2:] in ("16", "32", "64"):
        x = np.append(x, [500, 30000, 32767])
    if source[-2:] in ("32", "64"):
        x = np.append(x, [70000, 2**31 - 1])
    x = x.astype(source)
    largest = float(ml_dtypes.finfo(known).max)
    right = np.clip(x.astype("float64"), -largest, largest).astype("float32").astype(known)
    found = run_node("CastLike", [x, np.zeros(1, known)], opset=25)
    require_same_bits(found, right)


POWERS = ml_dtypes.float8_e8m0fnu


def power_of_two(x, mode):
    """The exponent of the power of two that `mode` makes of a number above 0."""
    fraction, power = np.frexp(np.float64(x))  # x = fraction * 2**power, 0.5 <= fraction < 1
    is_power = fraction == 0.5
    goes_up = {"up": ~is_power, "down": np.zeros_like(is_power), "nearest": fraction >= 0.75}[mode]
    return power - 1 + goes_up


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("saturate", [0, 1])
@pytest.mark.parametrize("mode", ["up", "down", "nearest"])
@pytest.mark.parametrize("source", ["float32", "float64", "float16", "bfloat16"])
def test_casts_to_powers_of_two(source, mode, saturate):
    powers = np.arange(255).astype("uint8").view(POWERS).astype("float64")
    x = np.concatenate([powers, powers * 1.5, powers * 1.25, powers * 1.75, [2.0**-130, 1e300]])
    x = np.concatenate([x, np.nextafter(x, np.inf), np.nextafter(x, 0)])
    x = x.astype(np.dtype(getattr(ml_dtypes, source, source)))
    x = x[x > 0]  # that are no numbers of float16
    wide = x.astype("float64")
    bits = power_of_two(np.where(np.isfinite(wide), wide, 1.0), mode) + 127
    right = np.clip(bits, 0, 254) if saturate else np.where((wide < 2.0**-127) | (bits > 254), 255, bits)
    right = np.where(np.isinf(wide), 254 if saturate else 255, right)
    to = onnx.TensorProto.FLOAT8E8M0
    found = run_node("Cast", [x], opset=25, to=to, saturate=saturate, round_mode=mode)
    np.testing.assert_array_equal(found.view("uint8"), right.astype("uint8"))


def test_what_is_no_power_of_two():
    x = np.float32([0, np.inf, np.nan, 2.0**-140])
    to = onnx.TensorProto.FLOAT8E8M0
    found = run_node("Cast", [x], opset=25, to=to)
    np.testing.assert_array_equal(found.view("uint8"), [0, 254, 255, 0])
    found = run_node("Cast", [x], opset=25, to=to, saturate=0, round_mode="nearest")
    np.testing.assert_array_equal(found.view("uint8"), [255, 255, 255, 255])
    found = run_node("CastLike", [np.int32([1, 3, 1025]), np.ones(1, POWERS)], opset=25)
    np.testing.assert_array_equal(found.view("uint8"), [127, 129, 138])
    with pytest.raises(tilewright.UserError) as refused:
        run_node("Cast", [x], opset=25, to=to, round_mode="even")
    assert 'round_mode is "even"' in str(refused.value)


def test_powers_of_two_as_other_numbers():
    x = np.arange(256).astype("uint8").view(POWERS)
    found = run_node("Cast", [x], opset=25, to=onnx.TensorProto.FLOAT)
    np.testing.assert_array_equal(found, x.astype("float32"))
    found = run_node("Cast", [x], opset=25, to=onnx.TensorProto.FLOAT16)
    with np.errstate(over="ignore"):
        right = x.astype("float32").astype("float16")
    np.testing.assert_array_equal(found, right)


@pytest.mark.parametrize("shape", [(1,), (5, 7), (127,), (0, 3)])
@pytest.mark.parametrize("kind", [*SMALL, "float8_e8m0fnu"])
def test_there_and_back_with_open_extents(kind, shape):
    """One kernel computes both casts: the numbers between are rounded still."""
    known = np.dtype(getattr(ml_dtypes, kind))
    x = np.random.default_rng(0).uniform(0.3, 5, shape).astype("float32")
    to = onnx.TensorProto.DataType.Name(onnx.helper.np_dtype_to_tensor_dtype(known))
    dims = ", ".join("nmk"[: len(shape)])
    model = parsed(f"""
g (float[{dims}] x) => (float[{dims}] y) {{
  small = Cast<to = {onnx.TensorProto.DataType.Value(to)}, round_mode = "nearest">(x)
  wide = Cast<to = 1>(small)
  y = Add(wide, x)
}}""", opset=25)  # fmt: skip
    (found,) = run_model(model, [x])
    np.testing.assert_array_equal(found, x.astype(known).astype("float32") + x)
