"""unroll: the body of a loop is repeated in the generated code."""

from primitive_testing import check_refused, check_schedule, double

from tilewright.script import tir as T


@T.prim_func
def unrolled(A: T.Buffer((5, 8), "float32"), B: T.Buffer((5, 8), "float32")):
    for i in T.serial(5):
        for j in T.unroll(8):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] * T.float32(2)


def test_a_loop_is_marked():
    check_schedule(double, lambda sch: sch.unroll(sch.get_loops("B")[1]), unrolled)


def test_a_loop_of_threads_is_refused():
    def steps(sch):
        (i, _) = sch.get_loops("B")
        sch.bind(i, "threadIdx.x")
        sch.unroll(i)

    check_refused(double, steps, "error: unroll: loop i is bound to threadIdx.x")
