"""Blocks that read other elements of what they compute: no step puts an init or another iteration before these reads."""

import numpy
import pytest

import tilewright
from tilewright import schedule
from tilewright.script import parse

READS = [
    "vt + 1, vk",
    "vt - 1, vk",
    "vt, vk",
    "vt + 1, vi",
    "vt - 1, vi",
    "T.if_then_else(vt > 3, vt + 1, vt - 1), vk",
]


def program(read: str, regions: str = ""):
    """P[t, i] is a sum over k of rows of P itself."""
    return parse(f"""
@T.prim_func
def main(P: T.Buffer((8, 4), "float32"), W: T.Buffer((4, 4), "float32")):
    for t, i, k in T.grid(6, 4, 4):
        with T.block("u"):
            vt = T.axis.spatial((1, 7), t + 1)
            vi = T.axis.spatial(4, i)
            vk = T.axis.reduce(4, k)
            {regions}
            with T.init():
                P[vt, vi] = T.float32(0)
            P[vt, vi] = P[vt, vi] + P[{read}] * W[vk, vi]
""")


def numbers(func) -> numpy.ndarray:
    random = numpy.random.default_rng(0)
    rows = tilewright.tensor(random.random((8, 4), "float32"))
    tilewright.compile(func, target="llvm")["main"](rows, tilewright.tensor(random.random((4, 4), "float32")))
    return rows.numpy()


STEPS = {
    "decompose at t": lambda sch, block, t, i, k: sch.decompose_reduction(block, t),
    "decompose at i": lambda sch, block, t, i, k: sch.decompose_reduction(block, i),
    "decompose at k": lambda sch, block, t, i, k: sch.decompose_reduction(block, k),
    "rfactor of k": lambda sch, block, t, i, k: sch.rfactor(k, 0),
    "parallel t": lambda sch, block, t, i, k: sch.parallel(t),
    "parallel i": lambda sch, block, t, i, k: sch.parallel(i),
    "vectorize i": lambda sch, block, t, i, k: sch.vectorize(i),
    "reorder": lambda sch, block, t, i, k: sch.reorder(k, i),
    "reorder t": lambda sch, block, t, i, k: sch.reorder(i, t),
}


@pytest.mark.parametrize("regions", ["", "T.reads(P[vt, vi], P[0:8, 0:4], W[vk, vi]); T.writes(P[vt, vi])"])
@pytest.mark.parametrize("read", READS)
@pytest.mark.parametrize("step", STEPS)
def test_numbers_are_the_same_or_the_step_is_refused(step, read, regions):
    func = program(read, regions)
    sch = schedule.Schedule(func)
    block = sch.get_block("u")
    try:
        STEPS[step](sch, block, *sch.get_loops(block))
    except tilewright.UserError:
        return
    numpy.testing.assert_allclose(numbers(sch.mod["main"]), numbers(func), rtol=1e-5)


@pytest.mark.parametrize("step", ["decompose at k", "reorder"])
def test_steps_that_change_nothing_are_taken(step):
    func = program("vt - 1, vk")
    sch = schedule.Schedule(func)
    block = sch.get_block("u")
    STEPS[step](sch, block, *sch.get_loops(block))
    numpy.testing.assert_allclose(numbers(sch.mod["main"]), numbers(func), rtol=1e-5)


def refusal(run) -> str:
    with pytest.raises(tilewright.UserError) as error:
        run()
    return "\n".join(
        line for line in str(error.value).splitlines() if line.startswith(("error:", "help:", "note:"))
    )


def test_refused_decompositions():
    sch = schedule.Schedule(program("vt, vk"))
    block = sch.get_block("u")
    assert refusal(lambda: sch.decompose_reduction(block, sch.get_loops(block)[1])) == (
        "error: decompose_reduction: block u reads other elements of P, which its init would set before they are read\n"
        "help: choose a loop inside of the one whose iterations they come from"
    )


def test_reads_of_other_elements_stand_in_reads():
    assert refusal(lambda: program("vt - 1, vk", "T.reads(W[vk, vi]); T.writes(P[vt, vi])")) == (
        "error: block u reads P[vt - 1, vk], but its T.reads does not name the buffer\n"
        "help: add P[vt - 1, vk] to T.reads, or omit T.reads to have it inferred"
    )


def test_reads_of_blocks_inside_count():
    func = parse("""
@T.prim_func
def main(P: T.Buffer((8, 2, 4), "float32"), W: T.Buffer((4, 4), "float32")):
    for t, h in T.grid(7, 2):
        with T.block("o"):
            vt = T.axis.spatial((1, 8), t + 1)
            vh = T.axis.spatial(2, h)
            with T.init():
                for i in range(4):
                    P[vt, vh, i] = T.float32(0)
            for i, k in T.grid(4, 4):
                with T.block("u"):
                    vi = T.axis.spatial(4, i)
                    vk = T.axis.reduce(4, k)
                    P[vt, vh, vi] = P[vt, vh, vi] + P[vt - 1, 1 - vh, vk] * W[vk, vi]
""")
    sch = schedule.Schedule(func)
    t, h = sch.get_loops("o")
    assert refusal(lambda: sch.reorder(h, t)).startswith(
        "error: reorder: the order of the iterations counts: block o writes P[vt, vh, 0:4], which block o reads in another"
    )


def test_inlining_does_not_ask_for_earlier_iterations():
    func = parse("""
@T.prim_func
def main(X: T.Buffer((8, 4), "float32"), S: T.Buffer((9, 4), "float32"), O: T.Buffer((8, 4), "float32")):
    B = T.alloc_buffer((8, 4), "float32")
    for t in range(8):
        for i in range(4):
            with T.block("B"):
                vt, vi = T.axis.remap("SS", [t, i])
                B[vt, vi] = S[vt + 1, vi] * T.float32(2)
            with T.block("W"):
                vt, vi = T.axis.remap("SS", [t, i])
                S[vt, vi] = X[vt, vi]
        for i in range(4):
            with T.block("O"):
                vt, vi = T.axis.remap("SS", [t, i])
                O[vt, vi] = B[T.max(vt - 1, 0), vi]
""")
    sch = schedule.Schedule(func)
    assert refusal(lambda: sch.compute_inline("B")) == (
        "error: compute_inline: block O may read elements of B of an earlier iteration of loop t, in which S was different"
    )
