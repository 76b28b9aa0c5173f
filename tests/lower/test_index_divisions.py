"""Indices and extents that divide by 0 are refused, whatever target and dtype; values by 0 are 0, and nothing ends the process."""

import numpy as np
import pytest
from refusals import refusal

import tilewright
from tilewright import relax, te, tir
from tilewright.relax import TensorType

BUILDS = {"llvm": {}, "c": {"target": "c"}, "check_bounds": {"check_bounds": True}}
HELP = "help: an index or an extent needs the result; guard it with a condition, or call with other values"
DTYPES = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]


def built(body, params="A: T.Buffer((4,), 'int32'), k: T.int32", **options):
    lines = "\n".join("    " + line for line in body.split("\n"))
    text = f"@T.prim_func\ndef f({params}):\n{lines}\n"
    return tilewright.build(tilewright.script.parse(text), **options)["f"]


def ints(n=4, dtype="int32"):
    return np.zeros(n, dtype)


@pytest.mark.parametrize("build", BUILDS)
def test_the_error_names_the_division_its_divisor_and_the_line(build):
    f, a = built("A[3 % k] = 7", **BUILDS[build]), ints()
    f(a, 2)
    np.testing.assert_array_equal(a, [0, 7, 0, 0])
    assert refusal(f, a, 0) == (
        "error: f: 3 % k divides by k, which is 0\n"
        "  <script>:3:7\n"
        "   3 |     A[3 % k] = 7\n"
        "     |       ^^^^^\n" + HELP
    )


# what is written, a k that is right, what it makes of four zeros, and the division that k = 0 stops at
SURE = {
    "remainder": ("A[3 % k] = 1", 2, [0, 1, 0, 0], "3 % k divides by k"),
    "quotient": ("A[3 // k] = 1", 3, [0, 1, 0, 0], "3 // k divides by k"),
    "truncated remainder": ("A[T.truncmod(3, k)] = 1", 2, [0, 1, 0, 0], "T.truncmod(3, k) divides by k"),
    "truncated quotient": ("A[T.truncdiv(3, k)] = 1", 3, [0, 1, 0, 0], "T.truncdiv(3, k) divides by k"),
    "rounded up": ("A[T.ceildiv(3, k)] = 1", 3, [0, 1, 0, 0], "(3 + (k - 1)) // k divides by k"),
    "a difference": ("A[3 % (k - 5)] = 1", 7, [0, 1, 0, 0], None),
    "an extent": ("for i in range(8 // k):\n    A[i] = 1", 4, [1, 1, 0, 0], "8 // k divides by k"),
    "a parallel extent": ("for i in T.parallel(8 // k):\n    A[i] = 1", 4, [1, 1, 0, 0], "8 // k divides by k"),
    "a begin": ("for i in range(8 // k, 4):\n    A[i] = 1", 4, [0, 0, 1, 1], "8 // k divides by k"),
    "of a loop": ("for i in range(4):\n    A[i % k] = 1", 2, [1, 1, 0, 0], "i % k divides by k"),
    "of a loop of vectors": ("for i in T.vectorized(4):\n    A[i % k] = 1", 2, [1, 1, 0, 0], "i % k divides by k"),
    "a let": ("x: T.let[T.int32] = 3 // k\nA[x] = 1", 3, [0, 1, 0, 0], "3 // k divides by k"),
    "a loaded index": ("A[0] = A[3 % k] + 1", 2, [1, 0, 0, 0], "3 % k divides by k"),
    "in a condition": ("if A[3 % k] == 0:\n    A[0] = 1", 2, [1, 0, 0, 0], "3 % k divides by k"),
    "an address": ("T.evaluate(T.address_of(A[3 % k]))\nA[0] = 1", 2, [1, 0, 0, 0], "3 % k divides by k"),
    "an allocation": ("B = T.alloc_buffer((8 // k,), 'int32')\nB[1] = 1\nA[0] = B[1]", 4, [1, 0, 0, 0], "8 // k divides by k"),
    "a while": ("while A[3 % k] < 1:\n    A[3 % k] = 1", 2, [0, 1, 0, 0], "3 % k divides by k"),
    "twice": ("A[12 // k // k] = 1", 2, [0, 0, 0, 1], "12 // k divides by k"),
    "nested": ("A[8 // (4 // k)] = 1", 1, [0, 0, 1, 0], "4 // k divides by k"),
    "an axis": ("for i in range(2):\n    with T.block('b'):\n        v = T.axis.spatial(2, i % k)\n        A[v] = 1", 1, [1, 0, 0, 0], "i % k divides by k"),
    "a view": (
        "for i in range(2):\n    with T.block('b'):\n        v = T.axis.spatial(2, i)\n"
        "        V = T.match_buffer(A[i % k:i % k + 2], (2,), 'int32', offset_factor=1)\n        V[1] = 1",
        1, [0, 1, 0, 0], "i % k divides by k",
    ),
    "a vector": ("A[T.Ramp(0, 1, 4) % T.Broadcast(k, 4)] = T.Broadcast(1, 4)", 2, [1, 1, 0, 0], "% "),
}  # fmt: skip


@pytest.mark.parametrize("build", BUILDS)
@pytest.mark.parametrize("name", SURE)
def test_divisions_in_indices_and_extents(name, build):
    body, good, expected, text = SURE[name]
    f, a = built(body, **BUILDS[build]), ints()
    f(a, good)
    np.testing.assert_array_equal(a, expected)
    bad, text = (5, "3 % (k - 5) divides by k - 5, which is 0 at k = 5") if text is None else (0, text)
    found = refusal(f, a, bad)
    assert found.startswith("error: f: ")
    assert text in found or "v % k divides by k" in found
    assert "which is 0" in found


# divisions that a condition keeps from 0, or not
GUARDED = {
    "an if": ("if k > 0:\n    A[3 % k] = 1", False),
    "an if of data": ("if A[0] == 0:\n    A[3 % k] = 1", True),
    "an if in a loop": ("for i in range(3):\n    if k > 0:\n        A[3 % k + i] = 1", False),
    "an if of data in a loop": ("for i in range(3):\n    if A[i] == 0:\n        A[(3 + i) % k] = 1", True),
    "a choice": ("A[T.if_then_else(k > 0, 3 % k, 0)] = 1", False),
    "a choice of data": ("A[T.if_then_else(A[0] == 0, 3 % k, 0)] = 1", True),
    "a select": ("A[T.Select(k > 0, 3 % k, 0)] = 1", False),
    "a select of data": ("A[T.Select(A[0] == 0, 3 % k, 0)] = 1", True),
    "a value of a select": ("A[0] = T.Select(k > 0, A[3 % k], 1)", False),
    "an and": ("if k > 0 and A[3 % k] == 0:\n    A[0] = 1", False),
    "an and of data": ("if A[0] == 0 and A[3 % k] == 0:\n    A[0] = 1", True),
    "an assertion": ("assert k > 0 or k == 0, 'k'\nA[3 % k] = 1", True),
    "a predicate": ("for i in range(3):\n    with T.block('b'):\n        v = T.axis.spatial(3, i)\n        T.where(i < k)\n        A[v % k] = 1", False),
    "a loop that does not run": ("for i in range(k):\n    A[i % k] = 1", False),
    "its product": ("for i in range(k * 3):\n    A[i % k] = 1", False),
    "a divisor of loops": ("for i in range(2):\n    A[3 // (i + k)] = 1", True),
}  # fmt: skip


@pytest.mark.parametrize("build", BUILDS)
@pytest.mark.parametrize("name", GUARDED)
def test_divisions_under_conditions_are_checked_where_they_are(name, build):
    body, is_refused = GUARDED[name]
    f = built(body, **BUILDS[build])
    if is_refused:
        assert "which is 0" in refusal(f, ints(), 0)
    else:
        f(ints(), 0)
    f(ints(), 2)


@pytest.mark.parametrize("build", BUILDS)
def test_a_divisor_that_memory_holds_is_the_users_risk(build):
    f, a = built("A[3 // A[k]] = 1", **BUILDS[build]), ints()
    if build == "check_bounds":
        assert "f: 3 // A[k] divides by A[k], which is 0 at k = 2\n" in refusal(f, a, 2)
    else:
        f(a, 2)
        np.testing.assert_array_equal(a, [1, 0, 0, 0])
    a[:] = 2
    f(a, 2)
    np.testing.assert_array_equal(a, [2, 1, 2, 2])


@pytest.mark.parametrize("build", BUILDS)
def test_a_dividend_that_memory_holds(build):
    f = built(
        "A[J[0] // k] = 1",
        "A: T.Buffer((4,), 'int32'), J: T.Buffer((1,), 'int32'), k: T.int32",
        **BUILDS[build],
    )
    a = ints()
    f(a, np.int32([6]), 2)
    np.testing.assert_array_equal(a, [0, 0, 0, 1])
    assert "J[0] // k divides by k, which is 0" in refusal(f, a, np.int32([6]), 0)
    assert "J[0] // k divides -2147483648 by k, which is -1" in refusal(f, a, np.int32([-(2**31)]), -1)


@pytest.mark.parametrize("build", BUILDS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_every_dtype(dtype, build):
    params = f"A: T.Buffer((4,), 'int32'), n: T.{dtype}, k: T.{dtype}"
    for operator, expected in (("//", [0, 1, 0, 0]), ("%", [0, 0, 1, 0])):
        f, a = built(f"A[T.Cast('int32', n {operator} k)] = 1", params, **BUILDS[build]), ints()
        f(a, 5, 3)
        np.testing.assert_array_equal(a, expected)
        assert f"f: n {operator} k divides by k, which is 0\n" in refusal(f, a, 5, 0)
        if dtype.startswith("uint"):
            continue
        least = int(np.iinfo(dtype).min)
        f(a, 0, -1)
        assert (
            f"f: n {operator} k divides {least} by k, which is -1: the quotient overflows {dtype}\n"
            in refusal(f, a, least, -1)
        )


@pytest.mark.parametrize("build", BUILDS)
@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_a_quotient_that_is_divided_again(dtype, build):
    f = built(
        "A[n // k // k] = 1", f"A: T.Buffer((4,), 'int32'), n: T.{dtype}, k: T.{dtype}", **BUILDS[build]
    )
    a, least = ints(), int(np.iinfo(dtype).min)
    f(a, 12, 2)
    f(a, 2, -1)
    np.testing.assert_array_equal(a, [0, 0, 1, 1])
    assert "n // k divides by k, which is 0" in refusal(f, a, 12, 0)
    assert f"n // k divides {least} by k, which is -1" in refusal(f, a, least, -1)


@pytest.mark.parametrize("build", ["llvm", "c"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_values_by_zero_are_zero(dtype, build):
    """numpy's numbers, without its warning."""
    least = int(np.iinfo(dtype).min)
    a, b = np.array([7, least, 0, least], dtype), np.array([0, -1 if least else 1, 0, 0], dtype)
    for text in ("A[i] // B[i]", "A[i] % B[i]", "T.truncdiv(A[i], B[i])", "T.truncmod(A[i], B[i])"):
        f = built(
            f"for i in range(4):\n    C[i] = {text}",
            f"A: T.Buffer((4,), '{dtype}'), B: T.Buffer((4,), '{dtype}'), C: T.Buffer((4,), '{dtype}')",
            **BUILDS[build],
        )
        out = np.full(4, 9, dtype)
        f(a, b, out)
        np.testing.assert_array_equal(out, [0, least if "%" not in text and "mod" not in text else 0, 0, 0])


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_interpreter_refuses_both(dtype):
    text = f"@T.prim_func\ndef f(A: T.Buffer((4,), '{dtype}'), k: T.{dtype}):\n    A[0] = A[1] // k\n"
    module, a = tilewright.script.parse(text), ints(4, dtype)
    assert "A[1] // k: 0 is divided by zero" in refusal(tir.interpret, module, a, 0)
    if dtype.startswith("int"):
        a[1] = np.iinfo(dtype).min
        tir.interpret(module, a, -1)
        assert a[0] == np.iinfo(dtype).min


@pytest.mark.parametrize("target", ["llvm", "c"])
@pytest.mark.parametrize("checked", [False, True])
@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_tensor_expressions(dtype, checked, target):
    n = tir.Var("n", dtype)
    A = te.placeholder((n,), "float32", name="A")
    B = te.compute((8,), lambda i: A[i % n], name="B")
    f = tilewright.build(te.create_prim_func([A, B]), target, check_bounds=checked)
    out = np.zeros(8, "float32")
    f(np.arange(3, dtype="float32"), out)
    np.testing.assert_array_equal(out, np.arange(8) % 3)
    assert "% n divides by n, which is 0\n" + HELP in refusal(f, np.zeros(0, "float32"), out)


def test_emit_te_in_a_graph():
    builder, n = relax.BlockBuilder(), tir.Var("n", "int64")
    x = relax.Var("x", TensorType((n,), "float32"))
    with builder.function("main", [x]):
        builder.emit_func_output(
            builder.emit_te(lambda a: te.compute((8,), lambda i: a[i % n], name="wrapped"), x)
        )
    model = relax.VirtualMachine(tilewright.compile(builder.get()))["main"]
    np.testing.assert_array_equal(np.asarray(model(np.arange(3, dtype="float32"))), np.arange(8) % 3)
    assert "% n divides by n, which is 0" in refusal(model, np.zeros(0, "float32"))


@pytest.mark.parametrize("build", BUILDS)
def test_shapes_and_strides_of_parameters(build):
    f = built(
        "m = T.int32()\nA = T.match_buffer(a, (m // k,), 'int32')\nB = T.match_buffer(b, (m,), 'int32')\nB[0] = 1",
        "a: T.handle, b: T.handle, k: T.int32",
        **BUILDS[build],
    )
    f(ints(2), ints(4), 2)
    assert "m // k divides by k, which is 0" in refusal(f, ints(0), ints(4), 0)


def test_what_is_proved_is_not_asked():
    module = tilewright.script.parse("""
    @T.prim_func
    def f(a: T.handle, b: T.handle, n: T.int32, m: T.int32):
        A = T.match_buffer(a, (n, m), "int32")
        B = T.match_buffer(b, (n * m,), "int32")
        for i in range(n * m):
            B[i] = A[i // m, i % m]
    """)
    assert "divides" not in tilewright.build(module, "c").get_source("c")
