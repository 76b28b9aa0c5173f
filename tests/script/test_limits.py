"""T.min_value, T.max_value and T.infinity in scripts: the ends of a dtype's range, as literals."""

from tilewright.ir import assert_structural_equal
from tilewright.script import tir as T  # noqa: N812


def test_limits_are_literals():
    @T.prim_func
    def written(A: T.Buffer((3,), "float16"), B: T.Buffer((2,), "float32"), C: T.Buffer((2,), "int8")):
        A[0] = T.min_value("float16")
        A[1] = T.max_value("float16")
        B[0] = T.min_value("float32")
        B[1] = T.infinity("float32")
        C[0] = T.min_value("int8")
        C[1] = T.max_value("int8")

    @T.prim_func
    def expected(A: T.Buffer((3,), "float16"), B: T.Buffer((2,), "float32"), C: T.Buffer((2,), "int8")):
        A[0] = T.float16(-65504.0)
        A[1] = T.float16(65504.0)
        B[0] = T.float32(-3.4028234663852886e38)
        B[1] = T.float32("inf")
        C[0] = T.int8(-128)
        C[1] = T.int8(127)

    assert_structural_equal(written.with_attr("global_symbol", "f"), expected.with_attr("global_symbol", "f"))
