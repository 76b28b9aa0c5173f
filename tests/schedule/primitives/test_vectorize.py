"""vectorize: iterations of a loop become lanes of vector instructions."""

from primitive_testing import check_refused, check_schedule, double, running_sum

from tilewright.script import tir as T


@T.prim_func
def in_vectors(A: T.Buffer((5, 8), "float32"), B: T.Buffer((5, 8), "float32")):
    for i in T.serial(5):
        for j in T.vectorized(8):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] * T.float32(2)


@T.prim_func
def of_open_length(a: T.handle, b: T.handle):
    n = T.int64()
    A = T.match_buffer(a, (n,), "float32")
    B = T.match_buffer(b, (n,), "float32")
    for i in range(n):
        with T.block("B"):
            vi = T.axis.spatial(n, i)
            B[vi] = A[vi] * T.float32(2)


def test_a_loop_is_marked():
    check_schedule(double, lambda sch: sch.vectorize(sch.get_loops("B")[1]), in_vectors)


def test_an_open_extent_is_refused():
    check_refused(
        of_open_length,
        lambda sch: sch.vectorize(sch.get_loops("B")[0]),
        "error: vectorize: loop i has extent n, which is not constant\n"
        "help: split it by a constant and vectorize the inner loop",
    )


def test_iterations_that_read_what_others_write_are_refused():
    check_refused(
        running_sum,
        lambda sch: sch.vectorize(sch.get_loops("A")[0]),
        "error: vectorize: loop i cannot be vectorized: block A writes A[vi + 1], which block A reads in another "
        "iteration of loop i\nnote: block A at i=1 may read A[1], written by block A at i=0",
    )
