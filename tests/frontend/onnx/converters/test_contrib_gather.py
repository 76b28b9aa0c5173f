"""GatherBlockQuantized of com.microsoft against onnxruntime."""

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx_peer import by_onnxruntime, by_us, check, refusal

RNG = np.random.default_rng(0)
INDICES = np.array([[0, 5, 2], [6, 6, 1]])


def packed(numbers, bits):
    """Bytes with the first number in the lowest bits, the last dimension padded."""
    per = 8 // bits
    missing = -numbers.shape[-1] % per
    wide = np.concatenate([numbers, np.zeros((*numbers.shape[:-1], missing), numbers.dtype)], -1)
    return sum(wide[..., n::per] << bits * n for n in range(per)).astype("uint8")


def table(bits, rows=7, columns=80, block=32):
    numbers = RNG.integers(0, 2**bits, (rows, columns))
    blocks = (columns - 1) // block + 1
    scales = RNG.uniform(0.1, 1, (rows, blocks)).astype("float32")
    zeros = RNG.integers(0, 2**bits, (rows, blocks))
    return packed(numbers, bits), scales, packed(zeros, bits)


def run(inputs, **attrs):
    constants = [n for n in (0, 2, 3) if n < len(inputs)]
    return check("GatherBlockQuantized", inputs, domain="com.microsoft", constants=constants, **attrs)


@pytest.mark.parametrize("bits", [2, 4, 8])
@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_bytes(bits, dtype):
    data, scales, zeros = table(bits)
    run([data, INDICES.astype(dtype), scales], bits=bits, block_size=32)
    run([data, INDICES.astype(dtype), scales, zeros], bits=bits, block_size=32)
    run([data, np.array(3, dtype), scales, zeros], bits=bits, block_size=32)
    run([data, np.zeros((0, 2), dtype), scales, zeros], bits=bits, block_size=32)


def test_open_extents():
    data, scales, zeros = table(4)
    run([data, INDICES, scales, zeros], bits=4, block_size=32, shapes={1: ["b", "s"]})


def test_an_index_outside_gives_zeros():
    data, scales, zeros = table(4)
    found = run([data, np.array([-1, 7, -8, 3]), scales, zeros], bits=4, block_size=32)[0]
    assert (found[1] == 0).all() and (found[2] == 0).all() and (found[0] != 0).any()


@pytest.mark.parametrize("kind", [TensorProto.INT4, TensorProto.UINT4])
@pytest.mark.parametrize("has_zeros", [False, True])
def test_elements_of_four_bits(kind, has_zeros):
    """Also another axis than the first is gathered."""
    low = -8 if kind == TensorProto.INT4 else 0
    numbers, zeros = RNG.integers(low, low + 16, (4, 5, 32)), RNG.integers(low, low + 16, (4, 5, 2))
    scales = RNG.uniform(0.1, 1, (4, 5, 2)).astype("float32")
    names = ["data", "i", "scales"] + ["zeros"] * has_zeros
    for axis, at in [(0, np.array([3, 0])), (1, np.array([[4], [1]]))]:
        node = helper.make_node(
            "GatherBlockQuantized",
            names,
            ["y"],
            domain="com.microsoft",
            gather_axis=axis,
            quantize_axis=2,
            block_size=16,
        )
        graph = helper.make_graph(
            [node],
            "g",
            [helper.make_tensor_value_info("i", TensorProto.INT64, at.shape)],
            [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
            [
                helper.make_tensor("data", kind, numbers.shape, numbers.ravel()),
                numpy_helper.from_array(scales, "scales"),
                helper.make_tensor("zeros", kind, zeros.shape, zeros.ravel()),
            ][: 2 + has_zeros],
        )
        imports = [helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)]
        model = helper.make_model(graph, opset_imports=imports, ir_version=10)
        np.testing.assert_allclose(by_us(model, {"i": at})[0], by_onnxruntime(model, {"i": at})[0], rtol=1e-5)


def test_half_precision():
    data, scales, zeros = table(4)
    run([data, INDICES, scales.astype("float16"), zeros], bits=4, block_size=32, kinds={"y0": 10}, rtol=1e-2)


def test_refusals():
    data, scales, zeros = table(4)
    attrs = {"domain": "com.microsoft", "constants": [0, 2]}
    for inputs, more, text in [
        ([data, INDICES, scales], {"bits": 3}, 'attribute "bits" is 3, expected 2, 4 or 8'),
        (
            [data, INDICES, scales],
            {"block_size": 24},
            "block_size is 24, expected a power of two, 16 or more",
        ),
        (
            [data.astype("float32"), INDICES, scales],
            {"block_size": 32},
            "data is float32, supported are integers of 2, 4 and 8 bits",
        ),
        (
            [data, INDICES, scales],
            {"block_size": 32, "constants": [2], "shapes": {0: ["n", 40]}},
            "the extents of data are known only at run time",
        ),
        ([np.array(1, "uint8"), INDICES, scales], {}, "input 0 is a scalar, expected rows"),
        (
            [data, INDICES, scales, zeros[:, :1]],
            {"block_size": 32, "constants": [0, 2, 3]},
            "input 3 has rows of 1 bytes, which do not hold 3 values of 4 bits",
        ),
    ]:
        assert text in refusal("GatherBlockQuantized", inputs, **(attrs | more))
