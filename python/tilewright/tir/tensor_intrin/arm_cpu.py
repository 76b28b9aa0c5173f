"""Dot products of 4 rows with the SDOT and UDOT instructions of Arm.

Source: Arm Neon Intrinsics Reference, vdotq_s32 and vdotq_u32.
"""

from ...script import parse
from .._tensor_intrin import TensorIntrin
from .dot import rows_of_fours

ARM_DOT_4x4_i8_SDOT_INTRIN = "dot_4x4_i8i8s32_sdot"
ARM_DOT_4x4_u8_UDOT_INTRIN = "dot_4x4_u8u8u32_udot"

_TEXT = """
@T.prim_func
def impl(A: T.Buffer((4,), "{s}int8", offset_factor=1), B: T.Buffer((4, 4), "{s}int8", offset_factor=1), C: T.Buffer((4,), "{s}int32", offset_factor=1)):
    with T.block("root"):
        T.reads(C[0:4], A[0:4], B[0:4, 0:4])
        T.writes(C[0:4])
        four = T.reinterpret("int32", A.vload([0], "{s}int8x4"))
        C[0:4] = T.call_llvm_pure_intrin(
            "{s}int32x4",
            "llvm.aarch64.neon.{letter}dot.v4i32.v16i8",
            C[0:4],
            T.reinterpret("{s}int8x16", T.Broadcast(four, 4)),
            B.vload([0, 0], "{s}int8x16"),
        )
"""

TensorIntrin.register(
    ARM_DOT_4x4_i8_SDOT_INTRIN,
    rows_of_fours(4, "int8", "int8", "int32"),
    parse(_TEXT.format(s="", letter="s")),
    override=True,
)
TensorIntrin.register(
    ARM_DOT_4x4_u8_UDOT_INTRIN,
    rows_of_fours(4, "uint8", "uint8", "uint32"),
    parse(_TEXT.format(s="u", letter="u")),
    override=True,
)
