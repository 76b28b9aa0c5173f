"""bind: iterations of a loop run on the blocks or threads of a GPU."""

from primitive_testing import check_refused, check_schedule, double, running_sum

from tilewright.script import tir as T


@T.prim_func
def on_threads(A: T.Buffer((5, 8), "float32"), B: T.Buffer((5, 8), "float32")):
    for i in T.thread_binding(5, thread="blockIdx.x"):
        for j in T.thread_binding(8, thread="threadIdx.x"):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] * T.float32(2)


def test_loops_run_on_blocks_and_threads():
    def steps(sch):
        i, j = sch.get_loops("B")
        sch.bind(i, "blockIdx.x")
        sch.bind(j, "threadIdx.x")

    check_schedule(double, steps, on_threads)


def test_an_axis_that_a_loop_around_has_is_refused():
    def steps(sch):
        i, j = sch.get_loops("B")
        sch.bind(i, "threadIdx.x")
        sch.bind(j, "threadIdx.x")

    check_refused(
        double,
        steps,
        "error: bind: loop j is inside loop i, which is bound to threadIdx.x already\n"
        'help: bind(loop j, "threadIdx.y") would be legal',
    )


def test_an_unknown_axis_is_refused():
    check_refused(
        double,
        lambda sch: sch.bind(sch.get_loops("B")[0], "threadIdx.w"),
        'error: bind: there is no thread axis "threadIdx.w"\n'
        "help: did you mean threadIdx.x, threadIdx.y or threadIdx.z?",
    )


def test_iterations_that_read_what_others_write_are_refused():
    check_refused(
        running_sum,
        lambda sch: sch.bind(sch.get_loops("A")[0], "threadIdx.x"),
        "error: bind: loop i cannot be bound to threadIdx.x: block A writes A[vi + 1], which block A reads in another "
        "iteration of loop i\nnote: block A at i=1 may read A[1], written by block A at i=0",
    )
