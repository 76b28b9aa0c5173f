"""fuse_dequantize_matmul: products read weights of few bits, and are those of the dequantized weights but for rounding."""

import ml_dtypes
import numpy as np
import pytest
from graph_testing import operators, run

import tilewright
from tilewright import relax
from tilewright.errors import UserError
from tilewright.relax import transform
from tilewright.script import parse

LIMITS = {"int8": (-128, 127), "uint8": (0, 255), "int4": (-8, 7), "uint4": (0, 15)}


def numbers(dtype, *shape, seed=0):
    low, high = LIMITS[dtype]
    values = np.random.default_rng([seed, *shape]).integers(low, high, shape, endpoint=True)
    return values.astype("int16").astype(getattr(ml_dtypes, dtype) if dtype.endswith("int4") else dtype)


def scales(*shape):
    return np.random.default_rng([*shape, 1]).uniform(0.001, 0.02, shape).astype("float32")


def rows(*shape, dtype="float32"):
    return np.random.default_rng([*shape, 2]).standard_normal(shape).astype(dtype)


def weight(q, s, z, block):
    """The dequantized weight [k, n] in float64; s and z: one, one for each column, or one for each block of rows."""
    s, z = (np.asarray(each).astype("float64") for each in (s, z))
    if block:
        s, z = (np.repeat(each, block, axis=0)[: len(q)] for each in (s, z))
    return (q.astype("float64") - z) * s


PROGRAM = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor({shape}, "{dtype}"), q: R.Tensor({q}, "{numbers}"), s: R.Tensor({s}, "float32"), z: R.Tensor({z}, "{zero}")):
        with R.dataflow():
            w = R.dequantize(q, s, z, axis={axis}, block_size={block}, out_dtype="{dtype}")
            y = R.matmul(x, {w})
            R.output(y)
        return y
"""


def program(shape, q, s, z, block=0, axis=None, permuted=False, dtype="float32"):
    q, s, z = (np.asarray(each) for each in (q, s, z))
    text = PROGRAM.format(
        shape=shape, q=q.shape, numbers=q.dtype, s=s.shape, z=z.shape, zero=z.dtype, block=block,
        axis=axis if axis is not None else 0 if block else 1, w="R.permute_dims(w)" if permuted else "w", dtype=dtype,
    )  # fmt: skip
    constants = {name: tilewright.tensor(each) for name, each in (("q", q), ("s", s), ("z", z))}
    return transform.BindParams("main", constants)(parse(text))


def fused(module, min_bytes=1):
    return transform.fuse_dequantize_matmul(min_bytes=min_bytes)(module)


def result_of(module, x, target="llvm", min_bytes=1):
    config = {"fuse_dequantize_matmul.min_bytes": min_bytes}
    with tilewright.transform.PassContext(config=config):
        executable = tilewright.compile(module, target=target)
    return tilewright.VirtualMachine(executable)["main"](tilewright.tensor(x)).numpy()


def check_product(x, q, s, z, block=0, target="llvm"):
    """Within the error that a sum of k terms in float32 may have, its terms' and the scale's rounding included."""
    module = program(x.shape, q, s, z, block)
    assert operators(fused(module)) == ["R.dequantize_matmul"]
    w = weight(q, s, z, block)
    bound = (np.abs(x).astype("float64") @ np.abs(w)) * (len(q) + 8) * 2**-24
    found = result_of(module, x, target)
    assert (np.abs(found - x.astype("float64") @ w) <= bound).all()


SHAPES = [((7,), 5), ((1, 127), 127), ((5, 64), 33), ((3, 1, 250), 130), ((2, 3, 96), 7), ((1, 1, 32), 64)]
TARGETS = ["llvm", "llvm -mcpu=haswell", "llvm -mcpu=x86-64"]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", LIMITS)
@pytest.mark.parametrize(("shape", "columns"), SHAPES)
def test_one_scale_for_each_column(shape, columns, dtype, target):
    q = numbers(dtype, shape[-1], columns)
    check_product(rows(*shape), q, scales(columns), np.zeros(columns, q.dtype), target=target)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", LIMITS)
@pytest.mark.parametrize("block", [8, 32])
@pytest.mark.parametrize(("shape", "columns"), SHAPES)
def test_one_scale_for_each_block(shape, columns, block, dtype, target):
    q = numbers(dtype, shape[-1], columns)
    groups = -(-shape[-1] // block)
    check_product(
        rows(*shape), q, scales(groups, columns), np.zeros((groups, columns), q.dtype), block, target
    )


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", LIMITS)
@pytest.mark.parametrize("block", [0, 32])
def test_zero_points(block, dtype, target):
    q = numbers(dtype, 127, 33)
    shape = (4, 33) if block else (33,)
    check_product(rows(3, 127), q, scales(*shape), numbers(dtype, *shape, seed=1), block, target)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", LIMITS)
@pytest.mark.parametrize("block", [0, 32])
def test_in_c(block, dtype):
    q = numbers(dtype, 127, 33)
    shape = (4, 33) if block else (33,)
    check_product(rows(3, 127), q, scales(*shape), numbers(dtype, *shape, seed=1), block, "c")


def test_every_number_of_four_bits():
    """A row of x that chooses one number gives exactly that number."""
    q = np.tile(np.arange(-8, 8, dtype="int8"), (16, 1)).T.reshape(16, 16).astype(ml_dtypes.int4)
    module = program((16, 16), q, np.ones(16, "float32"), np.zeros(16, ml_dtypes.int4))
    np.testing.assert_array_equal(result_of(module, np.eye(16, dtype="float32")), q.astype("float32"))


def test_zero_points_are_part_of_the_numbers_where_they_fit():
    """uint8 around 128, as quantizers write it, is int8 without zero points."""
    q = numbers("uint8", 32, 7)
    changed = fused(program((1, 32), q, scales(7), np.full(7, 128, "uint8")))
    call = changed["main"].body.blocks[0].bindings[0].value
    assert len(call.args) == 3
    np.testing.assert_array_equal(call.args[1].data.numpy(), (q.astype("int16") - 128).astype("int8"))


def test_a_scalar_scale_and_zero_point():
    check_product(rows(2, 64), numbers("int8", 64, 40), np.float32(0.25), np.int8(3))


def test_rows_that_are_infinite_stay_so():
    """The last block is longer than x, and the last word too: nothing of x is read there."""
    x = np.full((1, 37), np.inf, "float32")
    q = np.full((37, 3), 7).astype(ml_dtypes.int4)
    assert (result_of(program((1, 37), q, scales(2, 3), np.zeros((2, 3), q.dtype), 32), x) == np.inf).all()


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_rows_of_two_bytes(dtype):
    """Summed in float32, rounded once."""
    x = rows(3, 64).astype(ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype)
    q, s = numbers("int8", 64, 33), scales(2, 33)
    module = program((3, 64), q, s, np.zeros((2, 33), "int8"), 32, dtype=dtype)
    assert operators(fused(module)) == ["R.dequantize_matmul"]
    expected = x.astype("float64") @ weight(q, s, 0 * q[:2], 32)
    step = {"float16": 2**-11, "bfloat16": 2**-8}[dtype]
    bound = (
        np.abs(expected) * step
        + np.abs(x).astype("float64") @ np.abs(weight(q, s, 0 * q[:2], 32)) * 80 * 2**-24
    )
    assert (np.abs(result_of(module, x).astype("float64") - expected) <= bound).all()


def test_a_permuted_weight():
    """As a Gemm with transB has it: scales of the rows of q are those of columns."""
    q, s, x = numbers("int8", 7, 40), scales(7), rows(2, 40)
    module = program((2, 40), q, s, np.zeros(7, "int8"), axis=0, permuted=True)
    assert operators(fused(module)) == ["R.dequantize_matmul"]
    np.testing.assert_allclose(result_of(module, x), x @ weight(q.T, s, 0, 0), rtol=1e-4, atol=1e-5)


def test_a_permuted_weight_in_blocks():
    """As MatMulNBits has it: each column's numbers lie side by side."""
    q, s, x = numbers("int4", 7, 64), scales(7, 2), rows(2, 64)
    module = program((2, 64), q, s, np.zeros((7, 2), q.dtype), 32, axis=1, permuted=True)
    assert operators(fused(module)) == ["R.dequantize_matmul"]
    np.testing.assert_allclose(result_of(module, x), x @ weight(q.T, s.T, 0 * s.T, 32), rtol=1e-4, atol=1e-5)


def test_an_open_number_of_rows():
    """Is taken for few."""
    q, s = numbers("int8", 64, 33), scales(2, 33)
    module = program('("n", 64)', q, s, np.zeros((2, 33), "int8"), 32)
    assert operators(fused(module)) == ["R.dequantize_matmul"]
    for count in (1, 5, 130):
        x = rows(count, 64)
        np.testing.assert_allclose(
            result_of(module, x), x @ weight(q, s, 0 * q[:2], 32), rtol=1e-4, atol=1e-4
        )


def test_bias_and_activation_are_in_the_same_kernel():
    q, s, b = numbers("int4", 64, 33), scales(2, 33), rows(33)
    builder = relax.BlockBuilder()
    x = relax.Var("x", relax.TensorType((1, 64), "float32"))
    with builder.function("main", [x]):
        with builder.dataflow():
            w = builder.emit(
                relax.op.dequantize(
                    relax.const(q),
                    relax.const(s),
                    relax.const(np.zeros((2, 33), q.dtype)),
                    axis=0,
                    block_size=32,
                )
            )
            y = builder.emit(relax.op.add(relax.op.matmul(x, w), relax.const(b)))
            out = builder.emit_output(relax.op.nn.relu(y))
        builder.emit_func_output(out)
    with tilewright.transform.PassContext(config={"fuse_dequantize_matmul.min_bytes": 1}):
        executable = tilewright.compile(builder.get())
    assert list(executable.schedules) == ["fused_dequantize_matmul_add_relu"]
    x = rows(1, 64)
    found = tilewright.VirtualMachine(executable)["main"](tilewright.tensor(x)).numpy()
    np.testing.assert_allclose(found, np.maximum(x @ weight(q, s, 0 * s, 32) + b, 0), rtol=1e-4, atol=1e-5)


def test_kernels_read_from_one_end_to_the_other():
    """Numbers, scales and zero points lie in panels of the columns of a tile, here 5 vectors of 16."""
    q, s, z = numbers("int4", 256, 300), scales(8, 300), numbers("int4", 8, 300, seed=1)
    with tilewright.transform.PassContext(config={"fuse_dequantize_matmul.min_bytes": 1}):
        module = program((1, 256), q, s, z, 32)
        executable = tilewright.compile(module, target="llvm -mcpu=skylake-avx512 -num-cores=1")
    call = executable.legalized["main"].body.blocks[0].bindings[0].value
    kept = [arg.data for arg in call.args[1].elements[1:]]
    assert [(each.shape, each.dtype) for each in kept] == [
        ((4, 32, 80), "int32"),
        ((4, 8, 80), "float32"),
        ((4, 8, 80), "int8"),
    ]


@pytest.mark.parametrize(
    ("why", "module"),
    [
        ("many rows", lambda: program((17, 64), numbers("int8", 64, 64), scales(64), np.zeros(64, "int8"))),
        ("scales of rows", lambda: program((1, 64), numbers("int8", 64, 64), scales(64), np.zeros(64, "int8"), axis=0)),
        ("a short block", lambda: program((1, 64), numbers("int8", 64, 64), scales(16, 64), np.zeros((16, 64), "int8"), 4)),
        ("words", lambda: program((1, 64), numbers("int4", 64, 64), scales(6, 64), np.zeros((6, 64), ml_dtypes.int4), 12)),
        ("wide numbers", lambda: program((1, 64), np.ones((64, 64), "int32"), scales(64), np.zeros(64, "int32"))),
    ],
)  # fmt: skip
def test_left_alone(why, module):
    module = module()
    assert fused(module, 1024) is module
    x = rows(*(int(extent.value) for extent in module["main"].params[0].type.shape.values))
    np.testing.assert_allclose(result_of(module, x, min_bytes=1024), run(module, x), rtol=1e-4, atol=1e-4)


def test_bytes_decide():
    """1 MiB of float32 for each row."""
    q, s, z = numbers("int8", 512, 512), scales(512), np.zeros(512, "int8")
    assert operators(transform.fuse_dequantize_matmul()(program((1, 512), q, s, z))) == [
        "R.dequantize_matmul"
    ]
    two = program((2, 512), q, s, z)
    assert transform.fuse_dequantize_matmul()(two) is two


def test_what_else_reads_the_weight_gets_it_in_floats():
    q, s = numbers("int8", 64, 64), scales(64)
    builder = relax.BlockBuilder()
    x = relax.Var("x", relax.TensorType((1, 64), "float32"))
    with builder.function("main", [x]):
        with builder.dataflow():
            w = builder.emit(relax.op.dequantize(relax.const(q), relax.const(s), relax.const(np.int8(0))))
            y = builder.emit(relax.op.matmul(x, w))
            out = builder.emit_output(relax.op.add(y, w))
        builder.emit_func_output(out)
    changed = fused(builder.get())
    assert operators(changed) == ["R.dequantize", "R.dequantize_matmul", "R.add"]
    assert fused(changed) is changed


def test_weights_of_open_extents_are_refused():
    with pytest.raises(UserError) as error:
        parse("""
@R.function
def main(x: R.Tensor((1, 64), "float32"), q: R.Tensor((64, "n"), "int8"), s: R.Tensor((1, "n"), "float32")):
    return R.dequantize_matmul(x, q, s)
""")
    assert str(error.value).startswith(
        "error: dequantize_matmul: data is int8[64, n], expected known extents"
    )
