"""Tensor expressions that read beyond a tensor are refused, with fixed and open extents, as scripts are."""

import numpy as np
import pytest
from refusals import refusal

import tilewright
from tilewright import relax, te, tir


def placeholder(*shape, dtype="float32", name="A"):
    return te.placeholder(shape, name=name, dtype=dtype)


def test_a_summed_axis_that_is_longer():
    def make():
        A, k = placeholder(3), te.reduce_axis((0, 64), name="k")
        te.create_prim_func([A, te.compute((1,), lambda j: te.sum(A[k], axis=[k]), name="B")])

    assert refusal(make) == (
        "error: dimension 0 of buffer A has extent 3, but its index v_k is 63 at k = 63\n"
        "help: indices are 0 to 2; guard the access with a condition, or shorten the loop"
    )


def test_a_negative_index():
    def make():
        A = placeholder(8)
        te.create_prim_func([A, te.compute((8,), lambda i: A[i - 1], name="B")])

    assert refusal(make) == (
        "error: dimension 0 of buffer A has extent 8, but its index v_i - 1 is -1 at i = 0\n"
        "help: indices are 0 to 7; guard the access with a condition, or shorten the loop"
    )


def test_a_window_without_padding():
    def make():
        A = placeholder(1, 6, 6)
        r, s = te.reduce_axis((0, 3), name="r"), te.reduce_axis((0, 3), name="s")
        te.create_prim_func(
            [A, te.compute((1, 6, 6), lambda n, h, w: te.sum(A[n, h + r, w + s], axis=[r, s]), name="B")]
        )

    assert "dimension 1 of buffer A has extent 6, but its index v_h + v_r is 7 at h = 5, r = 2" in refusal(
        make
    )


def test_what_was_computed_before_is_a_tensor_too():
    def make():
        A = placeholder(3)
        B = te.compute((3,), lambda i: A[i] * 2, name="B")
        k = te.reduce_axis((0, 64), name="k")
        te.create_prim_func([A, te.compute((1,), lambda j: te.sum(B[k], axis=[k]), name="C")])

    assert "dimension 0 of buffer B has extent 3, but its index v_k is 63 at k = 63" in refusal(make)


@pytest.mark.parametrize(
    ("extent", "index", "count", "value"),
    [
        (8, lambda i: i % 9, 100, "v_i % 9 is 8 at i = 8"),
        (8, lambda i: (i + 5) % 9, 100, "(v_i + 5) % 9 is 8 at i = 3"),
        (8, lambda i: 3 - i % 5, 98, "3 - v_i % 5 is -1 at i = 4"),
        (8, lambda i: i % 40 // 4, 41, "v_i % 40 // 4 is 8 at i = 32"),
        (8, lambda i: i // 7 % 9, 100, "v_i // 7 % 9 is 8 at i = 56"),
        (8, lambda i: i % 9, 10**6, "v_i % 9 is 8 at i = 8"),
    ],
)
def test_a_remainder_that_is_largest_between_the_ends(extent, index, count, value):
    def make():
        A = placeholder(extent)
        te.create_prim_func([A, te.compute((count,), lambda i: A[index(i)], name="B")])

    assert f"dimension 0 of buffer A has extent {extent}, but its index {value}" in refusal(make)


@pytest.mark.parametrize("index", [lambda i: i % 8, lambda i: i // 13, lambda i: 7 - i % 8])
def test_a_remainder_that_stays_inside_is_legal(index):
    A = placeholder(8)
    te.create_prim_func([A, te.compute((100,), lambda i: A[index(i)], name="B")])


@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_one_too_far_in_an_open_extent(dtype):
    def make():
        n = tir.Var("n", dtype)
        A = placeholder(n)
        te.create_prim_func([A, te.compute((n,), lambda i: A[i + 1], name="B")])

    assert refusal(make) == (
        "error: dimension 0 of buffer A has extent n, but its index v_i + 1 is n at i = n - 1\n"
        "help: indices are 0 to n - 1; guard the access with a condition, or shorten the loop"
    )


def test_a_window_in_open_extents():
    def make():
        n, m = tir.Var("n", "int64"), tir.Var("m", "int64")
        A = placeholder(n, m)
        r = te.reduce_axis((0, 3), name="r")
        te.create_prim_func([A, te.compute((n, m), lambda i, j: te.sum(A[i, j + r], axis=[r]), name="B")])

    assert (
        'dimension 1 of buffer A has extent m, but its index v_j + T.Cast("int64", v_r) is m + 1'
        in refusal(make)
    )


def test_a_negative_index_in_an_open_extent():
    def make():
        n = tir.Var("n", "int64")
        A = placeholder(n)
        te.create_prim_func([A, te.compute((n,), lambda i: A[i - 1], name="B")])

    assert "dimension 0 of buffer A has extent n, but its index v_i - 1 is -1 at i = 0" in refusal(make)


def test_a_fixed_extent_beside_an_open_one():
    def make():
        n = tir.Var("n", "int64")
        A = placeholder(n, 8)
        te.create_prim_func([A, te.compute((n, 8), lambda i, j: A[i, j + 1], name="B")])

    assert "dimension 1 of buffer A has extent 8, but its index v_j + 1 is 8 at j = 7" in refusal(make)


def test_a_guarded_access_is_legal():
    A = placeholder(8)
    zero = tir.FloatImm("float32", 0)
    B = te.compute((8,), lambda i: tir.if_then_else(i < 7, A[i + 1], zero), name="B")
    out = np.zeros(8, "float32")
    tilewright.build(te.create_prim_func([A, B]))(np.arange(8, dtype="float32"), out)
    np.testing.assert_array_equal(out, [1, 2, 3, 4, 5, 6, 7, 0])


def test_a_guarded_access_of_an_open_extent_is_legal():
    n = tir.Var("n", "int64")
    A = placeholder(n)
    zero = tir.FloatImm("float32", 0)
    B = te.compute((n,), lambda i: tir.if_then_else(i + 1 < n, A[i + 1], zero), name="B")
    out = np.zeros(5, "float32")
    tilewright.build(te.create_prim_func([A, B]))(np.arange(5, dtype="float32"), out)
    np.testing.assert_array_equal(out, [1, 2, 3, 4, 0])


N, M = tir.Var("n", "int64"), tir.Var("m", "int64")


@pytest.mark.parametrize(
    ("extent", "index"),
    [
        (M, lambda i: i),
        (N, lambda i: i * 2),
        (N, lambda i: i + M),
        (N, lambda i: N - 1 - i),
        (M, lambda i: i - 1 + M),
    ],
    ids=["another extent", "a stride", "an offset", "backwards", "neither end"],
)
def test_what_some_sizes_allow_stays_legal(extent, index):
    A, S = placeholder(N), placeholder(M, name="S")
    te.create_prim_func([A, S, te.compute((extent,), lambda i: A[index(i)] + S[0], name="B")])


def emitted(extent):
    builder = relax.BlockBuilder()
    x = relax.Var("x", relax.TensorType((extent,), "float32"))
    with builder.function("main", [x]), builder.dataflow():
        far = builder.emit_te(lambda a: te.compute((extent,), lambda i: a[i + 1], name="far"), x)
        builder.emit_func_output(builder.emit_output(far))


def test_emit_te_of_a_fixed_extent():
    assert "dimension 0 of buffer A has extent 8, but its index v_i + 1 is 8 at i = 7" in refusal(
        lambda: emitted(8)
    )


def test_emit_te_of_an_open_extent():
    assert "dimension 0 of buffer A has extent n, but its index v_i + 1 is n at i = n - 1" in refusal(
        lambda: emitted(tir.Var("n", "int64"))
    )


def test_a_script_of_an_open_extent():
    text = """
    @T.prim_func
    def f(a: T.handle, b: T.handle):
        n = T.int64()
        A = T.match_buffer(a, (n,))
        B = T.match_buffer(b, (n,))
        for i in range(n):
            B[i] = A[i + 1]
    """
    assert refusal(lambda: tilewright.script.parse(text)) == (
        "error: dimension 0 of buffer A has extent n, but its index i + 1 is n at i = n - 1\n"
        "  <script>:8:22\n"
        "   8 |             B[i] = A[i + 1]\n"
        "     |                      ^^^^^\n"
        "help: indices are 0 to n - 1; guard the access with a condition, or shorten the loop"
    )


@pytest.mark.parametrize(
    ("length", "extent", "index", "value", "place"),
    [
        (10000, 299, lambda i: i % 300, 299, 299),
        (10000, 300, lambda i: i % 300, None, None),
        (100000, 8, lambda i: i // 1000 % 9, 8, 8000),
        (100000, 9, lambda i: i // 1000 % 9, None, None),
        (10000, 90, lambda i: (i + 7) % 91, 90, 83),
        (10000, 33, lambda i: i // 300, 33, 9999),
    ],
)
def test_quotients_and_remainders_of_long_loops(length, extent, index, value, place):
    """Found: only the first 128 values of a loop were tried."""
    A = te.placeholder((extent,), "float32", name="A")
    B = te.compute((length,), lambda i: A[index(i)], name="B")
    if value is None:
        te.create_prim_func([A, B])
        return
    with pytest.raises(tilewright.UserError) as refused:
        te.create_prim_func([A, B])
    assert f"has extent {extent}, but its index" in str(refused.value)
    assert f"is {value} at i = {place}" in str(refused.value)
