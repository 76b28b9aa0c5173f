"""Weights of 4 and 8 bits in ONNX models: MatMulNBits, and DequantizeLinear before MatMul and Gemm."""

import ml_dtypes
import numpy as np
import pytest
from graph_testing import operators

import tilewright
from tilewright.errors import Unsupported, UserError
from tilewright.frontend.onnx import from_onnx
from tilewright.relax import transform
from tilewright.transform import PassContext

onnx = pytest.importorskip("onnx")
from onnx import helper, numpy_helper  # noqa: E402

DTYPES = {"int4": ml_dtypes.int4, "uint4": ml_dtypes.uint4, "int8": np.int8, "uint8": np.uint8}


def model_of(nodes, x, weights, opset=21):
    """A model of one input x and one output y."""
    value = helper.make_tensor_value_info("x", helper.np_dtype_to_tensor_dtype(x.dtype), x.shape)
    tensors = [numpy_helper.from_array(each, name) for name, each in weights.items()]
    graph = helper.make_graph(nodes, "g", [value], [onnx.ValueInfoProto(name="y")], tensors)
    domains = [helper.make_opsetid("", opset), helper.make_opsetid("com.microsoft", 1)]
    return from_onnx(helper.make_model(graph, opset_imports=domains))


def result_of(module, x):
    """Results of the model with its integers kept, which is asserted."""
    kept = transform.fuse_dequantize_matmul(min_bytes=1)(module)
    assert "R.dequantize_matmul" in operators(kept)
    return what_it_gives(module, x, {"fuse_dequantize_matmul.min_bytes": 1})


def what_it_gives(module, x, config, opt_level=2):
    with PassContext(config=config, opt_level=opt_level):
        main = tilewright.VirtualMachine(tilewright.compile(module))["main"]
    return main(tilewright.tensor(x)).numpy()


def rows(*shape, dtype="float32"):
    return np.random.default_rng(shape).standard_normal(shape).astype(dtype)


def scales(*shape):
    return np.random.default_rng([*shape, 1]).uniform(0.001, 0.02, shape).astype("float32")


def codes(bits, *shape, seed=0):
    return np.random.default_rng([bits, seed, *shape]).integers(0, 2**bits, shape).astype("uint8")


def side_by_side(numbers, bits):
    """Of the last dimension, two to a byte if they have 4 bits."""
    if bits == 8:
        return numbers
    padded = np.pad(numbers, [(0, 0)] * (numbers.ndim - 1) + [(0, numbers.shape[-1] % 2)])
    return padded[..., ::2] | padded[..., 1::2] << 4


def nbits(x, columns, block, bits, zero="none", bias=None, **attributes):
    """A model of MatMulNBits, and what numpy says that it gives."""
    terms = x.shape[-1]
    blocks = -(-terms // block)
    q, s = codes(bits, columns, blocks * block), scales(columns, blocks).astype(x.dtype)
    b = side_by_side(q.reshape(columns, blocks, block), bits)
    points = np.full((columns, blocks), 2 ** (bits - 1), "uint8")
    weights, names = {"b": b, "s": s}, ["x", "b", "s"]
    if zero != "none":
        points = codes(bits, columns, blocks, seed=1)
        weights["z"] = points.astype(x.dtype) if zero == "floats" else side_by_side(points, bits)
        names.append("z")
    if bias is not None:
        weights["c"] = bias
        names += [""] * (5 - len(names)) + ["c"]
    attributes = {"K": terms, "N": columns, "bits": bits, "block_size": block} | attributes
    node = helper.make_node("MatMulNBits", names, ["y"], domain="com.microsoft", **attributes)
    w = (q.astype("float64") - np.repeat(points, block, axis=1)) * np.repeat(s, block, axis=1)
    expected = x.astype("float64") @ w[:, :terms].T + (0 if bias is None else bias)
    return model_of([node], x, weights), expected


@pytest.mark.parametrize("bits", [4, 8])
@pytest.mark.parametrize("zero", ["none", "bytes", "floats"])
@pytest.mark.parametrize(
    ("shape", "columns", "block"),
    [((1, 64), 7, 32), ((3, 127), 33, 16), ((2, 1, 96), 5, 32), ((1, 70), 3, 128)],
)
def test_matmul_nbits(shape, columns, block, zero, bits):
    x = rows(*shape)
    module, expected = nbits(x, columns, block, bits, zero)
    np.testing.assert_allclose(result_of(module, x), expected, rtol=1e-4, atol=1e-4)


def test_matmul_nbits_with_a_bias():
    x = rows(2, 64)
    module, expected = nbits(x, 5, 32, 4, bias=rows(5), accuracy_level=4)
    np.testing.assert_allclose(result_of(module, x), expected, rtol=1e-4, atol=1e-4)


def test_matmul_nbits_of_float16():
    x = rows(2, 64, dtype="float16")
    module, expected = nbits(x, 5, 32, 4, "bytes")
    np.testing.assert_allclose(result_of(module, x), expected, rtol=1e-2, atol=1e-2)


@pytest.mark.parametrize("bits", [4, 8])
@pytest.mark.parametrize("opt_level", [0, 1, 2])
def test_matmul_nbits_of_many_rows_is_one_of_floats(bits, opt_level):
    x = rows(40, 96)
    module, expected = nbits(x, 5, 32, bits, "bytes")
    assert transform.fuse_dequantize_matmul()(module) is module
    np.testing.assert_allclose(what_it_gives(module, x, {}, opt_level), expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("block", [0, 32])
@pytest.mark.parametrize("is_gemm", [False, True])
def test_dequantize_linear(is_gemm, block, dtype):
    """Before a MatMul, and before a Gemm that transposes."""
    x = rows(2, 70)
    q = codes(int(dtype[-1]), 70, 5).view("int8").astype(DTYPES[dtype])
    s = scales(3, 5) if block else scales(5)
    z = np.ones(s.shape).astype(DTYPES[dtype])
    wide, moved = (
        np.repeat(each, block, axis=0)[:70] if block else each for each in (s, z.astype("float64"))
    )
    expected = x @ ((q.astype("float64") - moved) * wide)
    if is_gemm:
        q, s, z = (np.ascontiguousarray(each.T) for each in (q, s, z))
    axis = int(is_gemm) if block else 1 - int(is_gemm)
    attributes = {"axis": axis} | ({"block_size": block} if block else {})
    nodes = [
        helper.make_node("DequantizeLinear", ["q", "s", "z"], ["w"], **attributes),
        helper.make_node("Gemm", ["x", "w", "c"], ["y"], transB=1)
        if is_gemm
        else helper.make_node("MatMul", ["x", "w"], ["y"]),
    ]
    module = model_of(nodes, x, {"q": q, "s": s, "z": z} | ({"c": np.zeros(5, "float32")} if is_gemm else {}))
    np.testing.assert_allclose(result_of(module, x), expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("dtype", DTYPES)
def test_quantized_in_blocks_and_back(dtype):
    """Within half a step, where the numbers reach."""
    x, s = rows(5, 7), np.full((5, 3), 0.7, "float32")
    z = np.full((5, 3), 8 if dtype.startswith("u") else 0).astype(DTYPES[dtype])
    nodes = [
        helper.make_node(f"{kind}Linear", [source, "s", "z"], [target], axis=1, block_size=3)
        for kind, source, target in (("Quantize", "x", "q"), ("Dequantize", "q", "y"))
    ]
    found = what_it_gives(model_of(nodes, x, {"s": s, "z": z}), x, {})
    np.testing.assert_allclose(found, x, atol=0.3501)


X = rows(1, 64)


@pytest.mark.parametrize(
    ("attributes", "change", "kind", "text"),
    [
        ({"bits": 3}, {}, Unsupported, "weights of 3 bits, supported are 2, 4 and 8"),
        ({"weight_prepacked": 1}, {}, Unsupported, "weight_prepacked is 1, a layout for other processors"),
        ({"block_size": 48}, {}, UserError, "block_size is 48, expected a power of two"),
        ({"N": 4}, {}, UserError, 'input "b" has 160 elements, expected 128'),
        ({}, {"s": np.ones(3, "float32")}, UserError, 'input "s" has 3 elements, expected 10'),
        ({}, {"b": np.zeros((5, 2, 16), "int8")}, UserError, 'input "b" is int8, expected uint8'),
        ({}, {"b": None}, Unsupported, 'input "x" is known only at run time'),
        (
            {},
            {"g": np.zeros(64, "int32")},
            Unsupported,
            "g_idx puts row 32 into group 0, but groups of 32 rows in order have 1 there\nhelp: export it without act_order",
        ),
    ],
)
def test_refused(attributes, change, kind, text):
    weights = {"b": np.zeros((5, 2, 16), "uint8"), "s": np.ones((5, 2), "float32")} | change
    names = ["x", "b" if weights["b"] is not None else "x", "s"] + (["", "g"] if "g" in change else [])
    node = helper.make_node(
        "MatMulNBits", names, ["y"], name="n", domain="com.microsoft", **({"K": 64, "N": 5, "bits": 4, "block_size": 32} | attributes)
    )  # fmt: skip
    with pytest.raises(kind) as refused:
        model_of([node], X, {name: each for name, each in weights.items() if each is not None})
    shown = {UserError: "error", Unsupported: "unsupported"}[kind]
    assert str(refused.value) == f'{shown}: MatMulNBits node "n": {text}'


def test_operators_of_another_domain_are_others():
    """Erf of com.microsoft is not that of ONNX."""
    node = helper.make_node("Erf", ["x"], ["y"], name="n", domain="com.microsoft")
    with pytest.raises(Unsupported) as refused:
        model_of([node], X, {})
    assert "com.microsoft::Erf (n)" in str(refused.value)
