"""A fact about sizes that a loop or a condition states holds inside of it only, and one about memory until it is written: `range(k)` lets nothing else take k to be positive."""

import numpy as np
import pytest

import tilewright
from tilewright import tir

BUILDS = {"llvm": {}, "c": {"target": "c"}, "check_bounds": {"check_bounds": True}}
COPY = "\nfor i in range(16):\n    A[i] = T.Cast('int32', L[i])"
ZEROS = "L = T.alloc_buffer((16,), '{0}')\nfor i in range(16):\n    L[i] = T.{0}(0)\n"
# A[T.min(2, k) % 8] is A[5] where k is -3
PROGRAMS = {
    "a loop": "for i in range(k):\n    A[i] = 1\nA[T.min(2, k) % 8] = 2",
    "a loop in a loop": "for o in range(2):\n    for i in range(k):\n        A[i] = 1\n    A[(T.min(2, k) + o) % 8] = 2",
    "an upper bound": "for i in range(4 - k):\n    A[0] = 1\nA[T.max(2, k) // 4] = 2",
    "the extent itself": "for i in range(T.min(k, J[T.min(2, k) % 4])):\n    A[i] = 3",
    "a condition": "if k > 0:\n    A[0] = 1\nA[T.min(2, k) % 8] = 2",
    "a choice": "A[0] = T.if_then_else(k > 0, A[k], 1)\nA[T.min(2, k) % 8] = 2",
    "a loop of memory": "for i in range(J[0]):\n    J[0] = -5\n    A[J[0] % 8] = 2",
    "a condition of memory": "if J[0] > 0:\n    J[0] = -5\n    A[J[0] % 8] = 2",
    "a loop of memory over elements of its own": ZEROS.format("int32") + "for i in range(J[0]):\n    J[0] = -5\n    L[J[0] % 8] = 2" + COPY,
    "elements of its own": ZEROS.format("int32") + "for i in range(k):\n    L[i] = 4\nL[T.min(2, k) % 8] = 2" + COPY,
    "parts of bytes": ZEROS.format("int4") + "for i in range(k):\n    L[i] = T.int4(4)\nL[T.min(2, k) % 8] = T.int4(2)" + COPY,
}  # fmt: skip
SIZES = [-3, 0, 1, 3, 7]


def parsed(body, size="int32"):
    lines = "\n".join("    " + line for line in body.split("\n"))
    return tilewright.script.parse(
        f"@T.prim_func\ndef f(A: T.Buffer((16,), 'int32'), J: T.Buffer((4,), '{size}'), k: T.{size}):\n{lines}\n"
    )


def inputs(size="int32"):
    """The 16 elements lie inside of others; J."""
    return np.zeros(48, "int32")[16:32], np.array([5, 7, 9, 11], size)


def check(program, original, size="int32", **options):
    f = tilewright.build(program, **options)["f"]
    for k in SIZES:
        (a, j), (expected, expected_j) = inputs(size), inputs(size)
        f(a, j, k)
        tir.interpret(original, expected, expected_j, k)
        np.testing.assert_array_equal(a, expected)
        assert not a.base[:16].any()
        assert not a.base[32:].any()


@pytest.mark.parametrize("build", BUILDS)
@pytest.mark.parametrize("size", ["int32", "int64"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_what_is_said_is_forgotten(name, size, build):
    body = PROGRAMS[name].replace("-5", "T.int64(-5)") if size == "int64" else PROGRAMS[name]
    check(parsed(body, size), parsed(body, size), size, **BUILDS[build])


NEST = """for o in range({}):
    for i in range(k):
        with T.block("inner"):
            v, w = T.axis.remap("SS", [o, i])
            A[w] = 1
    with T.block("last"):
        v = T.axis.spatial({}, (T.min(2, k) + o) % 8)
        A[v] = 2"""


def scheduled(body, change):
    sch = tilewright.Schedule(parsed(body))
    change(sch)
    return sch.mod


@pytest.mark.parametrize("name", ["split", "loop_partition"])
def test_schedules_forget_it_as_well(name):
    def change(sch):
        loop = sch.get_loops(sch.get_block("inner"))[0]
        if name == "split":
            sch.split(loop, [2, 2])
        else:
            sch.loop_partition(loop, [1, 3])

    body = NEST.format(4, 8)
    check(scheduled(body, change), parsed(body))


def test_a_new_layout_forgets_it_as_well():
    body = """L = T.alloc_buffer((16,), "int32")
for i in range(16):
    with T.block("zeros"):
        v = T.axis.spatial(16, i)
        L[v] = 0
for i in range(k):
    with T.block("some"):
        v = T.axis.spatial(k, i)
        L[v] = 4
with T.block("one"):
    L[T.min(2, k) % 8] = 2
for i in range(16):
    with T.block("copy"):
        v = T.axis.spatial(16, i)
        A[v] = L[v]"""
    changed = scheduled(
        body, lambda sch: sch.transform_layout(sch.get_block("copy"), "L", lambda i: (i // 4, i % 4))
    )
    assert "L[v // 4, v % 4]" in str(changed)
    check(changed, parsed(body))
