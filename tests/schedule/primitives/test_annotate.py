"""annotate: a hint on a block or loop."""

from primitive_testing import check_refused, check_schedule, double

from tilewright.script import tir as T


@T.prim_func
def with_hints(A: T.Buffer((5, 8), "float32"), B: T.Buffer((5, 8), "float32")):
    for i in T.serial(5, annotations={"rows": 7}):
        for j in range(8):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                T.block_attr({"note": "hot", "sizes": [1, 2]})
                B[vi, vj] = A[vi, vj] * T.float32(2)


def test_hints_of_loops_and_blocks():
    def steps(sch):
        block = sch.get_block("B")
        sch.annotate(sch.get_loops(block)[0], "rows", 7)
        sch.annotate(block, "note", "hot")
        sch.annotate(block, "sizes", [1, 2])

    check_schedule(double, steps, with_hints)


def test_the_last_value_of_a_hint_counts():
    def steps(sch):
        i = sch.get_loops("B")[0]
        sch.annotate("B", "note", "cold")
        sch.annotate("B", "note", "hot")
        sch.annotate("B", "sizes", [1, 2])
        sch.annotate(i, "rows", 7)

    check_schedule(double, steps, with_hints)


def test_an_empty_name_is_refused():
    check_refused(
        double, lambda sch: sch.annotate("B", "", 1), "error: annotate: the name of an annotation is empty"
    )
