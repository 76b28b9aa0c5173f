"""The scope of a view is printed where it is not that of the buffer that it views."""

import pytest

import tilewright as tw
from tilewright.script import parse

PROGRAM = """
@T.prim_func
def main(A: T.Buffer((16, 8), "float32")):
    with T.block("root"):
        B = T.alloc_buffer((16, 8), scope="{buffer}")
        for i in range(4):
            with T.block("B"):
                vi = T.axis.spatial(4, i)
                T.reads(A[vi * 4:vi * 4 + 4, 0:8])
                T.writes(B[vi * 4:vi * 4 + 4, 0:8])
                V = T.match_buffer(B[vi * 4:vi * 4 + 4, 0:8], (4, 8), scope="{view}")
                for a, b in T.grid(4, 8):
                    V[a, b] = A[vi * 4 + a, b]
"""


@pytest.mark.parametrize("buffer", ["global", "local"])
@pytest.mark.parametrize("view", ["global", "local", "shared"])
def test_a_view_keeps_its_scope(buffer, view):
    func = parse(PROGRAM.format(buffer=buffer, view=view))
    text = str(func)
    assert (f'scope="{view}"' in text.split("match_buffer", 1)[1].split("\n", 1)[0]) == (view != buffer)
    tw.ir.assert_structural_equal(parse(text), func)
