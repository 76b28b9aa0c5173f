"""add_unit_loop: a loop of one iteration around a block or loop."""

from primitive_testing import check_refused, check_schedule, double

from tilewright.script import tir as T


@T.prim_func
def around_the_block(A: T.Buffer((5, 8), "float32"), B: T.Buffer((5, 8), "float32")):
    for i, j, u in T.grid(5, 8, 1):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] * T.float32(2)


@T.prim_func
def around_the_inner_loop(A: T.Buffer((5, 8), "float32"), B: T.Buffer((5, 8), "float32")):
    for i, u, j in T.grid(5, 1, 8):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] * T.float32(2)


def test_around_a_block():
    check_schedule(double, lambda sch: sch.add_unit_loop("B"), around_the_block)


def test_around_a_loop():
    def steps(sch):
        new = sch.add_unit_loop(sch.get_loops("B")[1])
        assert sch.get(new).extent == 1
        assert len(sch.get_loops("B")) == 3

    check_schedule(double, steps, around_the_inner_loop)


def test_the_whole_body_is_refused():
    check_refused(
        double,
        lambda sch: sch.add_unit_loop("root"),
        "error: add_unit_loop: block root is the whole body of function main\nhelp: name a block inside of it",
    )
