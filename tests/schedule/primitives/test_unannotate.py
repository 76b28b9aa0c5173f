"""unannotate: a hint on a block or loop goes."""

from primitive_testing import check_refused, check_schedule, double

from tilewright.script import tir as T


@T.prim_func
def with_a_hint(A: T.Buffer((5, 8), "float32"), B: T.Buffer((5, 8), "float32")):
    for i in T.serial(5, annotations={"rows": 7}):
        for j in range(8):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                T.block_attr({"note": "hot"})
                B[vi, vj] = A[vi, vj] * T.float32(2)


def test_hints_of_loops_and_blocks_go():
    def steps(sch):
        sch.unannotate(sch.get_loops("B")[0], "rows")
        sch.unannotate("B", "note")

    check_schedule(with_a_hint, steps, double)


def test_a_hint_that_is_not_there_is_refused():
    check_refused(
        with_a_hint,
        lambda sch: sch.unannotate("B", "notes"),
        'error: unannotate: block B has no annotation "notes"\nhelp: did you mean note?',
    )
