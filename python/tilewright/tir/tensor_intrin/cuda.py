"""The dot product of four int8 values of a CUDA thread, and the products of tensor cores (docs/tensor-cores.md)."""

from ...errors import UserError
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

LDMATRIX_f16_A_INTRIN = "mma_ldmatrix_f16_a"
LDMATRIX_f16_B_INTRIN = "mma_ldmatrix_f16_b"
LDMATRIX_f16_A_TRANS_INTRIN = "mma_ldmatrix_f16_a_trans"
LDMATRIX_f16_B_TRANS_INTRIN = "mma_ldmatrix_f16_b_trans"
LDMATRIX_f16_A_DYN_INTRIN = "mma_ldmatrix_f16_a_dyn"
LDMATRIX_f16_B_DYN_INTRIN = "mma_ldmatrix_f16_b_dyn"
LDMATRIX_bf16_A_INTRIN = "mma_ldmatrix_bf16_a"
LDMATRIX_bf16_B_INTRIN = "mma_ldmatrix_bf16_b"
LDMATRIX_i8_A_INTRIN = "mma_ldmatrix_i8_a"
LDMATRIX_i8_B_INTRIN = "mma_ldmatrix_i8_b"
LDMATRIX_i8_B_TRANS_INTRIN = "mma_ldmatrix_i8_b_trans"
LDMATRIX_e4m3_A_INTRIN = "mma_ldmatrix_e4m3_a"
LDMATRIX_e4m3_B_TRANS_INTRIN = "mma_ldmatrix_e4m3_b_trans"
LDMATRIX_e5m2_A_INTRIN = "mma_ldmatrix_e5m2_a"
LDMATRIX_e5m2_B_TRANS_INTRIN = "mma_ldmatrix_e5m2_b_trans"
MMA_f16f16f32_INTRIN = "mma_f16f16f32"
MMA_f16f16f32_TRANS_A_INTRIN = "mma_f16f16f32_trans_a"
MMA_f16f16f32_TRANS_B_INTRIN = "mma_f16f16f32_trans_b"
MMA_f16f16f16_INTRIN = "mma_f16f16f16"
MMA_f16f16f16_TRANS_B_INTRIN = "mma_f16f16f16_trans_b"
MMA_bf16bf16f32_INTRIN = "mma_bf16bf16f32"
MMA_i8i8i32_INTRIN = "mma_i8i8i32"
MMA_i8i8i32_TRANS_B_INTRIN = "mma_i8i8i32_trans_b"
MMA_e4m3e4m3f32_TRANS_B_INTRIN = "mma_e4m3e4m3f32_trans_b"
MMA_e5m2e5m2f32_TRANS_B_INTRIN = "mma_e5m2e5m2f32_trans_b"
MMA_fill_16x16_f32_INTRIN = "mma_fill_16x16_f32"
MMA_fill_16x16_f16_INTRIN = "mma_fill_16x16_f16"
MMA_fill_16x16_i32_INTRIN = "mma_fill_16x16_i32"
MMA_store_16x16_f32_global_INTRIN = "mma_store_16x16_f32_global"
MMA_store_16x16_f16_global_INTRIN = "mma_store_16x16_f16_global"
MMA_store_16x16_i32_global_INTRIN = "mma_store_16x16_i32_global"

_ELEMENTS = {
    "float16": ("f16", 2),
    "bfloat16": ("bf16", 2),
    "float32": ("tf32", 1),
    "int8": ("i8", 4),
    "uint8": ("u8", 4),
    "float8_e4m3fn": ("e4m3", 4),
    "float8_e5m2": ("e5m2", 4),
}
_SUMS = {"float32": "f32", "float16": "f16", "int32": "i32"}


def get_mma_intrin_group(
    load_scope: str,
    store_scope: str,
    a_dtype: str,
    b_dtype: str,
    out_dtype: str,
    trans_a: bool = False,
    trans_b: bool = False,
) -> dict:
    """The names of the intrinsics of one kind of product by tensor cores, and the layouts of their fragments.

    load_scope        where tiles of A and B are: "shared" or "shared.dyn"
    store_scope       where results go: "global", "shared" or "shared.dyn"
    a_dtype, b_dtype  of elements; "float32" are those of tf32
    out_dtype         of sums: "float32", "float16" or "int32"
    trans_a, trans_b  A is [terms, rows], B is [columns, terms]
    Returns           names "init", "load_a", "load_b", "compute" and "store"; "index_map_a", "index_map_b" and "index_map_c":
                      from a place in a tile to [lane of the warp, element of the lane]
    Raises            UserError for dtypes that no intrinsic has
    >>> tilewright.tir.tensor_intrin.cuda.get_mma_intrin_group("shared", "global", "float16", "float16", "float32")["compute"]
    mma_f16f16f32
    """
    for dtype, known in ((a_dtype, _ELEMENTS), (b_dtype, _ELEMENTS), (out_dtype, _SUMS)):
        if dtype not in known:
            raise UserError(
                f"tensor cores have no intrinsics for {dtype}\nhelp: {', '.join(known)} can be used here"
            )
    (a, pack), (b, _), out = _ELEMENTS[a_dtype], _ELEMENTS[b_dtype], _SUMS[out_dtype]
    group, dyn = 4 * pack, "_dyn" if load_scope == "shared.dyn" else ""

    def of_a(i, k):
        return [i % 8 * 4 + k % group // pack, k // group * (2 * pack) + i // 8 * pack + k % pack]

    def of_b(k, j):
        return [j % 8 * 4 + k % group // pack, j // 8 * (2 * pack) + k // group * pack + k % pack]

    def of_c(i, j):
        return [i % 8 * 4 + j % 8 // 2, j // 8 * 4 + i // 8 * 2 + j % 2]

    return {
        "init": f"mma_fill_16x16_{out}",
        "load_a": f"mma_ldmatrix_{a}_a{'_trans' if trans_a else ''}{dyn}",
        "load_b": f"mma_ldmatrix_{b}_b{'_trans' if trans_b else ''}{dyn}",
        "compute": f"mma_{a}{b}{out}{'_trans_a' if trans_a else ''}{'_trans_b' if trans_b else ''}",
        "store": f"mma_store_16x16_{out}_{store_scope.replace('.', '_')}",
        "index_map_a": (lambda k, i: of_a(i, k)) if trans_a else of_a,
        "index_map_b": (lambda j, k: of_b(k, j)) if trans_b else of_b,
        "index_map_c": of_c,
    }
