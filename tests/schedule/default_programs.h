// Programs that the rules of schedule/default must leave the numbers of, on every machine.
#pragma once
#include <string_view>

namespace tilewright::schedule {

struct Program {
  std::string_view name, text;
};

inline constexpr Program kPrograms[] = {
    {"row_sums", R"(
    @T.prim_func
    def main(A: T.Buffer((5, 96), "float32"), B: T.Buffer((5,), "float32")):
        for i, k in T.grid(5, 96):
            with T.block("B"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    B[vi] = T.float32(0)
                B[vi] = B[vi] + A[vi, vk]
)"},
    {"row_sums_with_an_edge", R"(
    @T.prim_func
    def main(A: T.Buffer((5, 127), "float32"), B: T.Buffer((5,), "float32")):
        for i, k in T.grid(5, 127):
            with T.block("B"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    B[vi] = T.float32(0)
                B[vi] = B[vi] + A[vi, vk]
)"},
    {"short_row_sums", R"(
    @T.prim_func
    def main(A: T.Buffer((5, 10), "float32"), B: T.Buffer((5,), "float32")):
        for i, k in T.grid(5, 10):
            with T.block("B"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    B[vi] = T.float32(0)
                B[vi] = B[vi] + A[vi, vk]
)"},
    {"largest_of_two_axes", R"(
    @T.prim_func
    def main(A: T.Buffer((3, 5, 32), "int32"), B: T.Buffer((3, 1, 1), "int32")):
        for i, u, v, j, k in T.grid(3, 1, 1, 5, 32):
            with T.block("B"):
                vi, vu, vv, vj, vk = T.axis.remap("SSSRR", [i, u, v, j, k])
                with T.init():
                    B[vi, vu, vv] = T.int32(-2147483648)
                B[vi, vu, vv] = T.max(B[vi, vu, vv], A[vi, vj, vk])
)"},
    {"sum_of_all", R"(
    @T.prim_func
    def main(A: T.Buffer((128,), "float32"), B: T.Buffer((1,), "float32")):
        for i, k in T.grid(1, 128):
            with T.block("B"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    B[vi] = T.float32(0)
                B[vi] = B[vi] + A[vk] * A[vk]
)"},
    {"centered_rows", R"(
    @T.prim_func
    def main(A: T.Buffer((7, 3, 64), "float32"), W: T.Buffer((64,), "float32"), D: T.Buffer((7, 3, 64), "float32")):
        S = T.alloc_buffer((7, 3))
        C = T.alloc_buffer((7, 3, 64))
        M = T.alloc_buffer((7, 3))
        for i, j, k in T.grid(7, 3, 64):
            with T.block("S"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    S[vi, vj] = T.float32(0)
                S[vi, vj] = S[vi, vj] + A[vi, vj, vk]
        for i, j, k in T.grid(7, 3, 64):
            with T.block("C"):
                vi, vj, vk = T.axis.remap("SSS", [i, j, k])
                C[vi, vj, vk] = A[vi, vj, vk] - S[vi, vj]
        for i, j, k in T.grid(7, 3, 64):
            with T.block("M"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    M[vi, vj] = T.float32("-inf")
                M[vi, vj] = T.max(M[vi, vj], C[vi, vj, vk])
        for i, j, k in T.grid(7, 3, 64):
            with T.block("D"):
                vi, vj, vk = T.axis.remap("SSS", [i, j, k])
                D[vi, vj, vk] = (C[vi, vj, vk] + M[vi, vj]) * W[vk]
)"},
    {"rows_of_others", R"(
    @T.prim_func
    def main(A: T.Buffer((8, 64), "float32"), B: T.Buffer((8, 64), "float32")):
        S = T.alloc_buffer((8,))
        for i, k in T.grid(8, 64):
            with T.block("S"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    S[vi] = T.float32(0)
                S[vi] = S[vi] + A[vi, vk]
        for i, k in T.grid(8, 64):
            with T.block("B"):
                vi, vk = T.axis.remap("SS", [i, k])
                B[vi, vk] = A[vi, vk] - S[7 - vi]
)"},
    {"winograd", R"(
    @T.prim_func
    def main(d: T.Buffer((8, 10, 3), "float32"), U: T.Buffer((4, 4, 3, 9), "float32"), b: T.Buffer((9,), "float32"), y: T.Buffer((5, 7, 9), "float32")):
        columns = T.alloc_buffer((4, 4, 3, 4, 3))
        patches = T.alloc_buffer((4, 4, 3, 4, 3))
        products = T.alloc_buffer((4, 4, 3, 4, 9))
        rows = T.alloc_buffer((2, 4, 3, 4, 9))
        for i, j, k, l, m in T.grid(4, 4, 3, 4, 3):
            with T.block("columns"):
                a, s, p, q, c = T.axis.remap("SSSSS", [i, j, k, l, m])
                T.block_attr({"role": "winograd.columns"})
                columns[a, s, p, q, c] = T.Select(a == 0, d[p * 2 + 0, q * 2 + s, c] - d[p * 2 + 2, q * 2 + s, c], T.Select(a == 1, d[p * 2 + 1, q * 2 + s, c] + d[p * 2 + 2, q * 2 + s, c], T.Select(a == 2, d[p * 2 + 2, q * 2 + s, c] - d[p * 2 + 1, q * 2 + s, c], d[p * 2 + 1, q * 2 + s, c] - d[p * 2 + 3, q * 2 + s, c])))
        for i, j, k, l, m in T.grid(4, 4, 3, 4, 3):
            with T.block("patches"):
                a, s, p, q, c = T.axis.remap("SSSSS", [i, j, k, l, m])
                T.block_attr({"role": "winograd.patches"})
                patches[a, s, p, q, c] = T.Select(s == 0, columns[a, 0, p, q, c] - columns[a, 2, p, q, c], T.Select(s == 1, columns[a, 1, p, q, c] + columns[a, 2, p, q, c], T.Select(s == 2, columns[a, 2, p, q, c] - columns[a, 1, p, q, c], columns[a, 1, p, q, c] - columns[a, 3, p, q, c])))
        for i, j, k, l, m, n in T.grid(4, 4, 3, 4, 9, 3):
            with T.block("products"):
                a, s, p, q, o, c = T.axis.remap("SSSSSR", [i, j, k, l, m, n])
                T.block_attr({"role": "winograd.products"})
                with T.init():
                    products[a, s, p, q, o] = T.float32(0)
                products[a, s, p, q, o] = products[a, s, p, q, o] + patches[a, s, p, q, c] * U[a, s, c, o]
        for i, j, k, l, m in T.grid(2, 4, 3, 4, 9):
            with T.block("rows"):
                a, s, p, q, o = T.axis.remap("SSSSS", [i, j, k, l, m])
                T.block_attr({"role": "winograd.rows"})
                rows[a, s, p, q, o] = T.Select(a == 0, products[0, s, p, q, o] + products[1, s, p, q, o] + products[2, s, p, q, o], products[1, s, p, q, o] - products[2, s, p, q, o] - products[3, s, p, q, o])
        for i, j, k in T.grid(5, 7, 9):
            with T.block("y"):
                h, w, o = T.axis.remap("SSS", [i, j, k])
                y[h, w, o] = T.max(T.Select(w % 2 == 0, rows[h % 2, 0, h // 2, w // 2, o] + rows[h % 2, 1, h // 2, w // 2, o] + rows[h % 2, 2, h // 2, w // 2, o], rows[h % 2, 1, h // 2, w // 2, o] - rows[h % 2, 2, h // 2, w // 2, o] - rows[h % 2, 3, h // 2, w // 2, o]) + b[o], T.float32(0))
)"},
    {"matmul_of_rows", R"(
    @T.prim_func
    def main(A: T.Buffer((5, 32), "float32"), B: T.Buffer((7, 32), "float32"), C: T.Buffer((5, 7), "float32")):
        for i, j, k in T.grid(5, 7, 32):
            with T.block("C"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    C[vi, vj] = T.float32(0)
                C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vj, vk]
)"},
    {"transposition", R"(
    @T.prim_func
    def main(A: T.Buffer((19, 3, 127), "float32"), B: T.Buffer((127, 3, 19), "float32")):
        for i, j, k in T.grid(127, 3, 19):
            with T.block("B"):
                vi, vj, vk = T.axis.remap("SSS", [i, j, k])
                B[vi, vj, vk] = A[vk, vj, vi]
)"},
    {"transposition_and_sum", R"(
    @T.prim_func
    def main(A: T.Buffer((16, 48), "int8"), C: T.Buffer((48, 16), "int8"), B: T.Buffer((48, 16), "int8")):
        for i, j in T.grid(48, 16):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vj, vi] + C[vi, vj]
)"},
    {"matmul", R"(
    @T.prim_func
    def main(A: T.Buffer((5, 127), "float32"), B: T.Buffer((127, 7), "float32"), C: T.Buffer((5, 7), "float32")):
        for i, j, k in T.grid(5, 7, 127):
            with T.block("C"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    C[vi, vj] = T.float32(0)
                C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
)"},
    {"packed_matmul", R"(
    @T.prim_func
    def main(A: T.Buffer((17, 33), "float32"), B: T.Buffer((33, 37), "float32"), C: T.Buffer((17, 37), "float32")):
        for i, j, k in T.grid(17, 37, 33):
            with T.block("C"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    C[vi, vj] = T.float32(0)
                C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
)"},
    {"batched_transposed_matmul_int32", R"(
    @T.prim_func
    def main(A: T.Buffer((3, 7, 5), "int32"), B: T.Buffer((3, 17, 7), "int32"), C: T.Buffer((3, 5, 17), "int32")):
        for b, i, j, k in T.grid(3, 5, 17, 7):
            with T.block("C"):
                vb, vi, vj, vk = T.axis.remap("SSSR", [b, i, j, k])
                with T.init():
                    C[vb, vi, vj] = 0
                C[vb, vi, vj] = C[vb, vi, vj] + A[vb, vk, vi] * B[vb, vj, vk]
)"},
    {"float64_matmul_with_broadcast_epilogue", R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7), "float64"), B: T.Buffer((7, 19), "float64"), D: T.Buffer((3, 5, 19), "float64")):
        Y = T.alloc_buffer((5, 19), "float64")
        for i, j, k in T.grid(5, 19, 7):
            with T.block("Y"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    Y[vi, vj] = T.float64(0)
                Y[vi, vj] = Y[vi, vj] + A[vi, vk] * B[vk, vj]
        for b, i, j in T.grid(3, 5, 19):
            with T.block("D"):
                vb, vi, vj = T.axis.remap("SSS", [b, i, j])
                D[vb, vi, vj] = Y[vi, vj] * T.float64(2)
)"},
    {"matmul_with_transposing_epilogue", R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7), "float32"), B: T.Buffer((7, 19), "float32"), D: T.Buffer((19, 5), "float32")):
        Y = T.alloc_buffer((5, 19), "float32")
        for i, j, k in T.grid(5, 19, 7):
            with T.block("Y"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    Y[vi, vj] = T.float32(0)
                Y[vi, vj] = Y[vi, vj] + A[vi, vk] * B[vk, vj]
        for i, j in T.grid(19, 5):
            with T.block("D"):
                vi, vj = T.axis.remap("SS", [i, j])
                D[vi, vj] = Y[vj, vi]
)"},
    {"sum_that_two_read", R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7, 19), "float32"), C: T.Buffer((5, 19), "float32"), D: T.Buffer((5, 19), "float32")):
        Y = T.alloc_buffer((5, 19), "float32")
        for i, j, k in T.grid(5, 19, 7):
            with T.block("Y"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    Y[vi, vj] = T.float32(0)
                Y[vi, vj] = Y[vi, vj] + A[vi, vk, vj]
        for i, j in T.grid(5, 19):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = Y[vi, vj] * T.float32(2)
        for i, j in T.grid(5, 19):
            with T.block("D"):
                vi, vj = T.axis.remap("SS", [i, j])
                D[vi, vj] = Y[vi, vj] * T.float32(3)
)"},
    {"padded_conv2d_stride_2", R"(
    @T.prim_func
    def main(X: T.Buffer((2, 3, 7, 19), "float32"), W: T.Buffer((5, 3, 3, 3), "float32"), Y: T.Buffer((2, 5, 4, 10), "float32")):
        P = T.alloc_buffer((2, 3, 9, 21), "float32")
        for n, c, i, j in T.grid(2, 3, 9, 21):
            with T.block("P"):
                vn, vc, vi, vj = T.axis.remap("SSSS", [n, c, i, j])
                P[vn, vc, vi, vj] = T.if_then_else(1 <= vi and vi < 8 and 1 <= vj and vj < 20, X[vn, vc, vi - 1, vj - 1], T.float32(0))
        for n, f, i, j, c, h, w in T.grid(2, 5, 4, 10, 3, 3, 3):
            with T.block("Y"):
                vn, vf, vi, vj, vc, vh, vw = T.axis.remap("SSSSRRR", [n, f, i, j, c, h, w])
                with T.init():
                    Y[vn, vf, vi, vj] = T.float32(0)
                Y[vn, vf, vi, vj] = Y[vn, vf, vi, vj] + P[vn, vc, vi * 2 + vh, vj * 2 + vw] * W[vf, vc, vh, vw]
)"},
    {"dilated_depthwise_conv2d", R"(
    @T.prim_func
    def main(X: T.Buffer((1, 3, 9, 23), "float32"), W: T.Buffer((3, 1, 3, 3), "float32"), Y: T.Buffer((1, 3, 5, 19), "float32")):
        for n, f, i, j, h, w in T.grid(1, 3, 5, 19, 3, 3):
            with T.block("Y"):
                vn, vf, vi, vj, vh, vw = T.axis.remap("SSSSRR", [n, f, i, j, h, w])
                with T.init():
                    Y[vn, vf, vi, vj] = T.float32(0)
                Y[vn, vf, vi, vj] = Y[vn, vf, vi, vj] + X[vn, vf, vi + vh * 2, vj + vw * 2] * W[vf, 0, vh, vw]
)"},
    {"max_pool", R"(
    @T.prim_func
    def main(X: T.Buffer((2, 3, 7, 35), "float32"), Y: T.Buffer((2, 3, 3, 17), "float32")):
        for n, c, i, j, h, w in T.grid(2, 3, 3, 17, 3, 3):
            with T.block("Y"):
                vn, vc, vi, vj, vh, vw = T.axis.remap("SSSSRR", [n, c, i, j, h, w])
                with T.init():
                    Y[vn, vc, vi, vj] = T.float32(-100)
                Y[vn, vc, vi, vj] = T.max(Y[vn, vc, vi, vj], X[vn, vc, vi * 2 + vh, vj * 2 + vw])
)"},
    {"sum_over_first_axis", R"(
    @T.prim_func
    def main(X: T.Buffer((7, 127), "float32"), Y: T.Buffer((127,), "float32")):
        for i, k in T.grid(127, 7):
            with T.block("Y"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    Y[vi] = T.float32(0)
                Y[vi] = Y[vi] + X[vk, vi]
)"},
    {"sum_over_last_axis", R"(
    @T.prim_func
    def main(X: T.Buffer((7, 127), "float32"), Y: T.Buffer((7,), "float32")):
        for i, k in T.grid(7, 127):
            with T.block("Y"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    Y[vi] = T.float32(0)
                Y[vi] = Y[vi] + X[vi, vk]
)"},
    {"sum_of_everything", R"(
    @T.prim_func
    def main(X: T.Buffer((7, 5), "int64"), Y: T.Buffer((1,), "int64")):
        for o, i, k in T.grid(1, 7, 5):
            with T.block("Y"):
                vo, vi, vk = T.axis.remap("SRR", [o, i, k])
                with T.init():
                    Y[vo] = T.int64(0)
                Y[vo] = Y[vo] + X[vi, vk]
)"},
    {"normalised_rows", R"(
    @T.prim_func
    def main(X: T.Buffer((5, 17), "float32"), Y: T.Buffer((5, 17), "float32")):
        most = T.alloc_buffer((5,), "float32")
        less = T.alloc_buffer((5, 17), "float32")
        total = T.alloc_buffer((5,), "float32")
        for i, k in T.grid(5, 17):
            with T.block("most"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    most[vi] = T.float32(-100)
                most[vi] = T.max(most[vi], X[vi, vk])
        for i, j in T.grid(5, 17):
            with T.block("less"):
                vi, vj = T.axis.remap("SS", [i, j])
                less[vi, vj] = X[vi, vj] - most[vi]
        for i, k in T.grid(5, 17):
            with T.block("total"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    total[vi] = T.float32(0)
                total[vi] = total[vi] + less[vi, vk]
        for i, j in T.grid(5, 17):
            with T.block("Y"):
                vi, vj = T.axis.remap("SS", [i, j])
                Y[vi, vj] = less[vi, vj] * T.float32(2) - total[vi]
)"},
    {"elements_with_broadcast", R"(
    @T.prim_func
    def main(A: T.Buffer((5, 1, 19), "float32"), B: T.Buffer((7, 1), "float32"), s: T.Buffer((1,), "float32"), C: T.Buffer((5, 7, 19), "float32")):
        for i, j, k in T.grid(5, 7, 19):
            with T.block("C"):
                vi, vj, vk = T.axis.remap("SSS", [i, j, k])
                C[vi, vj, vk] = A[vi, 0, vk] * B[vj, 0] + s[0]
)"},
    {"transpose_int8", R"(
    @T.prim_func
    def main(A: T.Buffer((5, 127), "int8"), B: T.Buffer((127, 5), "int8")):
        for i, j in T.grid(127, 5):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vj, vi]
)"},
    {"reshape", R"(
    @T.prim_func
    def main(A: T.Buffer((6, 5), "float32"), B: T.Buffer((3, 10), "float32")):
        for i, j in T.grid(3, 10):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[(vi * 10 + vj) // 5, (vi * 10 + vj) % 5]
)"},
    {"concatenation", R"(
    @T.prim_func
    def main(A: T.Buffer((3, 5), "float32"), B: T.Buffer((3, 19), "float32"), C: T.Buffer((3, 24), "float32")):
        for i, j in T.grid(3, 24):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = T.if_then_else(vj < 5, A[vi, vj], B[vi, vj - 5])
)"},
    {"bools", R"(
    @T.prim_func
    def main(A: T.Buffer((5, 127), "float32"), B: T.Buffer((5, 127), "bool"), C: T.Buffer((5, 127), "bool")):
        for i, j in T.grid(5, 127):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = A[vi, vj] < T.float32(1) and B[vi, vj]
)"},
    {"sums_of_groups", R"(
    @T.prim_func
    def main(x: T.Buffer((3, 15), "float32"), q: T.Buffer((15, 37), "int8"), s: T.Buffer((3, 37), "float32"), b: T.Buffer((37,), "float32"), y: T.Buffer((3, 37), "float32")):
        parts = T.alloc_buffer((3, 3, 37))
        sums = T.alloc_buffer((3, 37))
        for i, g, j, k in T.grid(3, 3, 37, 5):
            with T.block("parts"):
                vi, vg, vj, vk = T.axis.remap("SSSR", [i, g, j, k])
                with T.init():
                    parts[vi, vg, vj] = T.float32(0)
                parts[vi, vg, vj] = parts[vi, vg, vj] + x[vi, vg * 5 + vk] * T.Cast("float32", q[vg * 5 + vk, vj])
        for i, j, g in T.grid(3, 37, 3):
            with T.block("sums"):
                vi, vj, vg = T.axis.remap("SSR", [i, j, g])
                with T.init():
                    sums[vi, vj] = T.float32(0)
                sums[vi, vj] = sums[vi, vj] + parts[vi, vg, vj] * s[vg, vj]
        for i, j in T.grid(3, 37):
            with T.block("y"):
                vi, vj = T.axis.remap("SS", [i, j])
                y[vi, vj] = sums[vi, vj] + b[vj]
)"},
    {"unit_dimensions", R"(
    @T.prim_func
    def main(A: T.Buffer((1, 7, 1), "float32"), B: T.Buffer((7, 1, 1), "float32"), C: T.Buffer((1, 1, 1), "float32")):
        for i, j, o, k in T.grid(1, 1, 1, 7):
            with T.block("C"):
                vi, vj, vo, vk = T.axis.remap("SSSR", [i, j, o, k])
                with T.init():
                    C[vi, vj, vo] = T.float32(0)
                C[vi, vj, vo] = C[vi, vj, vo] + A[vi, vk, 0] * B[vk, vj, vo]
)"},
    {"no_elements", R"(
    @T.prim_func
    def main(A: T.Buffer((5, 0), "float32"), B: T.Buffer((0, 7), "float32"), C: T.Buffer((5, 7), "float32"), D: T.Buffer((0, 7), "float32")):
        for i, j, k in T.grid(5, 7, 0):
            with T.block("C"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    C[vi, vj] = T.float32(0)
                C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
        for i, j in T.grid(0, 7):
            with T.block("D"):
                vi, vj = T.axis.remap("SS", [i, j])
                D[vi, vj] = B[vi, vj] * T.float32(2)
)"},
};

}  // namespace tilewright::schedule
