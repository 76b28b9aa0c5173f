// The programs of the schedule fuzzer: small programs of many kinds, of odd and prime lengths.
#pragma once
#include <string_view>

namespace tilewright::schedule {

struct FuzzProgram {
  std::string_view name, text;
};

inline constexpr FuzzProgram kFuzzPrograms[] = {
    {"matmul_relu", R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7), "float32"), B: T.Buffer((7, 6), "float32"), C: T.Buffer((5, 6), "float32")):
        Y = T.alloc_buffer((5, 6))
        for i, j, k in T.grid(5, 6, 7):
            with T.block("Y"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    Y[vi, vj] = T.float32(0)
                Y[vi, vj] = Y[vi, vj] + A[vi, vk] * B[vk, vj]
        for i, j in T.grid(5, 6):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = T.max(Y[vi, vj], T.float32(0))
    )"},
    {"stencils", R"(
    @T.prim_func
    def main(A: T.Buffer((18,), "float32"), D: T.Buffer((13,), "float32")):
        B = T.alloc_buffer((18,))
        C = T.alloc_buffer((16,))
        for i in range(18):
            with T.block("B"):
                vi = T.axis.spatial(18, i)
                B[vi] = A[vi] * T.float32(2)
        for i in range(16):
            with T.block("C"):
                vi = T.axis.spatial(16, i)
                C[vi] = B[vi] + B[vi + 1] + B[vi + 2]
        for i in range(13):
            with T.block("D"):
                vi = T.axis.spatial(13, i)
                D[vi] = C[vi + 3] - C[vi]
    )"},
    {"loops_around_several", R"(
    @T.prim_func
    def main(A: T.Buffer((5, 3), "float32"), C: T.Buffer((5, 3), "float32"), D: T.Buffer((5, 3), "float32")):
        X = T.alloc_buffer((3,))
        Y = T.alloc_buffer((5, 3))
        Z = T.alloc_buffer((5,))
        for t in range(5):
            for i in range(3):
                with T.block("X"):
                    vt, vi = T.axis.remap("SS", [t, i])
                    X[vi] = A[vt, vi] * T.float32(2)
            with T.block("Z"):
                vt = T.axis.spatial(5, t)
                Z[vt] = D[(vt + 4) % 5, 0]
            for i in range(3):
                with T.block("Y"):
                    vt, vi = T.axis.remap("SS", [t, i])
                    Y[vt, vi] = X[vi] + Z[vt]
        for t, i in T.grid(5, 3):
            with T.block("D"):
                vt, vi = T.axis.remap("SS", [t, i])
                D[vt, vi] = Y[vt, vi] * T.float32(3)
            with T.block("C"):
                vt, vi = T.axis.remap("SS", [t, i])
                C[vt, vi] = D[4 - vt, vi] - Z[4 - vt]
    )"},
    {"softmax_like", R"(
    @T.prim_func
    def main(A: T.Buffer((4, 9), "float32"), D: T.Buffer((4, 9), "float32")):
        M = T.alloc_buffer((4,))
        S = T.alloc_buffer((4,))
        E = T.alloc_buffer((4, 9))
        for i, k in T.grid(4, 9):
            with T.block("M"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    M[vi] = T.float32(-100)
                M[vi] = T.max(M[vi], A[vi, vk])
        for i, j in T.grid(4, 9):
            with T.block("E"):
                vi, vj = T.axis.remap("SS", [i, j])
                E[vi, vj] = A[vi, vj] - M[vi]
        for i, k in T.grid(4, 9):
            with T.block("S"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    S[vi] = T.float32(0)
                S[vi] = S[vi] + E[vi, vk]
        for i, j in T.grid(4, 9):
            with T.block("D"):
                vi, vj = T.axis.remap("SS", [i, j])
                D[vi, vj] = E[vi, vj] * S[vi]
    )"},
    {"recurrence_and_transposes", R"(
    @T.prim_func
    def main(A: T.Buffer((6, 7), "float32"), B: T.Buffer((7, 8), "float32"), C: T.Buffer((42,), "float32")):
        T6 = T.alloc_buffer((7, 6))
        for i, j in T.grid(6, 7):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi + 1, vj] = B[vi, vj + 1] + A[vi, vj]
        for i, j in T.grid(7, 6):
            with T.block("T6"):
                vi, vj = T.axis.remap("SS", [i, j])
                T6[vi, vj] = A[vj, vi] + B[vj, vi]
        for i in range(42):
            with T.block("C"):
                vi = T.axis.spatial(42, i)
                C[vi] = T6[vi // 6, vi % 6] * T.float32(3)
    )"},
    {"skewed_recurrence", R"(
    @T.prim_func
    def main(A: T.Buffer((5, 6), "int32"), C: T.Buffer((5, 6), "int32")):
        B = T.alloc_buffer((6, 7), "int32")
        for i, j in T.grid(6, 7):
            with T.block("Z"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = 0
        for i, j in T.grid(5, 6):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi + 1, vj] = B[vi, vj + 1] + A[vi, vj]
        for i, j in T.grid(5, 6):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = B[vi + 1, vj]
    )"},
    {"conv2d_padded", R"(
    @T.prim_func
    def main(A: T.Buffer((2, 5, 7), "float32"), W: T.Buffer((3, 2, 3, 3), "float32"), D: T.Buffer((3, 5, 7), "float32")):
        P = T.alloc_buffer((2, 7, 9))
        C = T.alloc_buffer((3, 5, 7))
        for c, i, j in T.grid(2, 7, 9):
            with T.block("P"):
                vc, vi, vj = T.axis.remap("SSS", [c, i, j])
                P[vc, vi, vj] = T.if_then_else(
                    1 <= vi and vi < 6 and 1 <= vj and vj < 8, A[vc, vi - 1, vj - 1], T.float32(0)
                )
        for o, i, j, c, p, q in T.grid(3, 5, 7, 2, 3, 3):
            with T.block("C"):
                vo, vi, vj, vc, vp, vq = T.axis.remap("SSSRRR", [o, i, j, c, p, q])
                with T.init():
                    C[vo, vi, vj] = T.float32(0)
                C[vo, vi, vj] = C[vo, vi, vj] + P[vc, vi + vp, vj + vq] * W[vo, vc, vp, vq]
        for o, i, j in T.grid(3, 5, 7):
            with T.block("D"):
                vo, vi, vj = T.axis.remap("SSS", [o, i, j])
                D[vo, vi, vj] = T.max(C[vo, vi, vj], T.float32(0))
    )"},
    {"strided_max_pool", R"(
    @T.prim_func
    def main(A: T.Buffer((11,), "int8"), C: T.Buffer((5,), "int32"), S: T.Buffer((1,), "int32")):
        M = T.alloc_buffer((5,), "int8")
        for i, k in T.grid(5, 3):
            with T.block("M"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    M[vi] = T.int8(-128)
                M[vi] = T.max(M[vi], A[vi * 2 + vk])
        for i in range(5):
            with T.block("C"):
                vi = T.axis.spatial(5, i)
                C[vi] = T.Cast("int32", M[4 - vi])
        for i in range(5):
            with T.block("S"):
                vi = T.axis.reduce(5, i)
                with T.init():
                    S[0] = 0
                S[0] = S[0] + C[vi]
    )"},
    {"batched_matmul_nt", R"(
    @T.prim_func
    def main(A: T.Buffer((3, 4, 5), "float32"), B: T.Buffer((3, 6, 5), "float32"), D: T.Buffer((6, 12), "float32")):
        C = T.alloc_buffer((3, 4, 6))
        for b, i, j, k in T.grid(3, 4, 6, 5):
            with T.block("C"):
                vb, vi, vj, vk = T.axis.remap("SSSR", [b, i, j, k])
                with T.init():
                    C[vb, vi, vj] = T.float32(0)
                C[vb, vi, vj] = C[vb, vi, vj] + A[vb, vi, vk] * B[vb, vj, vk]
        for i, j in T.grid(6, 12):
            with T.block("D"):
                vi, vj = T.axis.remap("SS", [i, j])
                D[vi, vj] = C[vj // 4, vj % 4, vi] + T.float32(1)
    )"},
    {"batched_matmul", R"(
    @T.prim_func
    def main(A: T.Buffer((2, 3, 5), "float32"), B: T.Buffer((2, 5, 7), "float32"), C: T.Buffer((2, 3, 7), "float32")):
        for b, i, j, k in T.grid(2, 3, 7, 5):
            with T.block("C"):
                vb, vi, vj, vk = T.axis.remap("SSSR", [b, i, j, k])
                with T.init():
                    C[vb, vi, vj] = T.float32(0)
                C[vb, vi, vj] = C[vb, vi, vj] + A[vb, vi, vk] * B[vb, vk, vj]
    )"},
    {"matmul_transposed", R"(
    @T.prim_func
    def main(A: T.Buffer((7, 5), "float32"), B: T.Buffer((3, 7), "float32"), C: T.Buffer((5, 3), "float32")):
        for i, j, k in T.grid(5, 3, 7):
            with T.block("C"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    C[vi, vj] = T.float32(0)
                C[vi, vj] = C[vi, vj] + A[vk, vi] * B[vj, vk]
    )"},
    {"matmul_bias", R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7), "float32"), B: T.Buffer((7, 4), "float32"), D: T.Buffer((4,), "float32"), C: T.Buffer((5, 4), "float32")):
        Y = T.alloc_buffer((5, 4))
        for i, j, k in T.grid(5, 4, 7):
            with T.block("Y"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    Y[vi, vj] = T.float32(0)
                Y[vi, vj] = Y[vi, vj] + A[vi, vk] * B[vk, vj]
        for i, j in T.grid(5, 4):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = Y[vi, vj] + D[vj]
    )"},
    {"two_matmuls", R"(
    @T.prim_func
    def main(A: T.Buffer((3, 5), "float32"), B: T.Buffer((5, 7), "float32"), D: T.Buffer((7, 2), "float32"), E: T.Buffer((3, 2), "float32")):
        C = T.alloc_buffer((3, 7))
        for i, j, k in T.grid(3, 7, 5):
            with T.block("C"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    C[vi, vj] = T.float32(0)
                C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
        for i, j, k in T.grid(3, 2, 7):
            with T.block("E"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    E[vi, vj] = T.float32(0)
                E[vi, vj] = E[vi, vj] + C[vi, vk] * D[vk, vj]
    )"},
    {"conv1d", R"(
    @T.prim_func
    def main(A: T.Buffer((2, 13), "float32"), W: T.Buffer((3, 2, 5), "float32"), C: T.Buffer((3, 9), "float32")):
        for o, i, c, p in T.grid(3, 9, 2, 5):
            with T.block("C"):
                vo, vi, vc, vp = T.axis.remap("SSRR", [o, i, c, p])
                with T.init():
                    C[vo, vi] = T.float32(0)
                C[vo, vi] = C[vo, vi] + A[vc, vi + vp] * W[vo, vc, vp]
    )"},
    {"conv1d_dilated_strided", R"(
    @T.prim_func
    def main(A: T.Buffer((2, 17), "float32"), W: T.Buffer((3, 2, 3), "float32"), C: T.Buffer((3, 5), "float32")):
        P = T.alloc_buffer((2, 17))
        for c, i in T.grid(2, 17):
            with T.block("P"):
                vc, vi = T.axis.remap("SS", [c, i])
                P[vc, vi] = A[vc, vi] + T.float32(1)
        for o, i, c, p in T.grid(3, 5, 2, 3):
            with T.block("C"):
                vo, vi, vc, vp = T.axis.remap("SSRR", [o, i, c, p])
                with T.init():
                    C[vo, vi] = T.float32(0)
                C[vo, vi] = C[vo, vi] + P[vc, vi * 2 + vp * 3] * W[vo, vc, vp]
    )"},
    {"conv3d", R"(
    @T.prim_func
    def main(A: T.Buffer((2, 3, 4, 5), "float32"), W: T.Buffer((2, 2, 2, 2), "float32"), C: T.Buffer((2, 3, 4), "float32")):
        for x, y, z, c, p, q, r in T.grid(2, 3, 4, 2, 2, 2, 2):
            with T.block("C"):
                vx, vy, vz, vc, vp, vq, vr = T.axis.remap("SSSRRRR", [x, y, z, c, p, q, r])
                with T.init():
                    C[vx, vy, vz] = T.float32(0)
                C[vx, vy, vz] = C[vx, vy, vz] + A[vc, vx + vp, vy + vq, vz + vr] * W[vc, vp, vq, vr]
    )"},
    {"depthwise_conv", R"(
    @T.prim_func
    def main(A: T.Buffer((3, 7, 6), "float32"), W: T.Buffer((3, 3, 2), "float32"), D: T.Buffer((3, 5, 5), "float32")):
        C = T.alloc_buffer((3, 5, 5))
        for c, i, j, p, q in T.grid(3, 5, 5, 3, 2):
            with T.block("C"):
                vc, vi, vj, vp, vq = T.axis.remap("SSSRR", [c, i, j, p, q])
                with T.init():
                    C[vc, vi, vj] = T.float32(0)
                C[vc, vi, vj] = C[vc, vi, vj] + A[vc, vi + vp, vj + vq] * W[vc, vp, vq]
        for c, i, j in T.grid(3, 5, 5):
            with T.block("D"):
                vc, vi, vj = T.axis.remap("SSS", [c, i, j])
                D[vc, vi, vj] = T.max(C[vc, vi, vj], T.float32(0))
    )"},
    {"average_pool", R"(
    @T.prim_func
    def main(A: T.Buffer((2, 7, 9), "float32"), D: T.Buffer((2, 3, 4), "float32")):
        C = T.alloc_buffer((2, 3, 4))
        for c, i, j, p, q in T.grid(2, 3, 4, 3, 3):
            with T.block("C"):
                vc, vi, vj, vp, vq = T.axis.remap("SSSRR", [c, i, j, p, q])
                with T.init():
                    C[vc, vi, vj] = T.float32(0)
                C[vc, vi, vj] = C[vc, vi, vj] + A[vc, vi * 2 + vp, vj * 2 + vq]
        for c, i, j in T.grid(2, 3, 4):
            with T.block("D"):
                vc, vi, vj = T.axis.remap("SSS", [c, i, j])
                D[vc, vi, vj] = C[vc, vi, vj] * T.float32(0.5)
    )"},
    {"global_max", R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7), "int32"), M: T.Buffer((1,), "int32"), D: T.Buffer((5, 7), "int32")):
        for i, j in T.grid(5, 7):
            with T.block("M"):
                vi, vj = T.axis.remap("RR", [i, j])
                with T.init():
                    M[0] = -100
                M[0] = T.max(M[0], A[vi, vj])
        for i, j in T.grid(5, 7):
            with T.block("D"):
                vi, vj = T.axis.remap("SS", [i, j])
                D[vi, vj] = A[vi, vj] - M[0]
    )"},
    {"layer_norm_like", R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7), "float32"), G: T.Buffer((7,), "float32"), D: T.Buffer((5, 7), "float32")):
        S = T.alloc_buffer((5,))
        Q = T.alloc_buffer((5,))
        for i, k in T.grid(5, 7):
            with T.block("S"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    S[vi] = T.float32(0)
                S[vi] = S[vi] + A[vi, vk]
        for i, k in T.grid(5, 7):
            with T.block("Q"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    Q[vi] = T.float32(0)
                Q[vi] = Q[vi] + A[vi, vk] * A[vi, vk]
        for i, j in T.grid(5, 7):
            with T.block("D"):
                vi, vj = T.axis.remap("SS", [i, j])
                D[vi, vj] = (A[vi, vj] - S[vi]) * Q[vi] * G[vj]
    )"},
    {"two_sums_in_one", R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7), "int32"), S: T.Buffer((5,), "int32"), Q: T.Buffer((5,), "int32")):
        for i, k in T.grid(5, 7):
            with T.block("SQ"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    S[vi] = 0
                    Q[vi] = 0
                S[vi] = S[vi] + A[vi, vk]
                Q[vi] = Q[vi] + A[vi, vk] * A[vi, vk]
    )"},
    {"scale_and_shift", R"(
    @T.prim_func
    def main(A: T.Buffer((3, 5, 7), "float32"), S: T.Buffer((3,), "float32"), D: T.Buffer((3, 5, 7), "float32")):
        B = T.alloc_buffer((3, 5, 7))
        C = T.alloc_buffer((3, 5, 7))
        for c, i, j in T.grid(3, 5, 7):
            with T.block("B"):
                vc, vi, vj = T.axis.remap("SSS", [c, i, j])
                B[vc, vi, vj] = A[vc, vi, vj] * S[vc]
        for c, i, j in T.grid(3, 5, 7):
            with T.block("C"):
                vc, vi, vj = T.axis.remap("SSS", [c, i, j])
                C[vc, vi, vj] = B[vc, vi, vj] + S[vc]
        for c, i, j in T.grid(3, 5, 7):
            with T.block("D"):
                vc, vi, vj = T.axis.remap("SSS", [c, i, j])
                D[vc, vi, vj] = T.max(C[vc, vi, vj], B[vc, vi, vj])
    )"},
    {"prefix_sum", R"(
    @T.prim_func
    def main(A: T.Buffer((11,), "int32"), S: T.Buffer((12,), "int32"), D: T.Buffer((11,), "int32")):
        for i in range(1):
            with T.block("Z"):
                vi = T.axis.spatial(1, i)
                S[vi] = 0
        for i in range(11):
            with T.block("S"):
                vi = T.axis.opaque(11, i)
                S[vi + 1] = S[vi] + A[vi]
        for i in range(11):
            with T.block("D"):
                vi = T.axis.spatial(11, i)
                D[vi] = S[vi + 1] * 2
    )"},
    {"row_scan", R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7), "int32"), D: T.Buffer((5, 7), "int32")):
        S = T.alloc_buffer((5, 8), "int32")
        for i in range(5):
            with T.block("Z"):
                vi = T.axis.spatial(5, i)
                S[vi, 0] = 0
        for i, j in T.grid(5, 7):
            with T.block("S"):
                vi = T.axis.spatial(5, i)
                vj = T.axis.opaque(7, j)
                S[vi, vj + 1] = S[vi, vj] + A[vi, vj]
        for i, j in T.grid(5, 7):
            with T.block("D"):
                vi, vj = T.axis.remap("SS", [i, j])
                D[vi, vj] = S[vi, vj + 1]
    )"},
    {"transpose", R"(
    @T.prim_func
    def main(A: T.Buffer((7, 11), "float32"), C: T.Buffer((11, 7), "float32")):
        B = T.alloc_buffer((11, 7))
        for i, j in T.grid(11, 7):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vj, vi]
        for i, j in T.grid(11, 7):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = B[10 - vi, vj] + B[vi, vj]
    )"},
    {"permute_and_reshape", R"(
    @T.prim_func
    def main(A: T.Buffer((3, 4, 5), "float32"), C: T.Buffer((60,), "float32"), D: T.Buffer((5, 12), "float32")):
        B = T.alloc_buffer((5, 3, 4))
        for i, j, k in T.grid(5, 3, 4):
            with T.block("B"):
                vi, vj, vk = T.axis.remap("SSS", [i, j, k])
                B[vi, vj, vk] = A[vj, vk, vi]
        for i in range(60):
            with T.block("C"):
                vi = T.axis.spatial(60, i)
                C[vi] = B[vi // 12, vi // 4 % 3, vi % 4]
        for i, j in T.grid(5, 12):
            with T.block("D"):
                vi, vj = T.axis.remap("SS", [i, j])
                D[vi, vj] = B[vi, vj // 4, vj % 4] + T.float32(1)
    )"},
    {"concatenate", R"(
    @T.prim_func
    def main(A: T.Buffer((5, 3), "float32"), B: T.Buffer((5, 4), "float32"), D: T.Buffer((5, 7), "float32")):
        C = T.alloc_buffer((5, 7))
        for i, j in T.grid(5, 3):
            with T.block("C0"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = A[vi, vj]
        for i, j in T.grid(5, 4):
            with T.block("C1"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj + 3] = B[vi, vj]
        for i, j in T.grid(5, 7):
            with T.block("D"):
                vi, vj = T.axis.remap("SS", [i, j])
                D[vi, vj] = C[vi, vj] * T.float32(2)
    )"},
    {"slices", R"(
    @T.prim_func
    def main(A: T.Buffer((13,), "float32"), B: T.Buffer((6,), "float32"), C: T.Buffer((7,), "float32")):
        P = T.alloc_buffer((13,))
        for i in range(13):
            with T.block("P"):
                vi = T.axis.spatial(13, i)
                P[vi] = A[12 - vi] * T.float32(3)
        for i in range(6):
            with T.block("B"):
                vi = T.axis.spatial(6, i)
                B[vi] = P[vi * 2 + 1]
        for i in range(7):
            with T.block("C"):
                vi = T.axis.spatial(7, i)
                C[vi] = P[vi * 2]
    )"},
    {"resize", R"(
    @T.prim_func
    def main(A: T.Buffer((4, 5), "float32"), D: T.Buffer((7, 10), "float32")):
        B = T.alloc_buffer((4, 5))
        for i, j in T.grid(4, 5):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] + T.float32(1)
        for i, j in T.grid(7, 10):
            with T.block("D"):
                vi, vj = T.axis.remap("SS", [i, j])
                D[vi, vj] = B[vi * 4 // 7, vj // 2]
    )"},
    {"pad_and_reverse", R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7), "float32"), D: T.Buffer((8, 11), "float32")):
        P = T.alloc_buffer((8, 11))
        for i, j in T.grid(8, 11):
            with T.block("P"):
                vi, vj = T.axis.remap("SS", [i, j])
                P[vi, vj] = T.if_then_else(1 <= vi and vi < 6 and 2 <= vj and vj < 9, A[vi - 1, vj - 2], T.float32(4))
        for i, j in T.grid(8, 11):
            with T.block("D"):
                vi, vj = T.axis.remap("SS", [i, j])
                D[vi, vj] = P[7 - vi, 10 - vj]
    )"},
    {"in_place", R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7), "float32"), B: T.Buffer((7,), "float32")):
        for i, j in T.grid(5, 7):
            with T.block("double"):
                vi, vj = T.axis.remap("SS", [i, j])
                A[vi, vj] = A[vi, vj] * T.float32(2)
        for i, j in T.grid(5, 7):
            with T.block("add"):
                vi, vj = T.axis.remap("SS", [i, j])
                A[vi, vj] = A[vi, vj] + B[vj]
        for j in range(7):
            with T.block("B"):
                vj = T.axis.spatial(7, j)
                B[vj] = A[0, vj] - A[4, 6 - vj]
    )"},
    {"guarded", R"(
    @T.prim_func
    def main(A: T.Buffer((13,), "float32"), C: T.Buffer((13,), "float32")):
        B = T.alloc_buffer((13,))
        for i, j in T.grid(4, 4):
            with T.block("B"):
                vi = T.axis.spatial(13, i * 4 + j)
                T.where(i * 4 + j < 13)
                B[vi] = A[vi] + T.float32(1)
        for i, j in T.grid(3, 5):
            with T.block("C"):
                vi = T.axis.spatial(13, i * 5 + j)
                T.where(i * 5 + j < 13)
                C[vi] = B[vi] * T.float32(2)
    )"},
    {"prime_chain", R"(
    @T.prim_func
    def main(A: T.Buffer((127,), "int32"), D: T.Buffer((127,), "int32")):
        B = T.alloc_buffer((127,), "int32")
        C = T.alloc_buffer((127,), "int32")
        for i in range(127):
            with T.block("B"):
                vi = T.axis.spatial(127, i)
                B[vi] = A[vi] + 1
        for i in range(127):
            with T.block("C"):
                vi = T.axis.spatial(127, i)
                C[vi] = B[vi] * 3
        for i in range(127):
            with T.block("D"):
                vi = T.axis.spatial(127, i)
                D[vi] = C[vi] - B[126 - vi]
    )"},
    {"blur", R"(
    @T.prim_func
    def main(A: T.Buffer((9, 11), "float32"), C: T.Buffer((7, 9), "float32")):
        B = T.alloc_buffer((9, 9))
        for i, j in T.grid(9, 9):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] + A[vi, vj + 1] + A[vi, vj + 2]
        for i, j in T.grid(7, 9):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = B[vi, vj] + B[vi + 1, vj] + B[vi + 2, vj]
    )"},
    {"four_bits", R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7), "int32"), W: T.Buffer((7, 7), "int4"), Q: T.Buffer((5, 7), "uint4")):
        B = T.alloc_buffer((5, 7), "int4")
        C = T.alloc_buffer((5, 7), "int32")
        for i, j in T.grid(5, 7):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = T.Cast("int4", A[vi, vj]) + T.int4(3)
        for i, j, k in T.grid(5, 7, 7):
            with T.block("C"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    C[vi, vj] = 0
                C[vi, vj] = C[vi, vj] + T.Cast("int32", B[vi, vk]) * T.Cast("int32", W[vj, vk])
        for i, j in T.grid(5, 7):
            with T.block("Q"):
                vi, vj = T.axis.remap("SS", [i, j])
                Q[vi, vj] = T.Cast("uint4", T.max(C[vi, vj] // 8, 0))
    )"},
};

}  // namespace tilewright::schedule
