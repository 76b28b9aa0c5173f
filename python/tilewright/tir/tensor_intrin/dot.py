"""Rows of int8 products summed by fours: what the dot product instructions of several machines compute."""

from ...script import parse

_TEXT = """
@T.prim_func
def dot_{rows}x4(A: T.Buffer((4,), "{a}"), B: T.Buffer(({rows}, 4), "{b}"), C: T.Buffer(({rows},), "{c}")):
    with T.block("root"):
        T.reads(C[0:{rows}], A[0:4], B[0:{rows}, 0:4])
        T.writes(C[0:{rows}])
        for i in range({rows}):
            for k in range(4):
                with T.block("update"):
                    vi, vk = T.axis.remap("SR", [i, k])
                    C[vi] = C[vi] + T.cast(A[vk], "{c}") * T.cast(B[vi, vk], "{c}")
"""


def rows_of_fours(rows: int, a: str, b: str, c: str):
    """C[i] += sum of A[k] * B[i, k] over k in range(4), for i in range(rows).

    a, b, c  dtypes of the three buffers
    """
    return parse(_TEXT.format(rows=rows, a=a, b=b, c=c))
