"""Accesses that may leave their buffer, but not certainly: the verifier trusts the program."""

import textwrap

import pytest

from tilewright.errors import UserError
from tilewright.script import parse

TRUSTED = {
    "under a condition": """
        for i in range(17):
            if i < 16:
                A[i] = T.float32(0)
    """,
    "in the branch that is not taken": """
        if n > 0:
            A[16] = T.float32(0)
    """,
    "in a choice of values": """
        for i in range(17):
            B[0] = T.if_then_else(i < 16, A[i], T.float32(0))
    """,
    "in a select": """
        for i in range(17):
            B[0] = T.Select(i < 16, A[i], T.float32(0))
    """,
    "behind an and": """
        for i in range(17):
            if i < 16 and A[i] > T.float32(0):
                B[0] = T.float32(1)
    """,
    "in a block with a predicate": """
        for i, j in T.grid(4, 5):
            with T.block("b"):
                vi = T.axis.spatial(16, i * 5 + j)
                T.where(i * 5 + j < 16)
                A[vi] = T.float32(0)
    """,
    "in a loop that never runs": """
        for i in range(0):
            A[i + 16] = T.float32(0)
    """,
    "at an index that is known only at run time": """
        A[n + 16] = T.float32(0)
    """,
    "in a while": """
        while A[0] > T.float32(0):
            A[16] = T.float32(0)
    """,
    "after an assertion": """
        assert n > 0, "n is positive"
        A[16] = T.float32(0)
    """,
    "after a return": """
        if n < 0:
            T.evaluate(T.ret(0))
        A[16] = T.float32(0)
    """,
    "an address behind the end": """
        T.evaluate(T.call_extern("int32", "f", T.address_of(A[16])))
    """,
}


@pytest.mark.parametrize("lines", TRUSTED.values(), ids=TRUSTED.keys())
def test_is_trusted(lines):
    head = '@T.prim_func\ndef f(A: T.Buffer((16,), "float32"), B: T.Buffer((4,), "float32"), n: T.int32):\n'
    parse(head + textwrap.indent(textwrap.dedent(lines).strip(), "    ") + "\n")


def test_a_loop_that_leaves_the_buffer_whenever_it_runs_is_refused():
    with pytest.raises(UserError) as error:
        parse(
            '@T.prim_func\ndef f(A: T.Buffer((16,), "float32"), n: T.int32):\n    for i in range(n):\n        A[16] = T.float32(0)\n'
        )
    assert str(error.value).split("\n")[0] == (
        "error: dimension 0 of buffer A has extent 16, but its index is 16"
    )
