"""check_bounds: an access that leaves its buffer is an error of the call, with buffer, index, extent and line."""

import numpy as np
import pytest
from refusals import refusal

import tilewright
from tilewright import relax
from tilewright.script import parse

GATHER = """
@T.prim_func
def gather(A: T.Buffer((8,), "float32"), J: T.Buffer((4,), "int32"), B: T.Buffer((4,), "float32")):
    for i in range(4):
        with T.block("B"):
            vi = T.axis.spatial(4, i)
            B[vi] = A[J[vi]]
"""
A = np.arange(8, dtype="float32")


def checked(text: str, target: str = "llvm", **options):
    return tilewright.build(parse(text), target, check_bounds=True, **options)


def ints(*values, dtype="int32"):
    return np.array(values, dtype=dtype)


@pytest.mark.parametrize("target", ["llvm", "c"])
def test_an_index_from_memory(target):
    gather, out = checked(GATHER, target), np.zeros(4, "float32")
    gather(A, ints(7, 0, 3, 1), out)
    np.testing.assert_array_equal(out, [7, 0, 3, 1])
    assert refusal(gather, A, ints(1, 2, 9, 3), out) == (
        "error: gather: dimension 0 of buffer A has extent 8, but its index J[vi] is 9 at vi = 2\n"
        "  <script>:7:23\n"
        "   7 |             B[vi] = A[J[vi]]\n"
        "     |                       ^^^^^\n"
        "help: indices are 0 to 7; guard the access with a condition, or shorten the loop"
    )
    assert "index J[vi] is -1 at vi = 0" in refusal(gather, A, ints(-1, 2, 3, 3), out)


def test_a_store_and_an_open_extent():
    f = checked("""
    @T.prim_func
    def f(a: T.handle, J: T.Buffer((3,), "int64")):
        n = T.int64()
        A = T.match_buffer(a, (n,), "int8")
        for i in range(3):
            A[J[i] + 1] = T.int8(1)
    """)
    a = np.zeros(5, "int8")
    f(a, ints(0, 1, 3, dtype="int64"))
    np.testing.assert_array_equal(a, [0, 1, 1, 0, 1])
    assert refusal(f, a, ints(0, 1, 4, dtype="int64")) == (
        "error: f: dimension 0 of buffer A has extent n = 5, but its index J[i] + 1 is 5 at i = 2\n"
        "  <script>:7:15\n"
        "   7 |             A[J[i] + 1] = T.int8(1)\n"
        "     |               ^^^^^^^^\n"
        "help: indices are 0 to n - 1; guard the access with a condition, or shorten the loop"
    )


def test_an_error_in_a_thread_ends_the_loop_and_the_call():
    f = checked("""
    @T.prim_func
    def f(A: T.Buffer((8,), "int32"), J: T.Buffer((64,), "int32"), B: T.Buffer((64,), "int32")):
        for i in T.parallel(64):
            for j in T.vectorized(1):
                B[i] = A[J[i]]
    """)
    j, out = np.arange(64, dtype="int32") % 8, np.zeros(64, "int32")
    f(np.arange(8, dtype="int32"), j, out)
    np.testing.assert_array_equal(out, j)
    j[50] = 8
    for _ in range(20):
        assert "index J[i] is 8 at i = 50" in refusal(f, np.arange(8, dtype="int32"), j, out)


def test_a_vectorized_loop():
    f = checked("""
    @T.prim_func
    def f(A: T.Buffer((8,), "float32"), J: T.Buffer((16,), "int32"), B: T.Buffer((16,), "float32")):
        for i in T.vectorized(16):
            B[i] = A[J[i]]
    """)
    j, out = np.arange(16, dtype="int32") % 8, np.zeros(16, "float32")
    f(A, j, out)
    np.testing.assert_array_equal(out, A[j])
    j[11] = 100
    assert "index J[i] is 100 at i = 11" in refusal(f, A, j, out)


RAMP = """
@T.prim_func
def f(a: T.handle, B: T.Buffer((4,), "float32"), n: T.int32):
    m = T.int32()
    A = T.match_buffer(a, (m,))
    B[0:4] = A[n:n + 4]
"""


def test_a_ramp_is_checked_at_both_ends():
    f, out = checked(RAMP), np.zeros(4, "float32")
    f(A, out, 4)
    np.testing.assert_array_equal(out, [4, 5, 6, 7])
    assert "dimension 0 of buffer A has extent m = 8, but its index" in refusal(f, A, out, 5)
    assert "is -1 at n = -1" in refusal(f, A, out, -1)


def test_lanes_that_a_mask_leaves_out_are_not_checked():
    f = checked("""
    @T.prim_func
    def f(a: T.handle, B: T.Buffer((4,), "float32"), n: T.int32):
        m = T.int32()
        A = T.match_buffer(a, (m,))
        B[T.Ramp(0, 1, 4)] = A.vload([T.Ramp(n, 1, 4)], predicate=T.Ramp(n, 1, 4) < T.Broadcast(m, 4))
    """)
    out = np.zeros(4, "float32")
    f(A, out, 6)
    np.testing.assert_array_equal(out[:2], [6, 7])
    assert "is -2 at n = -2" in refusal(f, A, out, -2)


def test_what_a_predicate_leaves_out_is_not_checked():
    f = checked("""
    @T.prim_func
    def f(a: T.handle, b: T.handle, J: T.Buffer((6,), "int32")):
        n = T.int32()
        A = T.match_buffer(a, (n,))
        B = T.match_buffer(b, (n,))
        for i, j in T.grid((n + 3) // 4, 4):
            with T.block("B"):
                vi = T.axis.spatial(n, i * 4 + j)
                T.where(i * 4 + j < n)
                B[vi] = A[vi] + A[J[vi]]
    """)
    a, out = np.arange(6, dtype="float32"), np.zeros(6, "float32")
    f(a, out, ints(0, 1, 2, 3, 4, 5))
    np.testing.assert_array_equal(out, 2 * a)
    assert "index J[vi] is 6 at vi = 5" in refusal(f, a, out, ints(0, 1, 2, 3, 4, 6))
    assert "dimension 0 of buffer J has extent 6, but its index vi is 6" in refusal(
        f, np.zeros(7, "float32"), np.zeros(7, "float32"), ints(0, 1, 2, 3, 4, 5)
    )


def test_conditions_are_asked_in_order():
    f = checked("""
    @T.prim_func
    def f(A: T.Buffer((8,), "float32"), J: T.Buffer((4,), "int32"), B: T.Buffer((4,), "float32"), n: T.int32):
        for i in range(n):
            if i < 4 and J[i] < 8:
                B[i] = T.if_then_else(J[i] >= 0, A[J[i]], T.float32(-1))
    """)
    out = np.zeros(4, "float32")
    f(A, ints(-3, 9, 7, 0), out, 6)
    np.testing.assert_array_equal(out, [-1, 0, 7, 0])


def test_both_values_of_a_select_are_read():
    f = checked("""
    @T.prim_func
    def f(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
        for i in range(8):
            if i > -1:
                B[i] = T.Select(i > 0, A[i - 1], T.float32(0))
    """)
    assert "index i - 1 is -1 at i = 0" in refusal(f, A, np.zeros(8, "float32"))


def test_extents_of_loops_and_conditions_of_while():
    f = checked("""
    @T.prim_func
    def f(P: T.Buffer((3,), "int32"), B: T.Buffer((8,), "int32"), n: T.int32):
        for k in range(P[n], P[n + 1]):
            B[k] = k
        while B[P[0]] < 5:
            P[0] = P[0] + 1
    """)
    p, out = ints(0, 3, 8), np.zeros(8, "int32")
    f(p, out, 1)
    np.testing.assert_array_equal(out, [0, 0, 0, 3, 4, 5, 6, 7])
    assert p[0] == 5
    assert "buffer P has extent 3, but its index n + 1 is 3 at n = 2" in refusal(f, p, out, 2)
    assert "buffer B has extent 8, but its index k is 8" in refusal(f, ints(0, 3, 9), out, 1)
    assert "buffer B has extent 8, but its index P[0] is 8" in refusal(f, ints(0, 3, 3), out * 0, 1)


def test_memory_that_is_allocated_and_reductions():
    text = """
    @T.prim_func
    def f(A: T.Buffer((4, 5), "float32"), J: T.Buffer((5,), "int32"), B: T.Buffer((4,), "float32")):
        S = T.alloc_buffer((4, 5))
        for i, j in T.grid(4, 5):
            with T.block("S"):
                vi, vj = T.axis.remap("SS", [i, j])
                S[vi, vj] = A[vi, vj] * T.float32(2)
        for i, j in T.grid(4, 5):
            with T.block("B"):
                vi, vj = T.axis.remap("SR", [i, j])
                with T.init():
                    B[vi] = T.float32(0)
                B[vi] = B[vi] + S[vi, J[vj]]
    """
    f = checked(text, schedule=False)  # schedules by rules inline S: an error would name A
    a, out = np.arange(20, dtype="float32").reshape(4, 5), np.zeros(4, "float32")
    f(a, ints(0, 0, 4, 3, 1), out)
    np.testing.assert_array_equal(out, 2 * a[:, [0, 0, 4, 3, 1]].sum(1))
    assert "dimension 1 of buffer S has extent 5, but its index J[vj] is 5 at vj = 3" in refusal(
        f, a, ints(0, 0, 4, 5, 1), out
    )


def test_views_are_checked_against_their_own_extents():
    f = checked("""
    @T.prim_func
    def f(A: T.Buffer((16,), "float32"), J: T.Buffer((4,), "int32"), n: T.int32):
        for i in range(4):
            with T.block("A"):
                vi = T.axis.opaque(4, i)
                T.reads(J[vi])
                T.writes(A[n:n + 4])
                V = T.match_buffer(A[n:n + 4], (4,), offset_factor=1)
                V[J[vi]] = T.float32(vi)
    """)
    a = np.full(16, -1, "float32")
    f(a, ints(3, 2, 1, 0), 12)
    np.testing.assert_array_equal(a[12:], [3, 2, 1, 0])
    assert "buffer V has extent 4, but its index J[vi] is 4 at vi = 1" in refusal(f, a, ints(3, 4, 1, 0), 0)
    assert refusal(f, a, ints(3, 2, 1, 0), 13).startswith(
        "error: f: match_buffer: A[n:n + 4] reaches 13:17 in dimension 0, which has extent 16\n"
    )


def test_a_view_that_is_larger_than_its_region():
    f = checked("""
    @T.prim_func
    def f(A: T.Buffer((16,), "float32"), n: T.int32):
        for i in range(4):
            with T.block("A"):
                vi = T.axis.opaque(4, i)
                T.reads()
                T.writes(A[0:n])
                V = T.match_buffer(A[0:n], (4,), offset_factor=1)
                V[vi] = T.float32(vi)
    """)
    a = np.zeros(16, "float32")
    f(a, 4)
    np.testing.assert_array_equal(a[:5], [0, 1, 2, 3, 0])
    assert refusal(f, a, 3) == (
        "error: f: match_buffer: dimension 0 of V has extent 4, but its region A[0:n] has 3\n"
        "  <script>:5:18\n"
        '   5 |             with T.block("A"):\n'
        "     |                  ^^^^^^^^^^^^\n"
        "help: the function is f(A: float32[16] (written), n: int32)"
    )


def test_memory_under_another_name():
    f = checked("""
    @T.prim_func
    def f(a: T.handle, n: T.int32):
        m = T.int32()
        A = T.match_buffer(a, (m,))
        V = T.decl_buffer((n, 4), data=A.data)
        for i, j in T.grid(n, 4):
            V[i, j] = T.float32(i)
    """)
    a = np.zeros(8, "float32")
    f(a, 2)
    np.testing.assert_array_equal(a, [0, 0, 0, 0, 1, 1, 1, 1])
    assert refusal(f, a, 3).startswith(
        "error: f: buffer V begins at element 0 and ends at bit 384 of buffer A, which has 256 bits\n"
    )


def test_an_axis_outside_of_its_domain():
    f = checked("""
    @T.prim_func
    def f(A: T.Buffer((8,), "float32"), J: T.Buffer((4,), "int32")):
        for i in range(4):
            with T.block("A"):
                vj = T.axis.opaque(8, J[i])
                T.reads(J[i])
                T.writes(A[vj])
                A[vj] = T.float32(1)
    """)
    assert "buffer A has extent 8, but its index vj is 30" in refusal(f, A.copy(), ints(1, 2, 3, 30))


def test_what_is_scheduled_is_checked_where_it_was_written():
    sch = tilewright.Schedule(parse(GATHER))
    (i,) = sch.get_loops(sch.get_block("B"))
    outer, inner = sch.split(i, [None, 2])
    sch.parallel(outer)
    sch.vectorize(inner)
    f = tilewright.build(sch.mod, check_bounds=True)
    assert "index J[vi] is 9 at vi = 2\n  <script>:7:23\n" in refusal(
        f["gather"], A, ints(1, 2, 9, 3), np.zeros(4, "float32")
    )


def test_what_is_proved_makes_the_same_code():
    text = """
    @T.prim_func
    def f(A: T.Buffer((128,), "float32"), B: T.Buffer((128,), "float32")):
        for i in range(128):
            with T.block("B"):
                vi = T.axis.spatial(128, i)
                B[vi] = A[127 - vi] + T.float32(1)
    """
    assert tilewright.build(parse(text), check_bounds=True).get_source("ll") == tilewright.build(
        parse(text)
    ).get_source("ll")


def test_a_plain_build_has_no_checks():
    assert "extent" not in tilewright.build(parse(GATHER)).get_source("ll")


def test_plain_and_checked_builds_do_not_share_code(tmp_path, monkeypatch):
    monkeypatch.setenv("TILEWRIGHT_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("TILEWRIGHT_CACHE_MB", "10")
    out, wrong = np.zeros(4, "float32"), ints(1, 2, 9, 3)
    for _ in range(2):
        tilewright.build(parse(GATHER))(A, ints(1, 2, 3, 3), out)
        assert "is 9 at vi = 2" in refusal(checked(GATHER), A, wrong, out)


def test_a_graph():
    module = parse("""
    @I.ir_module
    class Module:
        @T.prim_func(private=True)
        def gather(A: T.Buffer((8,), "float32"), J: T.Buffer((4,), "int32"), B: T.Buffer((4,), "float32")):
            for i in range(4):
                with T.block("B"):
                    vi = T.axis.spatial(4, i)
                    B[vi] = A[J[vi]]

        @R.function
        def main(x: R.Tensor((8,), "float32"), j: R.Tensor((4,), "int32")):
            cls = Module
            with R.dataflow():
                y = R.call_tir(cls.gather, (x, j), out_sinfo=R.Tensor((4,), "float32"))
                R.output(y)
            return y
    """)
    main = tilewright.VirtualMachine(tilewright.compile(module, check_bounds=True))["main"]
    np.testing.assert_array_equal(main(A, ints(3, 1, 0, 7)).numpy(), [3, 1, 0, 7])
    assert "dimension 0 of buffer A has extent 8, but its index J[vi] is 8 at vi = 3\n" in refusal(
        main, A, ints(3, 1, 0, 8)
    )


@pytest.mark.parametrize("dtype", ["int32", "int64"])
@pytest.mark.parametrize("shape", [(8,), (8, 3)])
def test_take_that_trusts_its_indices(dtype, shape):
    x = relax.Var("x", relax.TensorType(shape, "float32"))
    j = relax.Var("j", relax.TensorType((3,), dtype))
    builder = relax.BlockBuilder()
    with builder.function("main", [x, j]):
        builder.emit_func_output(builder.emit(relax.op.take(x, j, axis=0, mode="fast")))
    main = tilewright.VirtualMachine(tilewright.compile(builder.get(), check_bounds=True))["main"]
    data = np.arange(np.prod(shape), dtype="float32").reshape(shape)
    np.testing.assert_array_equal(main(data, ints(7, 0, 3, dtype=dtype)).numpy(), data[[7, 0, 3]])
    for wrong, shown in ((8, 8), (-9, -1), (2**31 - 1, 2**31 - 1)):  # those below 0 count from the end
        text = refusal(main, data, ints(1, wrong, 2, dtype=dtype))
        assert "has extent 8, but its index" in text and f"is {shown} at" in text


@pytest.mark.parametrize(
    ("index", "value"),
    [
        ("J[0] * 65536 * 65536", 2**32),
        ("J[0] + 2147483647", 2**31),
        ("-2147483647 - J[0] * 2", -(2**31) - 1),
    ],
)
def test_a_value_that_int32_does_not_hold_is_shown_as_it_is_compared(index, value):
    f = checked(f"""
    @T.prim_func
    def f(A: T.Buffer((8,), "int32"), J: T.Buffer((1,), "int32")):
        A[0] = A[{index}]
    """)
    assert f"dimension 0 of buffer A has extent 8, but its index {index} is {value}\n" in refusal(
        f, np.zeros(8, "int32"), ints(1)
    )


@pytest.mark.parametrize("target", ["llvm", "c"])
@pytest.mark.parametrize(
    ("dtype", "index", "shown", "value"),
    [
        ("uint64", "J[0]", "J[0]", 2**64 - 1),
        ("uint64", "J[0]", "J[0]", 2**63),
        ("uint64", "J[0]", "J[0]", 5),
        ("uint32", "J[0]", "J[0]", 2**32 - 1),
        ("int64", "J[0] + J[1]", "J[0] + J[1]", 9),
        ("int32", 'T.Cast("int64", J[0] + J[1])', 'T.Cast("int64", J[0] + J[1])', 9),
        ("int8", "J[0] + J[1]", "J[0] + J[1]", 100),
    ],
)
def test_numbers_in_texts_are_plain(target, dtype, index, shown, value):
    f = checked(
        f"""
    @T.prim_func
    def f(A: T.Buffer((5,), "float32"), J: T.Buffer((2,), "{dtype}")):
        A[{index}] = T.float32(1)
    """,
        target,
    )
    assert refusal(f, np.zeros(5, "float32"), np.array([value, 0], dtype)).splitlines()[0] == (
        f"error: f: dimension 0 of buffer A has extent 5, but its index {shown} is {value}"
    )


def test_an_index_of_uint64_in_the_interpreter():
    f = parse("""
    @T.prim_func
    def f(A: T.Buffer((5, 2), "float32"), J: T.Buffer((1,), "uint64")):
        A[J[0], 1] = T.float32(1)
    """)
    text = refusal(tilewright.tir.interpret, f, np.zeros((5, 2), "float32"), np.array([2**64 - 1], "uint64"))
    assert text.splitlines()[0] == (
        "error: A[18446744073709551615, 1] is outside of the buffer: dimension 0 has extent 5"
    )
