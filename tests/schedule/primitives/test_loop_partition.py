"""loop_partition: each part of the loop is a program of its own."""

import tilewright
from tilewright.script import tir as T  # noqa: N812


def test_parts_of_a_loop_have_views_and_lets_of_their_own():
    @T.prim_func
    def main(A: T.Buffer((12,), "float32"), B: T.Buffer((12,), "float32")):
        for i in range(12):
            with T.block("B"):
                vi = T.axis.spatial(12, i)
                T.reads(A[vi])
                T.writes(B[vi])
                source = T.match_buffer(A[vi : vi + 1], (1,), offset_factor=1)
                twice = source[0] * T.float32(2)
                B[vi] = twice + twice

    sch = tilewright.Schedule(main, debug_mask=1)
    sch.loop_partition(sch.get_loops("B")[0], [2, 3])
    func = sch.mod["main"]
    tilewright.ir.assert_structural_equal(tilewright.script.parse(func.script()), func)
    sch.verify()
