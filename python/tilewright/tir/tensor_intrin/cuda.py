"""The dot product of four int8 values of a CUDA thread."""

from ...script import parse
from .._tensor_intrin import TensorIntrin

DP4A_S8S8S32_INTRIN = DP4A_INTRIN = "dp4a_s8s8s32"

_PARAMS = """
@T.prim_func
def dp4a(A: T.Buffer((4,), "int8", offset_factor=1, scope="shared"), B: T.Buffer((4,), "int8", offset_factor=1, scope="shared"), C: T.Buffer((1,), "int32", offset_factor=1, scope="local")):
    with T.block("root"):
        T.reads(C[0], A[0:4], B[0:4])
        T.writes(C[0])
"""
_DESC = """
        for k in range(4):
            with T.block("update"):
                vk = T.axis.remap("R", [k])
                C[0] = C[0] + T.cast(A[vk], "int32") * T.cast(B[vk], "int32")
"""
_IMPL = """
        C[0] = T.dp4a(A.vload([0], "int8x4"), B.vload([0], "int8x4"), C[0])
"""

TensorIntrin.register(
    DP4A_S8S8S32_INTRIN,
    parse(_PARAMS + _DESC.lstrip("\n")),
    parse(_PARAMS + _IMPL.lstrip("\n")),
    override=True,
)
