"""Indices that leave their buffer for some sizes of a call are refused when it is called, at its start."""

import numpy as np
import pytest
from refusals import refusal

import tilewright
from tilewright import relax, te, tir
from tilewright.relax import TensorType

HELP = "help: indices are 0 to {}; guard the access with a condition, or shorten the loop"


def size(name, dtype="int64"):
    return tir.Var(name, dtype)


def built(shape, index, length=8, target="llvm", others=(), **options):
    """B[i] = A[index(i)] for `length` values of i; `others` are tensors that give sizes names."""
    A = te.placeholder(shape, "float32", name="A")
    rest = [te.placeholder((n,), "float32", name=f"S{k}") for k, n in enumerate(others)]
    B = te.compute((length,), lambda i: A[index(i)] + sum((s[0] * 0.0 for s in rest), 0.0), name="B")
    return tilewright.build(te.create_prim_func([A, *rest, B]), target, **options)


def numbers(*shape):
    return np.arange(np.prod(shape), dtype="float32").reshape(shape)


@pytest.mark.parametrize("target", ["llvm", "c"])
@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_a_loop_that_is_longer_than_an_open_extent(dtype, target):
    f, out = built((size("n", dtype),), lambda i: i, target=target), np.zeros(8, "float32")
    f(numbers(9), out)
    np.testing.assert_array_equal(out, numbers(8))
    assert refusal(f, numbers(4), out) == (
        "error: main: dimension 0 of buffer A has extent n = 4, but its index v_i is 7 at i = 7\n"
        + HELP.format("n - 1")
    )
    assert "extent n = 7, but its index v_i is 7 at i = 7" in refusal(f, numbers(7), out)
    assert "extent n = 0, but its index v_i is 7 at i = 7" in refusal(f, numbers(0), out)


N, M = size("n"), size("m")
CASES = {
    "another extent": ((N,), lambda i: i, M, [M], [(5, 5), (9, 5), (0, 0)], {(4, 5): "v_i is 4 at i = 4"}),
    "an offset": ((N,), lambda i: i + M, 3, [M], [(7, 4)], {(6, 4): "+ m is 6 at i = 2"}),
    "backwards": ((N,), lambda i: N - 1 - i, M, [M], [(5, 5), (5, 2)], {(4, 5): "n - 1 - v_i is -1 at i = 4"}),
    "a stride": ((N,), lambda i: i * 3, M, [M], [(13, 5), (0, 0)], {(12, 5): "v_i * 3 is 12 at i = 4"}),
    "a size as stride": ((N,), lambda i: i * M, 3, [M], [(9, 4)], {(8, 4): "* m is 8 at i = 2"}),
    "a quotient": ((N,), lambda i: i // 4, M, [M], [(2, 8), (3, 9)], {(2, 9): "v_i // 4 is 2 at i = 8"}),
    "a remainder": ((N,), lambda i: i % 4, M, [M], [(4, 90), (3, 3)], {(3, 90): "v_i % 4 is 3 at i = 3", (2, 3): "v_i % 4 is 2 at i = 2"}),
    "a shifted remainder": ((N,), lambda i: (i + M) % 4, 2, [M], [(4, 3), (3, 5)], {(3, 6): "is 3 at i = 1"}),
    "the smaller one": ((N,), lambda i: te.min(i, M), 9, [M], [(4, 3), (9, 20)], {(3, 3): "is 3 at i = 8"}),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_sizes_that_fit_run_and_others_are_refused(name):
    shape, index, length, others, good, bad = CASES[name]
    f = built(shape, index, length, others=others)

    def call(n, m):
        out = np.full(m if length is M else length, -1, "float32")
        f(numbers(n), np.ones(max(m, 0), "float32"), out)
        return out

    for n, m in good:
        out = call(n, m) if m else None
        if m:
            assert (out >= 0).all() and (out < n).all()
    for (n, m), text in bad.items():
        assert text in refusal(call, n, m)
        assert f"has extent n = {n}, but its index" in refusal(call, n, m)


@pytest.mark.parametrize("dtype", ["float32", "int8", "float16"])
def test_a_dimension_of_several_and_a_sum(dtype):
    n, m, r = size("n"), size("m"), te.reduce_axis((0, 3), name="r")
    A = te.placeholder((n, m), dtype, name="A")
    B = te.compute((n, 4), lambda i, j: te.sum(A[i, j + r], axis=[r]), name="B")
    f = tilewright.build(te.create_prim_func([A, B]))
    out = np.zeros((2, 4), dtype)
    f(np.ones((2, 6), dtype), out)
    np.testing.assert_array_equal(out, 3)
    assert (
        "dimension 1 of buffer A has extent m = 5, but its index v_j + v_r is 5 at j = 3, r = 2"
        in refusal(f, np.ones((2, 5), dtype), out).replace('T.Cast("int64", v_r)', "v_r")
    )
    f(np.ones((0, 5), dtype), np.zeros((0, 4), dtype))  # no iteration, no access


def test_a_store_beyond_an_open_extent():
    f = tilewright.build(
        tilewright.script.parse("""
        @T.prim_func
        def f(a: T.handle, n: T.int32):
            m = T.int64()
            A = T.match_buffer(a, (m,), "int8")
            for i in range(n):
                A[i + 1] = T.int8(1)
        """)
    )
    a = np.zeros(4, "int8")
    f(a, 3)
    np.testing.assert_array_equal(a, [0, 1, 1, 1])
    assert refusal(f, a, 4) == (
        "error: f: dimension 0 of buffer A has extent m = 4, but its index i + 1 is 4 at i = 3\n"
        "  <script>:7:19\n"
        "   7 |                 A[i + 1] = T.int8(1)\n"
        "     |                   ^^^^^\n" + HELP.format("m - 1")
    )
    f(a, 0), f(a, -5)


@pytest.mark.parametrize("condition", ["i < m", "n > 100"])
def test_what_a_condition_guards_is_not_asked_for(condition):
    f = tilewright.build(
        tilewright.script.parse(f"""
        @T.prim_func
        def f(a: T.handle, n: T.int32):
            m = T.int64()
            A = T.match_buffer(a, (m,), "int8")
            for i in range(n):
                if {condition}:
                    A[i] = T.int8(1)
        """)
    )
    a = np.zeros(4, "int8")
    f(a, 9)
    np.testing.assert_array_equal(a, 1 if condition == "i < m" else 0)


def test_emit_te_in_a_graph():
    builder, n = relax.BlockBuilder(), size("n")
    x = relax.Var("x", TensorType((n,), "float32"))
    with builder.function("main", [x]):
        with builder.dataflow():
            first = builder.emit_te(lambda a: te.compute((8,), lambda i: a[i] * 2.0, name="first"), x)
            out = builder.emit_output(first)
        builder.emit_func_output(out)
    model = tilewright.relax.VirtualMachine(tilewright.compile(builder.get()))["main"]
    np.testing.assert_array_equal(np.asarray(model(numbers(9))), 2 * numbers(8))
    text = refusal(model, numbers(4))
    assert "has extent n = 4, but its index v_i is 7 at i = 7" in text


def test_a_kernel_that_needs_nothing_has_no_check():
    n = size("n")
    A = te.placeholder((n,), "float32", name="A")
    f = tilewright.build(te.create_prim_func([A, te.compute((n,), lambda i: A[n - 1 - i], name="B")]), "c")
    assert "but its index" not in f.get_source("c")


def test_a_remainder_of_two_loops_is_not_taken_for_one_of_a_line():
    """Found: a legal call was refused, as if i - 4 j took every value between its ends."""
    from tilewright.script import parse

    f = tilewright.build(
        parse("""
@T.prim_func
def main(a: T.handle, C: T.Buffer((2, 4), "float32")):
    n = T.int64()
    A = T.match_buffer(a, (n,), "float32")
    for i, j in T.grid(2, 4):
        C[i, j] = A[(i - j * 4) % 16]
""")
    )
    a, c = numbers(14), np.zeros((2, 4), "float32")
    f["main"](a, c)
    i, j = np.indices((2, 4))
    np.testing.assert_array_equal(c, a[(i - j * 4) % 16])


@pytest.mark.parametrize("terms", [0, 2])
def test_what_begins_a_reduction_is_written_without_terms_too(terms):
    """Found: with nothing to add up nothing was asked, and the init wrote behind the end."""
    from tilewright.script import parse

    f = tilewright.build(
        parse("""
@T.prim_func
def main(C: T.Buffer((8,), "float32"), n: T.int32, m: T.int32):
    for i, k in T.grid(n, m):
        with T.block("b"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                C[vi] = T.float32(3)
            C[vi] = C[vi] + T.float32(1)
""")
    )["main"]
    whole = np.zeros(16, "float32")
    assert "has extent 8, but its index vi is 11 at i = 11" in refusal(f, whole[:8], 12, terms)
    f(whole[:8], 7, terms)
    np.testing.assert_array_equal(whole, np.repeat(np.float32([3 + terms, 0]), [7, 9]))
