"""storage_align is followed: rows of memory are as far apart as it says, and the numbers stay."""

import numpy as np
import pytest

import tilewright
from tilewright.script import parse

PROGRAM = """
@T.prim_func
def main(x: T.Buffer((7, 5, 30), "float32"), y: T.Buffer((30, 7, 5), "float32")):
    t = T.alloc_buffer((5, 7, 30), "float32")
    for i, j, k in T.grid(5, 7, 30):
        with T.block("t"):
            vi, vj, vk = T.axis.remap("SSS", [i, j, k])
            t[vi, vj, vk] = x[vj, vi, vk] * T.float32(2)
    for i, j, k in T.grid(30, 7, 5):
        with T.block("y"):
            vi, vj, vk = T.axis.remap("SSS", [i, j, k])
            y[vi, vj, vk] = t[vk, vj, vi] + T.float32(1)
"""


@pytest.mark.parametrize(
    ("wishes", "index", "size"),
    [
        ([], "k + j * 30 + i * 210", 1050),
        ([(1, 16, 3)], "k + j * 35 + i * 245", 4 * 245 + 6 * 35 + 30),
        ([(0, 64, 0)], "k + j * 30 + i * 256", 4 * 256 + 6 * 30 + 30),
        ([(-2, 32, 0), (0, 128, 1)], "k + j * 32 + i * 257", 4 * 257 + 6 * 32 + 30),
        ([(2, 2, 0)], "k * 2 + j * 60 + i * 420", 4 * 420 + 6 * 60 + 29 * 2 + 1),
        ([(1, 30, 0)], "k + j * 30 + i * 210", 1050),  # as it is
    ],
)
def test_strides(wishes, index, size):
    sch = tilewright.Schedule(parse(PROGRAM))
    for axis, factor, offset in wishes:
        sch.storage_align("t", 0, axis, factor, offset)
    module = tilewright.build(sch.mod, target="c", schedule=False)
    terms = sorted(index.split(" + "))
    stores = [line for line in module.get_source("c").splitlines() if line.strip().startswith("t[")]
    assert [sorted(line[line.index("[") + 1 : line.index("]")].split(" + ")) for line in stores] == [terms]
    assert f"{size} * sizeof(float)" in module.get_source("c") or f"t[{size}]" in module.get_source("c")
    x = np.random.default_rng(0).random((7, 5, 30), "float32")
    for target in ("c", "llvm"):
        y = tilewright.empty((30, 7, 5))
        tilewright.build(sch.mod, target=target, schedule=False)["main"](tilewright.tensor(x), y)
        np.testing.assert_array_equal(y.numpy(), x.transpose(2, 0, 1) * 2 + 1)
