"""storage_align is followed: rows of memory are as far apart as it says, and the numbers stay."""

import numpy as np
import pytest

import tilewright
from tilewright.errors import UserError
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


@pytest.mark.parametrize(
    "entry",
    [
        "[0, 0, 0, 0]",
        '[0, 0, "x", 0]',
        "[0, 0, -4, 1]",
        "[0, 3, 4, 1]",
        "[1, 0, 4, 1]",
        "[0, 0, 4]",
        "[0, -1, 4, 1]",
        "7",
    ],
)
def test_wishes_written_by_hand_are_checked(entry):
    text = PROGRAM.replace(
        "            t[", f'            T.block_attr({{"buffer_dim_align": [{entry}]}})\n            t['
    )
    with pytest.raises(UserError) as error:
        tilewright.build(parse(text), schedule=False)
    lines = str(error.value).splitlines()
    assert lines[0] == "error: main: buffer_dim_align has an entry that is not [buffer, axis, factor, offset]"
    assert lines[-1] == (
        "help: buffer is the number of one that the block writes, axis one of its dimensions, factor at least 1"
    )


def test_wishes_are_a_list():
    text = PROGRAM.replace(
        "            t[", '            T.block_attr({"buffer_dim_align": 3})\n            t['
    )
    with pytest.raises(UserError) as error:
        tilewright.build(parse(text), schedule=False)
    assert (
        str(error.value).splitlines()[0]
        == "error: main: buffer_dim_align is not a list of [buffer, axis, factor, offset]"
    )


@pytest.mark.parametrize("factor", [2**30, 2**31, 2**33, 2**62])
def test_rows_too_far_apart(factor):
    sch = tilewright.Schedule(parse(PROGRAM))
    sch.storage_align("t", 0, 1, factor, 3)
    with pytest.raises(UserError) as error:
        tilewright.build(sch.mod, schedule=False)
    assert str(error.value) == (
        "error: main: storage_align: the rows of buffer t would be more than 2147483647 elements apart\n"
        "help: take smaller factors"
    )


def test_the_interpreter_runs_allocations_with_strides():
    text = PROGRAM.replace(
        'T.alloc_buffer((5, 7, 30), "float32")', "T.alloc_buffer((5, 7, 30), strides=(300, 31, 1))"
    )
    x = np.random.default_rng(0).random((7, 5, 30), "float32")
    y = np.zeros((30, 7, 5), "float32")
    tilewright.tir.interpret(parse(text), x, y)
    np.testing.assert_array_equal(y, x.transpose(2, 0, 1) * 2 + 1)
