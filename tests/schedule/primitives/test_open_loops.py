"""What is proved of loops over open extents, and of loops that were made of several: each program is run as well."""

from primitive_testing import schedule_of

from tilewright.script import tir as T


@T.prim_func
def double(a: T.handle, b: T.handle):
    n = T.int64()
    m = T.int64()
    A = T.match_buffer(a, (n, m, 8), "float32")
    B = T.match_buffer(b, (n, m, 8), "float32")
    for i, j, k in T.grid(n, m, T.int64(8)):
        with T.block("B"):
            vi, vj, vk = T.axis.remap("SSS", [i, j, k])
            B[vi, vj, vk] = A[vi, vj, vk] * T.float32(2)


def bound(sch, loop, threads=32):
    block, thread = sch.split(loop, [None, threads])
    sch.bind(block, "blockIdx.x")
    sch.bind(thread, "threadIdx.x")
    sch.verify()


def test_a_loop_of_several_open_ones_is_bound():
    sch = schedule_of(double)
    bound(sch, sch.fuse(*sch.get_loops("B")))


def test_a_loop_of_open_ones_and_of_vectors_is_bound():
    sch = schedule_of(double)
    i, j, k = sch.get_loops("B")
    k, lanes = sch.split(k, [None, 4])
    sch.vectorize(lanes)
    bound(sch, sch.fuse(i, j, k))


def test_open_rows_that_two_blocks_share_are_bound():
    """Both blocks touch the elements of one row: f // m and f % m in either."""

    @T.prim_func
    def shifted(a: T.handle, b: T.handle):
        n = T.int64()
        m = T.int64()
        A = T.match_buffer(a, (n, m, 8), "float32")
        B = T.match_buffer(b, (n, m, 8), "float32")
        S = T.alloc_buffer((n, m), "float32")
        for i, j, k in T.grid(n, m, T.int64(8)):
            with T.block("S"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    S[vi, vj] = T.float32(0)
                S[vi, vj] = S[vi, vj] + A[vi, vj, vk]
        for i, j, k in T.grid(n, m, T.int64(8)):
            with T.block("B"):
                vi, vj, vk = T.axis.remap("SSS", [i, j, k])
                B[vi, vj, vk] = A[vi, vj, vk] - S[vi, vj]

    sch = schedule_of(shifted)
    i, j, k = sch.get_loops("B")
    row = sch.fuse(i, j)
    sch.bind(row, "blockIdx.x")
    sch.bind(k, "threadIdx.x")
    sch.set_scope("S", 0, "shared")
    sch.compute_at("S", row, preserve_unit_loops=True)
    sch.bind(sch.get_loops("S")[-1], "threadIdx.x")
    sch.verify()


@T.prim_func
def sums(A: T.Buffer((3, 7, 9), "float32"), B: T.Buffer((3,), "float32")):
    for i, k, l in T.grid(T.int64(3), T.int64(7), T.int64(9)):
        with T.block("B"):
            vi, vk, vl = T.axis.remap("SRR", [i, k, l])
            with T.init():
                B[vi] = T.float32(0)
            B[vi] = B[vi] + A[vi, vk, vl]


def test_threads_add_terms_of_two_axes_in_one_loop():
    sch = schedule_of(sums)
    i, k, l = sch.get_loops("B")
    _, thread = sch.split(sch.fuse(k, l), [None, 32])
    sch.bind(i, "blockIdx.x")
    sch.bind(thread, "threadIdx.x")
    sch.verify()


def test_a_loop_whose_later_iterations_do_nothing_is_bound():
    @T.prim_func
    def one(A: T.Buffer((5,), "float32"), B: T.Buffer((5,), "float32")):
        for i in range(5):
            with T.block("B"):
                vi = T.axis.spatial(5, i)
                B[vi] = A[vi] * T.float32(2)

    sch = schedule_of(one)
    sch.bind(sch.get_loops("B")[0], "blockIdx.x")
    _, thread = sch.split(sch.add_unit_loop("B"), [None, 32])
    sch.bind(thread, "threadIdx.x")
    sch.verify()


def test_digits_may_have_others_between_them():
    """[v // 81, w, v // 9 % 9, v % 9], as channels of images between the images and their pixels."""

    @T.prim_func
    def images(A: T.Buffer((17, 162), "float32"), B: T.Buffer((2, 17, 9, 9), "float32")):
        for i, j in T.grid(T.int64(17), T.int64(162)):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vj // T.int64(81), vi, vj // T.int64(9) % T.int64(9), vj % T.int64(9)] = A[vi, vj]

    sch = schedule_of(images)
    i, j = sch.get_loops("B")
    i0, i1 = sch.split(i, [None, 4])
    j0, j1 = sch.split(j, [None, 16])
    sch.reorder(i0, j0, i1, j1)
    sch.bind(i0, "blockIdx.x")
    sch.bind(j0, "blockIdx.y")
    sch.bind(sch.fuse(i1, j1), "threadIdx.x")
    sch.verify()


@T.prim_func
def product(a: T.handle, B: T.Buffer((21, 45), "float32"), c: T.handle):
    n = T.int64()
    m = T.int64()
    A = T.match_buffer(a, (n, m, 21), "float32")
    C = T.match_buffer(c, (n, m, 45), "float32")
    for i, j, k in T.grid(n * m, T.int64(45), T.int64(21)):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi // m, vi % m, vj] = T.float32(0)
            C[vi // m, vi % m, vj] = C[vi // m, vi % m, vj] + A[vi // m, vi % m, vk] * B[vk, vj]


def test_reindex_of_rows_of_open_length():
    sch = schedule_of(product)
    sch.reindex("C", ("read", 0))
    sch.verify()


def test_results_of_open_tiles_are_written_by_their_threads():
    @T.prim_func
    def rows(a: T.handle, c: T.handle):
        n = T.int64()
        A = T.match_buffer(a, (n, 5), "float32")
        C = T.match_buffer(c, (n, 5), "float32")
        P = T.alloc_buffer(((n + T.int64(7)) // T.int64(8) * T.int64(8), T.int64(5)), "float32")
        for i, j in T.grid((n + T.int64(7)) // T.int64(8) * T.int64(8), T.int64(5)):
            with T.block("P"):
                vi, vj = T.axis.remap("SS", [i, j])
                P[vi, vj] = T.if_then_else(vi < n, A[vi, vj], T.float32(0))
        for i, j in T.grid(n, T.int64(5)):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = P[vi, vj]

    sch = schedule_of(rows)
    i, j = sch.get_loops("P")
    i0, i1, i2 = sch.split(i, [None, 4, 2])
    sch.reorder(i0, i1, j, i2)
    sch.set_scope("P", 0, "local")
    sch.reverse_compute_at("C", j)
    sch.bind(i0, "blockIdx.x")
    sch.bind(i1, "threadIdx.x")
    sch.verify()
