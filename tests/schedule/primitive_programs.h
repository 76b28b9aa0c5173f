// Programs and maps that tests of several primitives take.
#pragma once
#include <string_view>

#include "tilewright/schedule/schedule.h"
#include "tilewright/tir/builder.h"

namespace tilewright::schedule {

inline constexpr std::string_view kChain = R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7), "float32"), C: T.Buffer((5, 7), "float32")):
        B = T.alloc_buffer((5, 7))
        for i, j in T.grid(5, 7):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] * T.float32(2)
        for i, j in T.grid(5, 7):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = B[vi, vj] + T.float32(1)
)";

inline Factors by(int64_t factor) { return {None{}, factor}; }

inline constexpr std::string_view kTwoSteps = R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7), "float32"), C: T.Buffer((7, 5), "float32")):
        B = T.alloc_buffer((5, 7))
        for i, j in T.grid(5, 7):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] * T.float32(2)
        for i, j in T.grid(7, 5):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = B[vj, vi] + T.float32(1)
)";

inline constexpr std::string_view kMmRelu = R"(
    @T.prim_func
    def main(A: T.Buffer((8, 7), "float32"), B: T.Buffer((7, 12), "float32"), C: T.Buffer((8, 12), "float32")):
        Y = T.alloc_buffer((8, 12))
        for i, j, k in T.grid(8, 12, 7):
            with T.block("Y"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    Y[vi, vj] = T.float32(0)
                Y[vi, vj] = Y[vi, vj] + A[vi, vk] * B[vk, vj]
        for i, j in T.grid(8, 12):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = T.max(Y[vi, vj], T.float32(0))
)";

inline constexpr std::string_view kRowSums = R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7), "float32"), Y: T.Buffer((5,), "float32")):
        for i, k in T.grid(5, 7):
            with T.block("Y"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    Y[vi] = T.float32(0)
                Y[vi] = Y[vi] + A[vi, vk]
)";

// A term of each sum in every iteration of the outer loop.
inline constexpr std::string_view kSumsOfOuterLoop = R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7), "float32"), Y: T.Buffer((5,), "float32")):
        for k, i in T.grid(7, 5):
            with T.block("Y"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    Y[vi] = T.float32(0)
                Y[vi] = Y[vi] + A[vi, vk]
)";

inline IndexMap swap() {
  const Var i = make_var("i"), j = make_var("j");
  return IndexMapNode::make(std::vector<Var>{i, j}, std::vector<PrimExpr>{j, i});
}

inline constexpr std::string_view kTransposed = R"(
    @T.prim_func
    def main(A: T.Buffer((7, 5), "float32"), B: T.Buffer((5, 7), "float32")):
        for i, j in T.grid(5, 7):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vj, vi] * T.float32(2)
)";

inline constexpr std::string_view kInPlace = R"(
    @T.prim_func
    def main(A: T.Buffer((7, 5), "float32")):
        for i, j in T.grid(7, 5):
            with T.block("A"):
                vi, vj = T.axis.remap("SS", [i, j])
                A[vi, vj] = A[vi, vj] * T.float32(2)
)";

inline constexpr std::string_view kOnlyInTheFirstIteration = R"(
    @T.prim_func
    def main(A: T.Buffer((7,), "float32"), C: T.Buffer((5, 7), "float32")):
        B = T.alloc_buffer((7,), "float32")
        for i in range(5):
            for j in range(7):
                if i < 1:
                    with T.block("B"):
                        vj = T.axis.spatial(7, j)
                        B[vj] = A[vj]
            for j in range(7):
                with T.block("C"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    C[vi, vj] = B[vj]
    )";

inline constexpr std::string_view kRowChain = R"(
    @T.prim_func
    def main(A: T.Buffer((7,), "float32"), C: T.Buffer((7,), "float32")):
        B = T.alloc_buffer((7,))
        for i in range(7):
            with T.block("B"):
                vi = T.axis.spatial(7, i)
                B[vi] = A[vi] * T.float32(2)
        for i in range(7):
            with T.block("C"):
                vi = T.axis.spatial(7, i)
                C[vi] = B[vi] + T.float32(1)
)";

inline IndexMap by_fours() {
  const Var i = make_var("i");
  return IndexMapNode::make(std::vector<Var>{i},
                            std::vector<PrimExpr>{floordiv(PrimExpr(i), 4), floormod(PrimExpr(i), 4)});
}

// Of int64, as operators of graphs are; the layout, the first block and what the second reads are to be
// given.
inline std::string wide_chain(std::string_view shape, std::string_view write, std::string_view read) {
  return fmt::format(R"(
    @T.prim_func
    def main(A: T.Buffer((T.int64(8),), "float32"), C: T.Buffer((T.int64(8),), "float32")):
        B = T.alloc_buffer({})
        for i in range(T.int64(8)):
            with T.block("B"):
                vi = T.axis.spatial(T.int64(8), i)
                B[{}] = A[vi] * T.float32(2)
        for i in range(T.int64(8)):
            with T.block("C"):
                vi = T.axis.spatial(T.int64(8), i)
                C[vi] = B[{}] + T.float32(1)
)",
                     shape, write, read);
}

inline constexpr std::string_view kStencil = R"(
    @T.prim_func
    def main(A: T.Buffer((7,), "float32"), B: T.Buffer((5,), "float32")):
        for i in range(5):
            with T.block("B"):
                vi = T.axis.spatial(5, i)
                T.reads(A[0:7])
                T.writes(B[vi])
                B[vi] = A[vi] + A[vi + 2]
)";

inline Factors factors(std::vector<std::optional<int64_t>> values) {
  Factors result;
  for (const auto& value : values) result.push_back(value ? Factor(*value) : Factor(None{}));
  return result;
}

inline constexpr std::string_view kDouble = R"(
    @T.prim_func
    def main(A: T.Buffer((128,), "float32"), B: T.Buffer((128,), "float32")):
        for i in range(128):
            with T.block("B"):
                vi = T.axis.spatial(128, i)
                B[vi] = A[vi] * T.float32(2)
)";

inline constexpr std::string_view kDouble127 = R"(
    @T.prim_func
    def main(A: T.Buffer((127,), "float32"), B: T.Buffer((127,), "float32")):
        for i in range(127):
            with T.block("B"):
                vi = T.axis.spatial(127, i)
                B[vi] = A[vi] * T.float32(2)
)";

inline constexpr std::string_view kMatmul = R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7), "float32"), B: T.Buffer((7, 3), "float32"), Y: T.Buffer((5, 3), "float32")):
        for i, j, k in T.grid(5, 3, 7):
            with T.block("Y"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    Y[vi, vj] = T.float32(0)
                Y[vi, vj] = Y[vi, vj] + A[vi, vk] * B[vk, vj]
)";

// A scan whose axes claim to be spatial: B[i, j] needs B[i - 1, j + 1].
inline constexpr std::string_view kWavefront = R"(
    @T.prim_func
    def main(A: T.Buffer((6, 7), "float32"), B: T.Buffer((7, 8), "float32")):
        for i, j in T.grid(6, 7):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi + 1, vj] = B[vi, vj + 1] + A[vi, vj]
)";

inline constexpr std::string_view kTwoInLoop = R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7), "float32"), C: T.Buffer((5, 7), "float32")):
        B = T.alloc_buffer((5, 7))
        for i in range(5):
            for j in range(7):
                with T.block("B"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    B[vi, vj] = A[vi, vj] * T.float32(2)
            for j in range(7):
                with T.block("C"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    C[vi, vj] = B[vi, vj] + T.float32(1)
            for j in range(7):
                with T.block("D"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    C[vi, vj] = C[vi, vj] * C[vi, vj]
)";

inline constexpr std::string_view kWindow = R"(
    @T.prim_func
    def main(A: T.Buffer((9, 7), "float32"), C: T.Buffer((7, 7), "float32")):
        B = T.alloc_buffer((9, 7))
        for i, j in T.grid(9, 7):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] * T.float32(2)
        for i, j in T.grid(7, 7):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = B[vi, vj] + B[vi + 2, vj]
)";

// Iteration t writes X[t] and Y[t, ...].
inline constexpr std::string_view kOwnElements = R"(
    @T.prim_func
    def main(A: T.Buffer((5,)), B: T.Buffer((5, 3)), D: T.Buffer((5, 3))):
        X = T.alloc_buffer((5,))
        Y = T.alloc_buffer((5, 3))
        for t in range(5):
            with T.block("X"):
                vt = T.axis.spatial(5, t)
                X[vt] = A[vt] * T.float32(2)
            for i in range(3):
                with T.block("Y"):
                    vt, vi = T.axis.remap("SS", [t, i])
                    Y[vt, vi] = B[vt, vi] + X[vt]
        for j, k in T.grid(5, 3):
            with T.block("D"):
                vj, vk = T.axis.remap("SS", [j, k])
                D[vj, vk] = Y[vj, vk] * X[vj]
)";

inline constexpr std::string_view kTiles = R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7), "float32"), C: T.Buffer((5, 7), "float32")):
        for i, j in T.grid(5, 7):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = A[vi, vj] + T.float32(1)
)";

inline constexpr std::string_view kTwice = R"(
    @T.prim_func
    def main(A: T.Buffer((7,), "float32"), B: T.Buffer((5,), "float32"), C: T.Buffer((5,), "float32")):
        for i in range(5):
            with T.block("B"):
                vi = T.axis.spatial(5, i)
                B[vi] = A[vi] + A[vi + 2]
            with T.block("C"):
                vi = T.axis.spatial(5, i)
                C[vi] = B[vi] * B[vi]
)";

}  // namespace tilewright::schedule
