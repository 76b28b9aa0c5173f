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


@T.prim_func
def window_sum(A: T.Buffer((18,), "float32"), B: T.Buffer((16,), "float32")):
    for i in range(16):
        with T.block("B"):
            vi = T.axis.spatial(16, i)
            B[vi] = A[vi] + A[vi + 1] + A[vi + 2]


@T.prim_func
def window_sum_of_shared(A: T.Buffer((18,), "float32"), B: T.Buffer((16,), "float32")):
    A_shared = T.alloc_buffer((18,), scope="shared")
    for i_0 in T.thread_binding(2, thread="blockIdx.x"):
        for i_1 in T.thread_binding(8, thread="threadIdx.x"):
            for ax0_0 in range(2):
                for ax0_1 in T.thread_binding(8, thread="threadIdx.x"):
                    with T.block("A_shared"):
                        v0 = T.axis.spatial(18, i_0 * 8 + ax0_0 * 8 + ax0_1)
                        T.where(ax0_0 * 8 + ax0_1 < 10)
                        A_shared[v0] = A[v0]
            with T.block("B"):
                vi = T.axis.spatial(16, i_0 * 8 + i_1)
                B[vi] = A_shared[vi] + A_shared[vi + 1] + A_shared[vi + 2]


def copied(sch, threads=8):
    """The loop that fills shared memory, split by `threads`, inside of 8 threads."""
    i_0, i_1 = sch.split(sch.get_loops("B")[0], [None, 8])
    sch.bind(i_0, "blockIdx.x")
    sch.bind(i_1, "threadIdx.x")
    copy = sch.cache_read("B", 0, "shared")
    sch.compute_at(copy, i_1)
    return sch.split(sch.get_loops(copy)[-1], [None, threads])[1]


def test_threads_fill_shared_memory_together():
    check_schedule(window_sum, lambda sch: sch.bind(copied(sch), "threadIdx.x"), window_sum_of_shared)


def test_other_numbers_of_the_same_threads_are_refused():
    check_refused(
        window_sum,
        lambda sch: sch.bind(copied(sch, 4), "threadIdx.x"),
        "error: bind: loop ax0_1 has 4 iterations, but loop i_1 around it is bound to threadIdx.x and has 8\n"
        "note: ax0_1 was made from this line\n"
        "help: split loop ax0_1 by 8 first",
    )


def test_a_loop_that_uses_the_number_of_the_same_thread_is_refused():
    def steps(sch):
        i, j = sch.get_loops("B")
        sch.bind(i, "threadIdx.x")
        _, j = sch.split(j, [None, 5])
        sch.bind(j, "threadIdx.x")

    check_refused(
        double,
        steps,
        "error: bind: what runs in loop j_1 depends on loop i, which is bound to threadIdx.x already: the threads could "
        "not share it\n"
        "note: j_1 was made from this line\n"
        'help: bind(loop j_1, "threadIdx.y") would be legal',
    )


def test_what_threads_fill_together_is_no_private_memory():
    def steps(sch):
        i_0, i_1 = sch.split(sch.get_loops("B")[0], [None, 8])
        sch.bind(i_0, "threadIdx.x")
        copy = sch.cache_read("B", 0, "shared")
        sch.compute_at(copy, i_0)
        _, inner = sch.split(sch.get_loops(copy)[-1], [None, 2])
        sch.set_scope(copy, 0, "local")
        sch.bind(inner, "threadIdx.x")

    check_refused(
        window_sum,
        steps,
        "error: bind: block A_shared writes A_shared, of which each thread of loop i_0 has its own\n"
        "note: A_shared was made from this line\n"
        'help: keep A_shared in scope "shared"',
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
