"""split: factors and what is refused."""

import pytest

import tilewright
from tilewright.script import tir as T  # noqa: N812


def test_a_factor_beyond_64_bits_is_refused():
    @T.prim_func
    def main(A: T.Buffer((8,), "float32")):
        for i in range(8):
            with T.block("A"):
                vi = T.axis.spatial(8, i)
                A[vi] = T.float32(1)

    sch = tilewright.Schedule(main)
    (i,) = sch.get_loops(sch.get_block("A"))
    with pytest.raises(tilewright.UserError) as refusal:
        sch.split(i, [2**63, None])
    assert str(refusal.value) == "error: 9223372036854775808 is not a 64-bit integer"
