// Loop programs that every back end must compute alike: odd extents, all dtypes, what C's operators say
// otherwise.
#pragma once
#include <ostream>
#include <string_view>

namespace tilewright::codegen {

struct Program {
  std::string_view name, text;
  friend void PrintTo(const Program& program, std::ostream* stream) { *stream << program.name; }
};

inline constexpr Program kPrograms[] = {
    {"add_one", R"(
@T.prim_func
def f(A: T.Buffer((7,), "float32"), B: T.Buffer((7,), "float32")):
    for i in range(7):
        B[i] = A[i] + T.float32(1)
)"},
    {"vectorized", R"(
@T.prim_func
def f(A: T.Buffer((5, 7), "float32"), B: T.Buffer((5, 7), "float32")):
    for i in range(5):
        for j in T.vectorized(7):
            B[i, j] = A[i, j] * T.float32(0.1)
)"},
    {"parallel", R"(
@T.prim_func
def f(A: T.Buffer((127,), "float32"), B: T.Buffer((127,), "float32"), n: T.int32):
    for i in T.parallel(127):
        B[i] = A[i] + T.Cast("float32", n)
)"},
    {"matmul", R"(
@T.prim_func
def f(A: T.Buffer((5, 7), "float32"), B: T.Buffer((7, 3), "float32"), C: T.Buffer((5, 3), "float32")):
    T.func_attr({"tir.noalias": True})
    for i, j, k in T.grid(5, 3, 7):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
)"},
    {"tiled_with_guard", R"(
@T.prim_func
def f(A: T.Buffer((127,), "float32"), B: T.Buffer((127,), "float32")):
    for i0, i1 in T.grid(16, 8):
        if i0 * 8 + i1 < 127:
            B[i0 * 8 + i1] = A[126 - (i0 * 8 + i1)]
)"},
    {"fused_indices", R"(
@T.prim_func
def f(A: T.Buffer((5, 7), "float32"), B: T.Buffer((7, 5), "float32")):
    for ij in range(35):
        B[ij % 7, ij // 7] = A[ij // 7, ij % 7]
)"},
    {"floor_of_negative", R"(
@T.prim_func
def f(A: T.Buffer((31,), "int32"), B: T.Buffer((31,), "int32"), C: T.Buffer((31,), "int32")):
    for i in range(31):
        B[i] = A[i] // 3 + (i - 15) // 4
        C[i] = A[i] % -5 + (i - 15) % 4
)"},
    {"division_by_data", R"(
@T.prim_func
def f(A: T.Buffer((7,), "int32"), B: T.Buffer((7,), "int32"), C: T.Buffer((5, 7), "int32")):
    for i in range(7):
        C[0, i] = T.truncdiv(A[i], B[i])
        C[1, i] = T.truncmod(A[i], B[i])
        C[2, i] = A[i] // B[i]
        C[3, i] = A[i] % B[i]
        C[4, i] = T.truncdiv(T.int32(-2147483648), B[i])
)"},
    {"wrapping", R"(
@T.prim_func
def f(A: T.Buffer((7,), "int8"), B: T.Buffer((7,), "int8"), C: T.Buffer((3, 7), "int8")):
    for i in range(7):
        C[0, i] = A[i] + B[i]
        C[1, i] = A[i] - B[i]
        C[2, i] = A[i] * B[i] * A[i]
)"},
    {"wrapping_uint16", R"(
@T.prim_func
def f(A: T.Buffer((7,), "uint16"), B: T.Buffer((7,), "uint16"), C: T.Buffer((3, 7), "uint16")):
    for i in range(7):
        C[0, i] = A[i] + B[i]
        C[1, i] = A[i] - B[i]
        C[2, i] = A[i] * B[i] * A[i]
)"},
    {"wrapping_int64", R"(
@T.prim_func
def f(A: T.Buffer((7,), "int64"), B: T.Buffer((7,), "int64"), C: T.Buffer((2, 7), "int64")):
    for i in range(7):
        C[0, i] = A[i] * T.int64(4611686018427387905) + B[i]
        C[1, i] = T.min(A[i], B[i]) - T.int64(5000000000)
)"},
    {"bits", R"(
@T.prim_func
def f(A: T.Buffer((7,), "int32"), B: T.Buffer((7,), "int32"), C: T.Buffer((9, 7), "int32")):
    for i in range(7):
        C[0, i] = T.bitwise_and(A[i], B[i])
        C[1, i] = T.bitwise_or(A[i], T.bitwise_not(B[i]))
        C[2, i] = T.bitwise_xor(A[i], B[i] + 1)
        C[3, i] = T.shift_left(A[i], B[i])
        C[4, i] = T.shift_right(A[i], 2)
        C[5, i] = T.abs(A[i])
        C[6, i] = T.clz(A[i])
        C[7, i] = T.popcount(A[i])
        C[8, i] = T.reinterpret("int32", T.Cast("float32", A[i]))
)"},
    {"bits_uint8", R"(
@T.prim_func
def f(A: T.Buffer((7,), "uint8"), B: T.Buffer((7,), "uint8"), C: T.Buffer((4, 7), "uint8")):
    for i in range(7):
        C[0, i] = T.bitwise_not(A[i])
        C[1, i] = T.shift_right(A[i], B[i])
        C[2, i] = T.popcount(A[i])
        C[3, i] = T.max(A[i], B[i]) // T.uint8(3)
)"},
    {"bools", R"(
@T.prim_func
def f(A: T.Buffer((7,), "bool"), B: T.Buffer((7,), "bool"), X: T.Buffer((7,), "float32"), C: T.Buffer((5, 7), "bool")):
    for i in range(7):
        C[0, i] = A[i] and not B[i]
        C[1, i] = A[i] or B[i] and X[i] > T.float32(0)
        C[2, i] = (X[i] < T.float32(1)) == A[i]
        C[3, i] = T.Cast("bool", X[i])
        C[4, i] = T.isnan(X[i])
)"},
    {"casts", R"(
@T.prim_func
def f(X: T.Buffer((7,), "float32"), A: T.Buffer((7,), "int32"), B: T.Buffer((7,), "int8"), C: T.Buffer((7,), "uint8"), D: T.Buffer((7,), "float64"), E: T.Buffer((7,), "int64")):
    for i in range(7):
        A[i] = T.Cast("int32", X[i])
        B[i] = T.Cast("int8", X[i] * T.float32(50))
        C[i] = T.Cast("uint8", A[i])
        D[i] = T.Cast("float64", X[i]) / T.float64(3)
        E[i] = T.Cast("int64", X[i] > T.float32(0)) + T.Cast("int64", A[i])
)"},
    {"floats", R"(
@T.prim_func
def f(X: T.Buffer((7,), "float32"), Y: T.Buffer((7,), "float32"), C: T.Buffer((9, 7), "float32")):
    for i in range(7):
        C[0, i] = T.max(X[i], T.float32(0))
        C[1, i] = T.min(X[i], Y[i])
        C[2, i] = X[i] - (Y[i] - X[i])
        C[3, i] = X[i] / (Y[i] / T.float32(3))
        C[4, i] = -X[i] * T.float32(1e-30)
        C[5, i] = T.Select(X[i] < Y[i], X[i], T.Select(Y[i] < T.float32(0), Y[i], T.float32(2.5)))
        C[6, i] = T.round(X[i] * T.float32(2.5)) + T.floor(Y[i]) + T.ceil(Y[i]) + T.trunc(X[i])
        C[7, i] = T.min(X[i], T.float32("inf")) + T.max(Y[i], T.float32("-inf"))
        C[8, i] = T.fma(X[i], Y[i], X[i]) + T.copysign(X[i], Y[i]) + T.fmod(X[i], T.float32(0.7))
)"},
    {"functions", R"(
@T.prim_func
def f(X: T.Buffer((7,), "float32"), C: T.Buffer((12, 7), "float32")):
    for i in range(7):
        C[0, i] = T.exp(X[i])
        C[1, i] = T.log(T.fabs(X[i]))
        C[2, i] = T.tanh(X[i])
        C[3, i] = T.sigmoid(X[i])
        C[4, i] = T.erf(X[i])
        C[5, i] = T.sqrt(T.fabs(X[i]))
        C[6, i] = T.rsqrt(T.fabs(X[i]))
        C[7, i] = T.pow(T.fabs(X[i]), T.float32(1.5))
        C[8, i] = T.sin(X[i]) + T.cos(X[i]) + T.atan2(X[i], T.float32(0.5))
        C[9, i] = T.exp2(X[i])
        C[10, i] = T.log1p(T.fabs(X[i]))
        C[11, i] = T.hypot(X[i], T.float32(1)) + T.atan(X[i])
)"},
    {"functions_float64", R"(
@T.prim_func
def f(X: T.Buffer((7,), "float64"), C: T.Buffer((4, 7), "float64")):
    for i in range(7):
        C[0, i] = T.exp(X[i]) + T.float64(0.1)
        C[1, i] = T.sigmoid(X[i])
        C[2, i] = T.erf(X[i])
        C[3, i] = T.max(X[i], T.float64(1e300)) * T.float64(1e-300)
)"},
    {"only_the_chosen_value_is_read", R"(
@T.prim_func
def f(A: T.Buffer((5,), "float32"), B: T.Buffer((7,), "float32")):
    for i in range(7):
        B[i] = T.if_then_else(1 <= i and i < 6, A[i - 1], T.float32(0))
)"},
    {"let_inside_a_choice", R"(
@T.prim_func
def f(A: T.Buffer((5,), "float32"), B: T.Buffer((7,), "float32")):
    x = T.float32()
    y = T.float32()
    for i in range(7):
        B[i] = T.if_then_else(i < 5, T.Let(x * x + x, where={x: A[i]}), T.float32(1)) + T.Let(y + y, where={y: B[i]})
)"},
    {"while_and_lets", R"(
@T.prim_func
def f(A: T.Buffer((1,), "int32"), B: T.Buffer((8,), "int32")):
    n: T.int32 = T.bitwise_and(A[0], 7)
    B[0] = n
    while B[0] > 0:
        B[B[0]] = B[0] * B[0]
        B[0] = B[0] - 1
)"},
    {"loop_bounds_from_data", R"(
@T.prim_func
def f(A: T.Buffer((7,), "int32"), B: T.Buffer((7,), "int32")):
    for i in range(7):
        B[i] = 0
        for j in range(T.bitwise_and(A[i], 7)):
            B[i] = B[i] + j * A[j % 7]
)"},
    {"small_temporary", R"(
@T.prim_func
def f(A: T.Buffer((5, 7), "float32"), B: T.Buffer((5, 7), "float32")):
    for i in range(5):
        with T.block("row"):
            vi = T.axis.spatial(5, i)
            S = T.alloc_buffer((7,), "float32")
            for j in range(7):
                S[j] = A[vi, j] * T.float32(2)
            for j in range(7):
                B[vi, j] = S[6 - j]
)"},
    {"large_temporary", R"(
@T.prim_func
def f(A: T.Buffer((20011,), "float32")):
    S = T.alloc_buffer((20011,), "float32")
    for i in range(20011):
        with T.block("S"):
            vi = T.axis.spatial(20011, i)
            S[vi] = A[vi] + T.float32(1)
    for i in range(20011):
        with T.block("A"):
            vi = T.axis.spatial(20011, i)
            A[vi] = S[20010 - vi]
)"},
    {"unrolled", R"(
@T.prim_func
def f(A: T.Buffer((7, 4), "float32"), B: T.Buffer((7,), "float32")):
    for i in range(7):
        B[i] = T.float32(0)
        for j in T.unroll(4):
            B[i] = B[i] + A[i, j]
)"},
    {"vectors", R"(
@T.prim_func
def f(A: T.Buffer((16,), "float32"), B: T.Buffer((7, 4), "float32"), C: T.Buffer((16,), "int32")):
    for i in range(7):
        B[i, T.Ramp(0, 1, 4)] = A[T.Ramp(i, 3, 4)] * T.Broadcast(A[i], 4) + T.exp(A[T.Ramp(0, 1, 4)])
    C[T.Ramp(1, 2, 4)] = T.Cast("int32x4", B[2, T.Ramp(0, 1, 4)]) + T.Ramp(5, -1, 4)
    B[1, T.Ramp(0, 1, 4)] = T.Select(B[0, T.Ramp(0, 1, 4)] < B[1, T.Ramp(0, 1, 4)], B[0, T.Ramp(0, 1, 4)], T.Broadcast(T.float32(2), 4))
)"},
    {"lanes_are_read_before_they_are_written", R"(
@T.prim_func
def f(A: T.Buffer((16,), "float32"), B: T.Buffer((4,), "float32")):
    A[T.Ramp(0, 1, 8)] = A[T.Ramp(7, -1, 8)]
    v: T.float32x4 = A[T.Ramp(8, 1, 4)]
    A[T.Ramp(8, 1, 4)] = T.Broadcast(T.float32(0), 4)
    B[T.Ramp(0, 1, 4)] = v + v
    A[T.Ramp(9, 1, 4)] = v + A[T.Ramp(8, 1, 4)]
)"},
    {"names_of_c", R"(
@T.prim_func
def f(int: T.Buffer((7,), "float32"), expf: T.Buffer((7,), "float32")):
    for f_compute in range(7):
        expf[f_compute] = T.exp(int[f_compute])
)"},
};

}  // namespace tilewright::codegen
