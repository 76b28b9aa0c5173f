"""Products with an open number of rows: each row has the bits of the build with that number, alone and in any batch, with any number of threads."""

import functools

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import tilewright as tw

ROWS = (1, 2, 3, 5, 7, 16, 64, 127)
THREADS = (1, 2, 3)
TERMS, COLUMNS, BLOCK = 160, 208, 32


@functools.cache
def weights(bits):
    """The parts of an ONNX product by weights of so many bits, and the matrix that they stand for."""
    rng = np.random.default_rng(0)
    if bits == 32:
        matrix = rng.standard_normal((TERMS, COLUMNS)).astype("float32")
        return [numpy_helper.from_array(matrix, "b")], matrix
    codes = rng.integers(0, 2**bits, (COLUMNS, TERMS // BLOCK, BLOCK)).astype("uint8")
    scale = (rng.random((COLUMNS, TERMS // BLOCK)) * 0.01 + 0.001).astype("float32")
    matrix = ((codes.astype("float32") - 2 ** (bits - 1)) * scale[..., None]).reshape(COLUMNS, TERMS).T
    packed = codes if bits == 8 else codes[..., ::2] | codes[..., 1::2] << 4
    return [numpy_helper.from_array(packed, "b"), numpy_helper.from_array(scale, "scale")], matrix


@functools.cache
def compiled(bits, rows, num_threads):
    arrays, _ = weights(bits)
    node = helper.make_node("MatMul", ["a", "b"], ["y"])
    if bits < 32:
        sizes = {"K": TERMS, "N": COLUMNS, "bits": bits, "block_size": BLOCK}
        node = helper.make_node("MatMulNBits", ["a", "b", "scale"], ["y"], domain="com.microsoft", **sizes)
    x = helper.make_tensor_value_info("a", TensorProto.FLOAT, [rows, TERMS])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [rows, COLUMNS])
    graph = helper.make_graph([node], "product", [x], [y], arrays)
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=9)
    onnx.checker.check_model(model)
    # weights of any size are kept as integers
    with tw.transform.PassContext(config={"fuse_dequantize_matmul.min_bytes": 1}):
        executable = tw.compile(model, target=f"llvm -num-cores={num_threads}")
    assert ("dequantize_matmul" in executable.schedules) == (bits < 32)
    return executable


def product(executable, x):
    return tw.VirtualMachine(executable)["main"](x).numpy()


def rows_of(count):
    return np.random.default_rng(1).standard_normal((max(ROWS), TERMS)).astype("float32")[:count]


@pytest.mark.parametrize("num_threads", THREADS)
@pytest.mark.parametrize("bits", [32, 8, 4])
def test_bits_are_those_of_fixed_rows(bits, num_threads):
    alone = product(compiled(bits, 1, 1), rows_of(1))
    for count in ROWS:
        open_rows = product(compiled(bits, "n", num_threads), rows_of(count))
        np.testing.assert_array_equal(open_rows, product(compiled(bits, count, num_threads), rows_of(count)))
        np.testing.assert_array_equal(open_rows[:1], alone)


@pytest.mark.parametrize("bits", [32, 8, 4])
def test_numbers(bits):
    _, matrix = weights(bits)
    for count in (0, *ROWS):
        expected = rows_of(count).astype("float64") @ matrix
        np.testing.assert_allclose(
            product(compiled(bits, "n", 2), rows_of(count)), expected, rtol=1e-4, atol=1e-4
        )
