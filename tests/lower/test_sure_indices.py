"""Indices of every form that surely run are refused at the start of a call, whatever makes the index: vectors, views, shifts, wrapping."""

import numpy as np
import pytest
from refusals import refusal

import tilewright
from tilewright import te, tir

BUILDS = {"llvm": {}, "c": {"target": "c"}, "check_bounds": {"check_bounds": True}}
SIZES = ["int32", "int64"]


def built(body, size="int64", params="", **options):
    """A program of A, m float32 behind whose end lie more, and of what `params` says."""
    lines = "\n".join("    " + line for line in body.split("\n"))
    text = (
        f"@T.prim_func\ndef f(a: T.handle{params}):\n    m = T.{size}()\n"
        f"    A = T.match_buffer(a, (m,), 'float32')\n{lines}\n"
    )
    return tilewright.build(tilewright.script.parse(text), **options)["f"]


def memory(length):
    """`length` zeros inside of others."""
    return np.zeros(400, "float32")[100 : 100 + length]


def written(array):
    """Lists those of 400 places around `array` that were written."""
    return np.flatnonzero(array.base) - 100


ONE, FOUR = "T.float32(1)", "T.Broadcast(T.float32(1), 4)"
# body, scalars, their values, the smallest m that is enough, the places that are written, the end of the text one below
CASES = {
    "a slice": (f"A[4:8] = {FOUR}", "", (), 8, [4, 5, 6, 7], "index T.Ramp(4, 1, 4) is 7"),
    "a ramp": (f"A[T.Ramp(1, 2, 4)] = {FOUR}", "", (), 8, [1, 3, 5, 7], "index T.Ramp(1, 2, 4) is 7"),
    "a ramp down": (f"A[T.Ramp(6, -2, 4)] = {FOUR}", "", (), 7, [0, 2, 4, 6], "index T.Ramp(6, -2, 4) is 6"),
    "a ramp of a loop": (f"for i in range(2):\n    A[T.Ramp(i * 4, 1, 4)] = {FOUR}", "", (), 8, list(range(8)), "is 7"),
    "a ramp by a scalar": (f"A[T.Ramp(n, 1, 4)] = {FOUR}", ", n: T.int32", (3,), 7, [3, 4, 5, 6], "is 6"),
    "a vector": (f"A[T.Ramp(0, 1, 4) * 2 + 1] = {FOUR}", "", (), 8, [1, 3, 5, 7], "is 7"),
    "a loaded vector": ("A[0:4] = A[4:8] + " + FOUR, "", (), 8, [0, 1, 2, 3], "is 7"),
    "a loop of vectors": (f"for i in T.vectorized(8):\n    A[i] = {ONE}", "", (), 8, list(range(8)), "index i is 7 at i = 7"),
    "a shift to the left": (f"A[n << 3] = {ONE}", ", n: T.int32", (1,), 9, [8], "index T.shift_left(n, 3) is 8"),
    "a shift of a loop": (f"for i in range(3):\n    A[i << 2] = {ONE}", "", (), 9, [0, 4, 8], "is 8 at i = 2"),
    "a shift to the right": (f"for i in range(9):\n    A[i >> 1] = {ONE}", "", (), 5, [0, 1, 2, 3, 4], "is 4 at i = 8"),
    "a mask": (f"for i in range(9):\n    A[i & 3] = {ONE}", "", (), 4, [0, 1, 2, 3], "is 3 at i = 3"),
    "an unsigned loop": (f"for i in range(n):\n    A[i] = {ONE}", ", n: T.uint8", (5,), 5, [0, 1, 2, 3, 4], "index i is 4 at i = 4"),
    "a wide unsigned loop": (f"for i in range(n):\n    A[i] = {ONE}", ", n: T.uint64", (5,), 5, [0, 1, 2, 3, 4], "index i is 4 at i = 4"),
    "a cast unsigned loop": (f"for i in range(T.Cast('int32', n)):\n    A[i] = {ONE}", ", n: T.uint16", (5,), 5, [0, 1, 2, 3, 4], "is 4 at i = 4"),
    "a small signed index": (f"A[T.Cast('int32', n)] = {ONE}", ", n: T.int8", (5,), 6, [5], "is 5"),
    "a remainder of a quotient": (f"for i in range(40):\n    A[(i // 6) % 6] = {ONE}", "", (), 6, list(range(6)), "is 5 at i = 30"),
    "a remainder of a minimum": (f"for i in range(20):\n    A[T.min(8, i) % 5] = {ONE}", "", (), 5, list(range(5)), "is 4 at i = 4"),
    "a remainder of a maximum": (f"for i in range(7):\n    A[T.max(n, i) % 5] = {ONE}", ", n: T.int32", (3,), 5, [0, 1, 3, 4], "is 4 at i = 4"),
    "a remainder backwards": (f"for i in range(7):\n    A[(n - i) % 6] = {ONE}", ", n: T.int32", (3,), 6, list(range(6)), "is 5 at i = 4"),
    "a remainder of two loops": (f"for i, j in T.grid(2, 3):\n    A[(i + j) % 3] = {ONE}", "", (), 3, [0, 1, 2], "is 2 at i = 1, j = 1"),
    "a difference of two loops": (f"for i, j in T.grid(2, 3):\n    A[(i - j) % 4] = {ONE}", "", (), 4, [0, 1, 2, 3], "is 3 at i = 0, j = 1"),
    "a quotient of a long loop": (f"for i in range(9000):\n    A[(i // 1000) % 9] = {ONE}", "", (), 9, list(range(9)), "is 8 at i = 8000"),
    "a truncated quotient": (f"for i in range(10):\n    A[T.truncdiv(i, 4)] = {ONE}", "", (), 3, [0, 1, 2], "is 2 at i = 9"),
    "a truncated remainder": (f"for i in range(10):\n    A[T.truncmod(i, 4)] = {ONE}", "", (), 4, [0, 1, 2, 3], "is 3 at i = 3"),
    "a remainder below zero": (f"for i in range(9):\n    A[3 + T.truncmod(i - 8, 4)] = {ONE}", "", (), 4, [0, 1, 2, 3], "is 3 at i = 8"),
    "a quotient by a scalar": (f"for i in range(9):\n    A[i // n] = {ONE}", ", n: T.int32", (2,), 5, [0, 1, 2, 3, 4], "is 4 at i = 8"),
    "a quotient by a negative one": (f"for i in range(9):\n    A[(i - 8) // n] = {ONE}", ", n: T.int32", (-2,), 5, [0, 1, 2, 3, 4], "is 4 at i = 0"),
    "a remainder by a scalar": (f"for i in range(9):\n    A[i % n] = {ONE}", ", n: T.int32", (4,), 4, [0, 1, 2, 3], "is 3 at i = 3"),
    "a choice": (f"for i in range(4):\n    A[T.Select(n > 2, i + 1, i)] = {ONE}", ", n: T.int32", (3,), 5, [1, 2, 3, 4], "is 4 at i = 3"),
    "another choice": (f"for i in range(4):\n    A[T.if_then_else(n > 2, i + 1, i)] = {ONE}", ", n: T.int32", (2,), 4, [0, 1, 2, 3], "is 3 at i = 3"),
    "a boolean": (f"A[T.Cast('int32', n)] = {ONE}", ", n: T.bool", (True,), 2, [1], "is 1"),
}  # fmt: skip


@pytest.mark.parametrize("build", BUILDS)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", CASES)
def test_the_smallest_extent_that_is_enough(name, size, build):
    body, params, values, enough, places, text = CASES[name]
    f = built(body, size, params, **BUILDS[build])
    for length in (enough, enough + 3):
        a = memory(length)
        f(a, *values)
        np.testing.assert_array_equal(written(a), places)
    for length in (enough - 1, 0):
        a = memory(length)
        found = refusal(f, a, *values)
        assert f"error: f: dimension 0 of buffer A has extent m = {length}, but its index" in found
        if build != "check_bounds":
            assert written(a).size == 0
            assert text in found.replace("T.int64(", "(") or length == 0


WRAPS = {
    "a sum": ("n + 2147483647", 2, 2147483649),
    "a difference": ("n - 2147483647", -2, -2147483649),
    "a product": ("n * 65536 * 65536", 1, 4294967296),
    "a square": ("n * n", 65536, 4294967296),
    "a quotient": ("(n + 2147483647) // 2", 3, 1073741825),
    "a cast": ("T.Cast('int64', n + 2147483647)", 2, 2147483649),
    "a minimum": ("T.min(n + 2147483647, 2147483640)", 2, 2147483640),
}


@pytest.mark.parametrize("target", ["llvm", "c"])
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", WRAPS)
def test_int32_that_wraps_is_outside(name, size, target):
    index, n, value = WRAPS[name]
    f = built(f"A[{index}] = {ONE}", size, ", n: T.int32", target=target)
    found = refusal(f, memory(3), n).replace("T.int32(2147483647)", "2147483647")
    assert f"has extent m = 3, but its index {index.replace(chr(39), chr(34))} is {value}\n" in found


@pytest.mark.parametrize("target", ["llvm", "c"])
def test_a_loop_of_int32_that_wraps(target):
    f = built(f"for i in range(n):\n    A[i * 65536 * 65536] = {ONE}", "int32", ", n: T.int32", target=target)
    a = memory(3)
    f(a, 1)
    np.testing.assert_array_equal(written(a), [0])
    assert "is 8589934592 at i = 2" in refusal(f, a, 3)


# int8 and uint8 wrap, as values of these types do: what is asked is what is there
@pytest.mark.parametrize(("dtype", "n", "place"), [("int8", 3, 6), ("uint8", 131, 6), ("int32", 3, 6)])
def test_small_integers_wrap(dtype, n, place):
    f = built(f"A[T.Cast('int32', n * T.{dtype}(2))] = {ONE}", params=f", n: T.{dtype}")
    a = memory(7)
    f(a, n)
    np.testing.assert_array_equal(written(a), [place])
    assert "is 6" in refusal(f, memory(6), n)


VIEW = """for i in range(4):
    with T.block("b"):
        v = T.axis.spatial(4, i)
        V = T.match_buffer(A[v * 2:v * 2 + 2], (2,), "float32", offset_factor=1)
        V[0] = T.float32(1)
        V[1] = T.float32(2)"""


@pytest.mark.parametrize("build", BUILDS)
@pytest.mark.parametrize("size", SIZES)
def test_a_view_of_an_open_buffer(size, build):
    f, a = built(VIEW, size, **BUILDS[build]), memory(8)
    f(a)
    np.testing.assert_array_equal(a, [1, 2] * 4)
    a = memory(7)
    assert refusal(f, a).startswith(
        "error: f: match_buffer: A[v * 2:v * 2 + 2] reaches 6:8 in dimension 0, which has extent 7\n"
        "  <script>:6:14\n"
    )
    if build != "check_bounds":
        assert written(a).size == 0


@pytest.mark.hand_made
def test_a_view_below_zero_and_one_under_a_predicate():
    body = VIEW.replace("v * 2:v * 2 + 2", "v * 2 - n:v * 2 - n + 2")
    f = built(body, params=", n: T.int64")
    f(memory(8), 0)
    assert "reaches -3:-1 in dimension 0, which has extent 8" in refusal(f, memory(8), 3)
    f = built(VIEW.replace("        V = ", "        T.where(i < 3)\n        V = "))
    a = memory(6)
    f(a)
    np.testing.assert_array_equal(a, [1, 2] * 3)


def test_elements_of_an_open_view():
    f = built(
        "with T.block('b'):\n    k = T.int64()\n    V = T.match_buffer(A[0:m], (k,), 'float32')\n"
        "    V[n] = T.float32(1)",
        params=", n: T.int64",
    )
    a = memory(4)
    f(a, 3)
    np.testing.assert_array_equal(written(a), [3])
    assert "dimension 0 of buffer V has extent k = 4, but its index n is 4" in refusal(f, a, 4)


ROWS = """
@T.prim_func
def f(a: T.handle):
    n, m = T.int64(), T.int64()
    A = T.match_buffer(a, (n, m), "float32")
    A[0, 0:6] = T.Broadcast(T.float32(1), 6)
"""


@pytest.mark.parametrize("target", ["llvm", "c"])
def test_a_vector_may_go_on_in_the_next_row(target):
    """As tensor intrinsics load tiles."""
    f = tilewright.build(tilewright.script.parse(ROWS), target)["f"]
    for shape in ((2, 3), (6, 1), (1, 6), (3, 4)):
        a = np.zeros(shape, "float32")
        f(a)
        np.testing.assert_array_equal(a.reshape(-1)[:6], 1)
    for shape in ((1, 5), (2, 2), (5, 1), (0, 6)):
        found = refusal(f, memory(shape[0] * shape[1]).reshape(shape))
        assert (
            f"of buffer A has extent {'n = 0' if 0 in shape else f'm = {shape[1]}'}, but its index" in found
        )


def test_fixed_vectors_are_refused_when_the_program_is_made():
    text = "@T.prim_func\ndef f(A: T.Buffer((7,), 'float32')):\n    A[4:8] = T.Broadcast(T.float32(1), 4)\n"
    assert refusal(lambda: tilewright.build(tilewright.script.parse(text))) == (
        "error: dimension 0 of buffer A has extent 7, but its index T.Ramp(4, 1, 4) is 7 at lane = 3\n"
        "  <script>:3:5\n"
        "   3 |     A[4:8] = T.Broadcast(T.float32(1), 4)\n"
        "     |     ^^^^^^\n"
        "help: indices are 0 to 6; guard the access with a condition, or shorten the loop"
    )


@pytest.mark.parametrize(
    "body",
    [
        "for i in range(m):\n    A[i % m] = T.float32(1)",
        "for i in range(m):\n    A[i // 2] = T.float32(1)",
        "for i in range(m):\n    A[T.truncmod(i, m)] = T.float32(1)",
    ],
)
def test_what_is_proved_is_not_asked(body):
    module = tilewright.script.parse(
        "@T.prim_func\ndef f(a: T.handle, m: T.int64):\n    A = T.match_buffer(a, (m + 4,), 'float32')\n"
        + "\n".join("    " + line for line in body.split("\n"))
    )
    assert "but its index" not in tilewright.build(module, "c").get_source("c")


EXPRESSIONS = {
    "a shift": (lambda i, k: tir.shift_left(i, 2), 0, "is 28 at i = 7"),
    "a shift to the right": (lambda i, k: tir.shift_right(i, 1), 0, "is 3 at i = 7"),
    "a quotient's remainder": (lambda i, k: i // 2 % 3, 0, "is 2 at i = 4"),
    "a minimum's remainder": (lambda i, k: te.min(i, 5) % 4, 0, "is 3 at i = 3"),
    "backwards": (lambda i, k: (k - i) % 6, 3, "is 5 at i = 4"),
    "a truncated quotient": (lambda i, k: tir.truncdiv(i, 3), 0, "is 2 at i = 7"),
    "a truncated remainder": (lambda i, k: tir.truncmod(i, 3), 0, "is 2 at i = 2"),
    "a choice": (lambda i, k: tir.Select(k > 2, i + 1, i), 3, "is 8 at i = 7"),
    "a quotient by a scalar": (lambda i, k: i // k, 2, "is 3 at i = 7"),
    "a remainder by a scalar": (lambda i, k: i % k, 5, "is 4 at i = 4"),
    "a sum that wraps": (lambda i, k: i * 0 + k + 2147483647, 1, "is 2147483648"),
}


@pytest.mark.parametrize("target", ["llvm", "c"])
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", EXPRESSIONS)
def test_tensor_expressions(name, size, target):
    index, value, text = EXPRESSIONS[name]
    n, k = tir.Var("n", size), tir.Var("k", "int32")
    A = te.placeholder((n,), "float32", name="A")
    B = te.compute((8,), lambda i: A[index(i, k)], name="B")
    f, out = tilewright.build(te.create_prim_func([A, k, B]), target), np.zeros(8, "float32")
    largest = int(text.split()[1])
    if largest < 100:
        a = np.arange(largest + 1, dtype="float32")
        f(a, value, out)
        assert out.max() == largest
    found = refusal(f, np.zeros(min(largest, 100), "float32"), value, out)
    assert f"dimension 0 of buffer A has extent n = {min(largest, 100)}, but its index" in found
    assert text in found
