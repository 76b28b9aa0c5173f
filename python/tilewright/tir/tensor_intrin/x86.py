"""Dot products of 16 rows with AVX-512: one VNNI instruction, or three of the older set.

Source: Intel Intrinsics Guide, _mm512_dpbusd_epi32, _mm512_maddubs_epi16, _mm512_madd_epi16.
"""

from ...script import parse
from .._tensor_intrin import TensorIntrin
from .dot import rows_of_fours

VNNI_DOT_16x4_INTRIN = "dot_16x4_vnni"
AVX512_DOT_16x4_INTRIN = "dot_16x4_avx512"

_HEAD = """
@T.prim_func
def impl(A: T.Buffer((4,), "uint8", offset_factor=1), B: T.Buffer((16, 4), "int8", offset_factor=1), C: T.Buffer((16,), "int32", offset_factor=1)):
    with T.block("root"):
        T.reads(C[0:16], A[0:4], B[0:16, 0:4])
        T.writes(C[0:16])
        four = T.reinterpret("int32", A.vload([0], "uint8x4"))
        rows = B.vload([0, 0], "int8x64")
"""
_VNNI = """
        C[0:16] = T.call_llvm_pure_intrin(
            "int32x16", "llvm.x86.avx512.vpdpbusd.512", C[0:16], T.Broadcast(four, 16), T.reinterpret("int32x16", rows)
        )
"""
_AVX512 = """
        pairs = T.call_llvm_pure_intrin(
            "int16x32", "llvm.x86.avx512.pmaddubs.w.512", T.reinterpret("int8x64", T.Broadcast(four, 16)), rows
        )
        C[0:16] = C[0:16] + T.call_llvm_pure_intrin(
            "int32x16", "llvm.x86.avx512.pmaddw.d.512", pairs, T.Broadcast(T.int16(1), 32)
        )
"""

dot_product_16x4_u8i8i32_desc = rows_of_fours(16, "uint8", "int8", "int32")
dot_product_16x4_u8i8i32_vnni = parse(_HEAD + _VNNI.lstrip("\n"))
dot_product_16x4_u8i8i32_avx512 = parse(_HEAD + _AVX512.lstrip("\n"))

TensorIntrin.register(
    VNNI_DOT_16x4_INTRIN, dot_product_16x4_u8i8i32_desc, dot_product_16x4_u8i8i32_vnni, override=True
)
TensorIntrin.register(
    AVX512_DOT_16x4_INTRIN, dot_product_16x4_u8i8i32_desc, dot_product_16x4_u8i8i32_avx512, override=True
)
