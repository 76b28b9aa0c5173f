"""Grids of an open number of blocks: default schedules put it where devices take many, and a launch says what is too much."""

import numpy as np
import pytest
from devices.targets import TARGETS

import tilewright as tw
from tilewright import relax
from tilewright.script import tir as T

#: one more than CUDA takes along y and z
MANY = 65536


def rows_on(axis):
    """A kernel with a block for each of n rows, along an axis of the grid."""

    @T.prim_func
    def main(a: T.handle, b: T.handle):
        n = T.int64()
        A = T.match_buffer(a, (n, 3), "float32")
        B = T.match_buffer(b, (n, 3), "float32")
        for i, j in T.grid(n, 3):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] * T.float32(2)

    sch = tw.Schedule(main)
    row, column = sch.get_loops("B")
    sch.bind(row, axis)
    sch.bind(column, "threadIdx.x")
    return sch.mod


def doubled(module, n, target):
    numbers = np.arange(3 * n, dtype="float32").reshape(n, 3) % 1000
    result = tw.tensor(np.zeros_like(numbers), target)
    module["main"](tw.tensor(numbers, target), result)
    np.testing.assert_array_equal(result.numpy(), numbers * 2)


@pytest.mark.parametrize("target", TARGETS)
def test_many_blocks(target):
    doubled(tw.build(rows_on("blockIdx.x"), target), MANY, target)


@pytest.mark.parametrize("axis", ["blockIdx.y", "blockIdx.z"])
@pytest.mark.parametrize("target", TARGETS)
def test_more_blocks_than_a_device_takes(target, axis):
    module = tw.build(rows_on(axis), target)
    doubled(module, MANY - 1, target)
    if target == "opencl":
        return doubled(module, MANY, target)  # takes them all
    with pytest.raises(tw.UserError) as error:
        doubled(module, MANY, target)
    grid = "[1, 65536, 1]" if axis.endswith("y") else "[1, 1, 65536]"
    text = str(error.value)
    assert text.startswith("error: kernel main_kernel(")
    assert text.endswith(
        f" on cuda:0 with grid {grid} and block [3, 1, 1]: {axis} has 65536, cuda:0 takes 0 to 65535\n"
        "help: bind the loop to another axis, or split it"
    )


@pytest.mark.parametrize("target", TARGETS)
def test_a_product_of_many_batches(target):
    """Tiles of products have an axis of the grid for batches, which here are as many as the graph is called with."""
    n = tw.tir.Var("n", "int64")
    builder = relax.BlockBuilder()
    x = relax.Var("x", relax.TensorType([n, 8, 3], "float32"))
    y = relax.Var("y", relax.TensorType([n, 3, 8], "float32"))
    with builder.function("main", [x, y]):
        with builder.dataflow():
            out = builder.emit_output(relax.op.matmul(x, y))
        builder.emit_func_output(out)
    machine = tw.VirtualMachine(tw.compile(builder.get(), target=target))
    count = MANY + 1
    a = (np.arange(count * 24) % 7).astype("float32").reshape(count, 8, 3)
    b = (np.arange(count * 24) % 5).astype("float32").reshape(count, 3, 8)
    np.testing.assert_array_equal(machine["main"](a, b).numpy(), a @ b)
