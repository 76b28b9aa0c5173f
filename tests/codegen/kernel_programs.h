// Kernels in their lowered form (lower/lowered.h) that every language of devices must print alike: odd extents,
// guards, shared memory, vectors, all dtypes.
#pragma once
#include <ostream>
#include <string_view>

namespace tilewright::codegen {

struct KernelProgram {
  std::string_view name, text;
  friend void PrintTo(const KernelProgram& program, std::ostream* stream) { *stream << program.name; }
};

inline constexpr KernelProgram kVectorAdd = {"vector_add", R"(
@T.prim_func
def f(A: T.Buffer((127,), "float32"), B: T.Buffer((127,), "float32"), C: T.Buffer((127,), "float32")):
    T.func_attr({"tir.noalias": True})
    for bx in T.thread_binding(2, thread="blockIdx.x"):
        for tx in T.thread_binding(64, thread="threadIdx.x"):
            if bx * 64 + tx < 127:
                C[bx * 64 + tx] = A[bx * 64 + tx] + B[bx * 64 + tx]
)"};

inline constexpr KernelProgram kReversed = {"reversed_rows", R"(
@T.prim_func
def f(A: T.Buffer((91,), "float32"), B: T.Buffer((91,), "float32")):
    T.func_attr({"tir.noalias": True})
    for bx in T.thread_binding(13, thread="blockIdx.x"):
        S = T.alloc_buffer((7,), scope="shared")
        for tx in T.thread_binding(7, thread="threadIdx.x"):
            S[tx] = A[bx * 7 + tx]
            T.tvm_storage_sync("shared")
            B[bx * 7 + tx] = S[6 - tx]
)"};

inline constexpr KernelProgram kTransposed = {"transposed", R"(
@T.prim_func
def f(A: T.Buffer((1369,), "float32"), B: T.Buffer((1369,), "float32")):
    T.func_attr({"tir.noalias": True})
    for by in T.thread_binding(3, thread="blockIdx.y"):
        for bx in T.thread_binding(3, thread="blockIdx.x"):
            S = T.alloc_buffer((272,), scope="shared")
            for ty in T.thread_binding(16, thread="threadIdx.y"):
                for tx in T.thread_binding(16, thread="threadIdx.x"):
                    if by * 16 + ty < 37 and bx * 16 + tx < 37:
                        S[ty * 17 + tx] = A[(by * 16 + ty) * 37 + bx * 16 + tx]
                    T.tvm_storage_sync("shared")
                    if bx * 16 + ty < 37 and by * 16 + tx < 37:
                        B[(bx * 16 + ty) * 37 + by * 16 + tx] = S[tx * 17 + ty]
)"};

inline constexpr KernelProgram kBlockSum = {"block_sum", R"(
@T.prim_func
def f(A: T.Buffer((640,), "float32"), B: T.Buffer((5,), "float32")):
    T.func_attr({"tir.noalias": True})
    for bx in T.thread_binding(5, thread="blockIdx.x"):
        S = T.alloc_buffer((128,), scope="shared")
        for tx in T.thread_binding(128, thread="threadIdx.x"):
            S[tx] = A[bx * 128 + tx]
            T.tvm_storage_sync("shared")
            for step in range(7):
                if tx < T.shift_right(64, step):
                    S[tx] = S[tx] + S[tx + T.shift_right(64, step)]
                T.tvm_storage_sync("shared")
            if tx == 0:
                B[bx] = S[0]
)"};

// 37 x 45 times 45 x 29 in tiles of 16, guarded
inline constexpr KernelProgram kMatmul = {"matmul_shared", R"(
@T.prim_func
def f(A: T.Buffer((1665,), "float32"), B: T.Buffer((1305,), "float32"), C: T.Buffer((1073,), "float32")):
    T.func_attr({"tir.noalias": True})
    for by in T.thread_binding(3, thread="blockIdx.y"):
        for bx in T.thread_binding(2, thread="blockIdx.x"):
            A_shared = T.alloc_buffer((256,), scope="shared")
            B_shared = T.alloc_buffer((256,), scope="shared")
            for ty in T.thread_binding(16, thread="threadIdx.y"):
                for tx in T.thread_binding(8, thread="threadIdx.x"):
                    C_local = T.alloc_buffer((2,), scope="local")
                    for n in range(2):
                        C_local[n] = T.float32(0)
                    for k0 in range(3):
                        for n in range(2):
                            A_shared[ty * 16 + tx * 2 + n] = T.if_then_else(by * 16 + ty < 37 and k0 * 16 + tx * 2 + n < 45, A[(by * 16 + ty) * 45 + k0 * 16 + tx * 2 + n], T.float32(0))
                            B_shared[ty * 16 + tx * 2 + n] = T.if_then_else(k0 * 16 + ty < 45 and bx * 16 + tx * 2 + n < 29, B[(k0 * 16 + ty) * 29 + bx * 16 + tx * 2 + n], T.float32(0))
                        T.tvm_storage_sync("shared")
                        for k1 in range(16):
                            for n in range(2):
                                C_local[n] = C_local[n] + A_shared[ty * 16 + k1] * B_shared[k1 * 16 + tx * 2 + n]
                        T.tvm_storage_sync("shared")
                    for n in range(2):
                        if by * 16 + ty < 37 and bx * 16 + tx * 2 + n < 29:
                            C[(by * 16 + ty) * 29 + bx * 16 + tx * 2 + n] = C_local[n]
)"};

inline constexpr KernelProgram kVectors = {"vectors", R"(
@T.prim_func
def f(A: T.Buffer((320,), "float32"), B: T.Buffer((320,), "float32"), C: T.Buffer((320,), "float32")):
    T.func_attr({"tir.noalias": True})
    for bx in T.thread_binding(5, thread="blockIdx.x"):
        S = T.alloc_buffer((64,), scope="shared")
        for tx in T.thread_binding(16, thread="threadIdx.x"):
            S[T.Ramp(tx * 4, 1, 4)] = A[T.Ramp(bx * 64 + tx * 4, 1, 4)]
            T.tvm_storage_sync("shared")
            C[T.Ramp(bx * 64 + tx * 4, 1, 4)] = T.max(S[T.Ramp(60 - tx * 4, 1, 4)], T.Broadcast(A[tx], 4)) * B[T.Ramp(bx * 64 + tx * 4, 1, 4)] + T.Broadcast(T.float32(2), 4)
)"};

inline constexpr KernelProgram kVectorChoice = {"vectors_of_a_choice", R"(
@T.prim_func
def f(A: T.Buffer((61,), "float32"), B: T.Buffer((64,), "float32"), C: T.Buffer((67,), "float32"), n: T.int32):
    T.func_attr({"tir.noalias": True})
    for tx in T.thread_binding(16, thread="threadIdx.x"):
        B[T.Ramp(tx * 4, 1, 4)] = T.if_then_else(tx < 15, A[T.Ramp(tx * 4, 1, 4)], T.Broadcast(T.float32(1), 4))
        C[T.Ramp(tx * 4 + n, 1, 4)] = T.Select(B[T.Ramp(tx * 4, 1, 4)] < T.Broadcast(T.float32(0), 4), T.exp(B[T.Ramp(tx * 4, 1, 4)]), T.Broadcast(T.Cast("float32", tx), 4))
)"};

inline constexpr KernelProgram kWholeNumbers = {"whole_numbers", R"(
@T.prim_func
def f(A: T.Buffer((31,), "int32"), B: T.Buffer((31,), "int32"), D: T.Buffer((31,), "int64"), C: T.Buffer((310,), "int32"), E: T.Buffer((62,), "int64"), F: T.Buffer((31,), "uint8"), G: T.Buffer((31,), "bool")):
    T.func_attr({"tir.noalias": True})
    for tx in T.thread_binding(31, thread="threadIdx.x"):
        C[tx] = A[tx] // 3 + (tx - 15) // 4
        C[31 + tx] = A[tx] % -5 + (tx - 15) % 4
        C[62 + tx] = T.truncdiv(A[tx], B[tx])
        C[93 + tx] = A[tx] // B[tx]
        C[124 + tx] = A[tx] % B[tx]
        C[155 + tx] = T.bitwise_xor(T.bitwise_and(A[tx], B[tx]), T.shift_left(A[tx], 3))
        C[186 + tx] = T.min(A[tx], B[tx]) - T.max(A[tx], tx)
        C[217 + tx] = T.abs(A[tx]) + T.popcount(B[tx]) * T.clz(A[tx])
        C[248 + tx] = T.shift_right(A[tx] * 1000003, 2)
        C[279 + tx] = T.Cast("int32", T.Cast("int8", A[tx] * 50))
        E[tx] = D[tx] * T.int64(4611686018427387905) + T.Cast("int64", A[tx])
        E[31 + tx] = T.min(D[tx], T.Cast("int64", B[tx])) - T.int64(5000000000)
        F[tx] = T.Cast("uint8", A[tx] + 200) * T.uint8(3)
        G[tx] = A[tx] < B[tx] and not (D[tx] == T.int64(2))
)"};

inline constexpr KernelProgram kFunctions = {"functions", R"(
@T.prim_func
def f(X: T.Buffer((61,), "float32"), C: T.Buffer((1220,), "float32")):
    T.func_attr({"tir.noalias": True})
    for tx in T.thread_binding(61, thread="threadIdx.x"):
        C[tx] = T.exp(X[tx])
        C[61 + tx] = T.log(T.fabs(X[tx]) + T.float32(0.5))
        C[122 + tx] = T.tanh(X[tx])
        C[183 + tx] = T.sigmoid(X[tx])
        C[244 + tx] = T.erf(X[tx])
        C[305 + tx] = T.sqrt(T.fabs(X[tx]))
        C[366 + tx] = T.rsqrt(T.fabs(X[tx]) + T.float32(1))
        C[427 + tx] = T.pow(T.fabs(X[tx]), T.float32(1.5))
        C[488 + tx] = T.sin(X[tx]) + T.float32(2)
        C[549 + tx] = T.atan2(X[tx], T.float32(0.5))
        C[610 + tx] = T.exp2(X[tx])
        C[671 + tx] = T.log1p(T.fabs(X[tx]))
        C[732 + tx] = T.hypot(X[tx], T.float32(1))
        C[793 + tx] = T.max(X[tx], T.float32(0)) * T.float32(0.1)
        C[854 + tx] = T.min(X[tx], T.float32("inf")) / T.float32(3)
        C[915 + tx] = T.round(X[tx] * T.float32(2.5)) + T.floor(X[tx]) + T.ceil(X[tx]) + T.trunc(X[tx])
        C[976 + tx] = T.fmod(X[tx], T.float32(0.7)) + T.copysign(T.float32(3), X[tx])
        C[1037 + tx] = T.if_then_else(T.isnan(X[tx]), T.float32(7), X[tx] % T.float32(0.75))
        C[1098 + tx] = T.reinterpret("float32", T.bitwise_and(T.reinterpret("int32", X[tx]), 2147483647))
        C[1159 + tx] = T.exp10(X[tx]) + T.cos(X[tx])
)"};

inline constexpr KernelProgram kSmallFloats = {"small_floats", R"(
@T.prim_func
def f(H: T.Buffer((61,), "float16"), X: T.Buffer((61,), "float32"), P: T.Buffer((61,), "float16"), Q: T.Buffer((61,), "bfloat16"), R: T.Buffer((61,), "float8_e4m3fn"), S: T.Buffer((61,), "float8_e5m2"), Y: T.Buffer((244,), "float32")):
    T.func_attr({"tir.noalias": True})
    for tx in T.thread_binding(61, thread="threadIdx.x"):
        P[tx] = T.Cast("float16", X[tx] * T.float32(100.3))
        Q[tx] = T.Cast("bfloat16", X[tx] * T.float32(100.3))
        R[tx] = T.Cast("float8_e4m3fn", X[tx] * T.float32(10.3))
        S[tx] = T.Cast("float8_e5m2", X[tx] * T.float32(10.3))
        Y[tx] = T.Cast("float32", H[tx]) + T.Cast("float32", P[tx])
        Y[61 + tx] = T.Cast("float32", Q[tx])
        Y[122 + tx] = T.Cast("float32", R[tx])
        Y[183 + tx] = T.Cast("float32", S[tx])
)"};

inline constexpr KernelProgram kHalfVectors = {"half_vectors", R"(
@T.prim_func
def f(A: T.Buffer((128,), "float16"), B: T.Buffer((128,), "float16"), C: T.Buffer((128,), "bfloat16")):
    T.func_attr({"tir.noalias": True})
    S = T.alloc_buffer((128,), "float16", scope="shared")
    for tx in T.thread_binding(16, thread="threadIdx.x"):
        S[T.Ramp(tx * 8, 1, 8)] = A[T.Ramp(tx * 8, 1, 8)]
        T.tvm_storage_sync("shared")
        B[T.Ramp(tx * 8, 1, 8)] = T.Cast("float16x8", T.Cast("float32x8", S[T.Ramp(120 - tx * 8, 1, 8)]) * T.Broadcast(T.float32(3), 8))
        C[T.Ramp(tx * 8, 1, 4)] = T.Cast("bfloat16x4", T.Cast("float32x4", S[T.Ramp(tx * 8, 1, 4)]))
        C[T.Ramp(tx * 8 + 4, 1, 2)] = T.Broadcast(T.bfloat16(2), 2)
        C[T.Ramp(tx * 8 + 6, 1, 2)] = T.Broadcast(T.bfloat16(-0.5), 2)
)"};

inline constexpr KernelProgram kAllAxes = {"all_axes", R"(
@T.prim_func
def f(A: T.Buffer((3150,), "float64"), n: T.int32, m: T.int64, x: T.float32):
    T.func_attr({"tir.noalias": True})
    for bz in T.thread_binding(n, thread="blockIdx.z"):
        for by in T.thread_binding(5, thread="blockIdx.y"):
            for bx in T.thread_binding(7, thread="blockIdx.x"):
                for tz in T.thread_binding(2, thread="threadIdx.z"):
                    for ty in T.thread_binding(3, thread="threadIdx.y"):
                        for tx in T.thread_binding(5, thread="threadIdx.x"):
                            A[((((bz * 5 + by) * 7 + bx) * 2 + tz) * 3 + ty) * 5 + tx] = T.Cast("float64", tx - 2) * T.Cast("float64", m) + T.Cast("float64", x) / T.float64(3)
)"};

// Two buffers in one piece of shared memory, one after the other and of different dtypes.
inline constexpr KernelProgram kArena = {"arena", R"(
@T.prim_func
def f(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "int32"), C: T.Buffer((64,), "float32")):
    T.func_attr({"tir.noalias": True})
    arena = T.alloc_buffer((512,), "uint8", scope="shared")
    X = T.decl_buffer((128,), "float32", data=arena.data, scope="shared")
    Y = T.decl_buffer((128,), "int32", data=arena.data, scope="shared")
    for tx in T.thread_binding(16, thread="threadIdx.x"):
        X[T.Ramp(tx * 4, 1, 4)] = A[T.Ramp(tx * 4, 1, 4)]
        Y[T.Ramp(64 + tx * 4, 1, 4)] = B[T.Ramp(tx * 4, 1, 4)]
        T.tvm_storage_sync("shared")
        for n in range(4):
            C[n * 16 + tx] = X[63 - n * 16 - tx] + T.Cast("float32", Y[64 + n * 16 + tx])
)"};

// Arithmetic that CUDA and Metal have, and OpenCL does not.
inline constexpr KernelProgram kHalfArithmetic = {"half_arithmetic", R"(
@T.prim_func
def f(A: T.Buffer((61,), "float16"), B: T.Buffer((61,), "float16"), C: T.Buffer((549,), "float16"), D: T.Buffer((244,), "int32"), E: T.Buffer((61,), "bfloat16"), G: T.Buffer((61,), "bool")):
    T.func_attr({"tir.noalias": True})
    for tx in T.thread_binding(61, thread="threadIdx.x"):
        C[tx] = A[tx] + B[tx] * T.float16(0.1)
        C[61 + tx] = T.max(A[tx], B[tx]) - T.min(A[tx], T.float16(0.5))
        C[122 + tx] = A[tx] / (B[tx] * B[tx] + T.float16(1))
        C[183 + tx] = T.Select(A[tx] < B[tx], A[tx], T.float16("inf"))
        C[244 + tx] = T.if_then_else(T.isnan(A[tx]), T.float16(0), T.Cast("float16", tx))
        C[305 + tx] = T.Cast("float16", A[tx] > T.float16(0))
        C[366 + tx] = T.Cast("float16", T.Cast("int64", tx) - T.int64(40))
        C[427 + tx] = T.Cast("float16", T.Cast("float64", A[tx]) / T.float64(3))
        C[488 + tx] = T.reinterpret("float16", T.bitwise_xor(T.reinterpret("uint16", A[tx]), T.uint16(32768)))
        C[tx] = C[tx] + A[tx]
        D[tx] = T.Cast("int32", A[tx] * T.float16(10))
        D[61 + tx] = T.Cast("int32", T.Cast("int8", A[tx] * T.float16(10)))
        D[122 + tx] = T.Cast("int32", T.Cast("bool", A[tx]))
        D[183 + tx] = T.Cast("int32", A[tx] != A[tx])
        E[tx] = T.Cast("bfloat16", A[tx])
        G[tx] = A[tx] <= B[tx]
)"};

inline constexpr KernelProgram kKernelPrograms[] = {
    kVectorAdd,    kReversed,  kTransposed,  kBlockSum,    kMatmul,  kVectors, kVectorChoice,
    kWholeNumbers, kFunctions, kSmallFloats, kHalfVectors, kAllAxes, kArena,
};

}  // namespace tilewright::codegen
