"""bind: iterations of a loop run on the blocks or threads of a GPU."""

import numpy as np
from primitive_testing import check_refused, check_schedule, double, running_sum, schedule_of

import tilewright
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


def test_loops_of_one_kernel_over_one_axis_have_as_many_iterations():
    def steps(sch):
        i, j = sch.get_loops("B")
        sch.bind(i, "blockIdx.x")
        sch.bind(sch.split(j, [None, 8])[1], "threadIdx.x")
        sch.compute_at("S", i)
        sch.bind(sch.split(sch.get_loops("S")[-1], [None, 4])[1], "threadIdx.x")

    check_refused(
        centred,
        steps,
        "error: bind: loops ax0_1 and j_1 would be of one kernel, both over threadIdx.x, but have 4 and 8 iterations\n"
        "note: ax0_1 was made from this line\n"
        "help: split one of them so that both have as many iterations",
    )


# Sums over threads.


@T.prim_func
def row_sum(A: T.Buffer((5, 32), "float32"), B: T.Buffer((5,), "float32")):
    for i, k in T.grid(5, 32):
        with T.block("B"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                B[vi] = T.float32(0)
            B[vi] = B[vi] + A[vi, vk]


@T.prim_func
def row_sum_by_threads(A: T.Buffer((5, 32), "float32"), B: T.Buffer((5,), "float32")):
    for i in T.thread_binding(5, thread="blockIdx.x"):
        for k_0 in range(4):
            for k_1 in T.thread_binding(8, thread="threadIdx.x"):
                with T.block("B"):
                    vi = T.axis.spatial(5, i)
                    vk = T.axis.reduce(32, k_0 * 8 + k_1)
                    with T.init():
                        B[vi] = T.float32(0)
                    B[vi] = B[vi] + A[vi, vk]


def test_threads_add_to_one_sum():
    def steps(sch):
        i, k = sch.get_loops("B")
        _, inner = sch.split(k, [None, 8])
        sch.bind(i, "blockIdx.x")
        sch.bind(inner, "threadIdx.x")

    check_schedule(row_sum, steps, row_sum_by_threads)


@T.prim_func
def row_sum_in_one_block(A: T.Buffer((5, 32), "float32"), B: T.Buffer((5,), "float32")):
    for i in T.thread_binding(5, thread="threadIdx.y"):
        for k in T.thread_binding(32, thread="threadIdx.x"):
            with T.block("B"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    B[vi] = T.float32(0)
                B[vi] = B[vi] + A[vi, vk]


def test_rows_and_terms_on_threads_of_one_block():
    def steps(sch):
        i, k = sch.get_loops("B")
        sch.bind(i, "threadIdx.y")
        sch.bind(k, "threadIdx.x")

    check_schedule(row_sum, steps, row_sum_in_one_block)


def test_a_bound_sum_may_be_bound_again():
    sch = schedule_of(row_sum)
    loop = sch.get_loops("B")[1]
    sch.bind(loop, "threadIdx.x")
    before = sch.mod
    sch.bind(loop, "threadIdx.x")
    assert sch.mod is before or tilewright.ir.structural_equal(sch.mod, before)


def test_blocks_cannot_add_to_one_sum():
    check_refused(
        row_sum,
        lambda sch: sch.bind(sch.get_loops("B")[1], "blockIdx.x"),
        "error: bind: loop k cannot be bound to blockIdx.x: block B writes B[vi] in several iterations of loop k\n"
        "note: block B at k=1 writes B[0], written by block B at k=0\n"
        'help: bind(loop k, "threadIdx.x") or rfactor(loop k, 0) would be legal',
    )


@T.prim_func
def decaying_sum(A: T.Buffer((32,), "float32"), B: T.Buffer((1,), "float32")):
    for k in range(32):
        with T.block("B"):
            vk = T.axis.reduce(32, k)
            with T.init():
                B[0] = T.float32(0)
            B[0] = B[0] * T.float32(2) + A[vk]


def test_what_depends_on_the_order_of_terms_is_refused():
    check_refused(
        decaying_sum,
        lambda sch: sch.bind(sch.get_loops("B")[0], "threadIdx.x"),
        "error: bind: loop k cannot be bound to threadIdx.x: block B writes B[0] in several iterations of loop k\n"
        "note: block B at k=1 writes B[0], written by block B at k=0",
    )


@T.prim_func
def argmax(A: T.Buffer((32,), "float32"), V: T.Buffer((1,), "float32"), I: T.Buffer((1,), "int32")):
    for k in range(32):
        with T.block("I"):
            vk = T.axis.reduce(32, k)
            with T.init():
                I[0] = -1
                V[0] = T.min_value("float32")
            v_i: T.int32 = T.Select(V[0] >= A[vk], I[0], vk)
            v_v: T.float32 = T.Select(V[0] >= A[vk], V[0], A[vk])
            I[0] = v_i
            V[0] = v_v


def test_the_place_of_a_maximum_is_found_by_threads_of_consecutive_terms():
    sch = schedule_of(argmax)
    outer, _ = sch.split(sch.get_loops("I")[0], [8, None])
    sch.bind(outer, "threadIdx.x")
    sch.verify()
    a = np.zeros(32, "float32")
    a[[9, 21]] = 5
    value, place = np.zeros(1, "float32"), np.zeros(1, "int32")
    tilewright.tir.interpret(sch.mod["main"], a, value, place)
    assert (value[0], place[0]) == (5, 9)


def test_threads_that_would_not_keep_the_first_of_equal_terms_are_refused():
    def steps(sch):
        _, inner = sch.split(sch.get_loops("I")[0], [None, 8])
        sch.bind(inner, "threadIdx.x")

    check_refused(
        argmax,
        steps,
        "error: bind: block I keeps the first of equal terms, and the threads of loop k_1 would not have consecutive "
        "ones\n"
        "note: k_1 was made from this line\n"
        "help: make loop k_1 the outermost of the loops of this sum",
    )


def test_all_threads_get_a_sum_in_registers():
    """A loop of the sum that is bound inside of the same threads: each has the whole sum, and uses it."""
    sch = schedule_of(centred)
    i, j = sch.get_loops("B")
    sch.bind(i, "blockIdx.x")
    j_0, j_1 = sch.split(j, [None, 8])
    sch.reorder(j_1, j_0)
    sch.bind(j_1, "threadIdx.x")
    sch.compute_at("S", j_1)
    sch.set_scope("S", 0, "local")
    _, inner = sch.split(sch.get_loops("S")[-1], [None, 8])
    sch.bind(inner, "threadIdx.x")
    sch.verify()


@T.prim_func
def centred(A: T.Buffer((5, 32), "float32"), B: T.Buffer((5, 32), "float32")):
    S = T.alloc_buffer((5,))
    for i, k in T.grid(5, 32):
        with T.block("S"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                S[vi] = T.float32(0)
            S[vi] = S[vi] + A[vi, vk]
    for i, j in T.grid(5, 32):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] - S[vi] * T.float32(1 / 32)


@T.prim_func
def centred_by_threads(A: T.Buffer((5, 32), "float32"), B: T.Buffer((5, 32), "float32")):
    S = T.alloc_buffer((5,), scope="shared")
    for i in T.thread_binding(5, thread="blockIdx.x"):
        for ax0_0 in range(4):
            for ax0_1 in T.thread_binding(8, thread="threadIdx.x"):
                with T.block("S"):
                    vi = T.axis.spatial(5, i)
                    vk = T.axis.reduce(32, ax0_0 * 8 + ax0_1)
                    with T.init():
                        S[vi] = T.float32(0)
                    S[vi] = S[vi] + A[vi, vk]
        for j_0 in range(4):
            for j_1 in T.thread_binding(8, thread="threadIdx.x"):
                with T.block("B"):
                    vi = T.axis.spatial(5, i)
                    vj = T.axis.spatial(32, j_0 * 8 + j_1)
                    B[vi, vj] = A[vi, vj] - S[vi] * T.float32(1 / 32)


def test_a_sum_by_threads_before_what_the_same_threads_make_of_it():
    def steps(sch):
        i, j = sch.get_loops("B")
        sch.bind(i, "blockIdx.x")
        sch.bind(sch.split(j, [None, 8])[1], "threadIdx.x")
        sch.compute_at("S", i)
        sch.set_scope("S", 0, "shared")
        sch.bind(sch.split(sch.get_loops("S")[-1], [None, 8])[1], "threadIdx.x")

    check_schedule(centred, steps, centred_by_threads)


def test_a_factored_sum_whose_parts_are_in_registers():
    sch = schedule_of(row_sum)
    i, k = sch.get_loops("B")
    _, inner = sch.split(k, [None, 8])
    part = sch.rfactor(inner, 0)
    sch.set_scope(part, 0, "local")
    i, thread = sch.get_loops("B")
    sch.bind(i, "blockIdx.x")
    sch.bind(thread, "threadIdx.x")
    sch.compute_at(part, thread)
    sch.verify()


def test_terms_on_two_axes_of_threads():
    sch = schedule_of(row_sum)
    i, k = sch.get_loops("B")
    outer, middle, inner = sch.split(k, [None, 4, 4])
    sch.bind(i, "blockIdx.x")
    sch.bind(middle, "threadIdx.y")
    sch.bind(inner, "threadIdx.x")
    sch.verify()


def test_a_sum_whose_start_is_a_block_of_its_own():
    sch = schedule_of(row_sum)
    i, k = sch.get_loops("B")
    outer, inner = sch.split(k, [None, 8])
    sch.decompose_reduction("B", outer)
    sch.bind(i, "blockIdx.x")
    sch.bind(inner, "threadIdx.x")
    sch.verify()
