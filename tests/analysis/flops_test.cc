#include "tilewright/analysis/flops.h"

#include "script_testing.h"

namespace tilewright::analysis {
namespace {

using script::parse_func;

TEST(CountFlops, MatmulIsTwoPerMultiplyAdd) {
  const tir::PrimFunc func = parse_func(R"(
@T.prim_func
def mm(A: T.Buffer((5, 7), "float32"), B: T.Buffer((7, 3), "float32"), C: T.Buffer((5, 3), "float32")):
    for i, j, k in T.grid(5, 3, 7):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
)");
  EXPECT_EQ(count_flops(func), 2 * 5 * 3 * 7);
}

TEST(CountFlops, IndicesAreFree) {
  const tir::PrimFunc func = parse_func(R"(
@T.prim_func
def f(A: T.Buffer((9,), "int32"), B: T.Buffer((5,), "float32")):
    for i in range(5):
        A[i * 2] = A[i * 2] + 1
        B[4 - i] = T.exp(B[4 - i])
)");
  EXPECT_EQ(count_flops(func), 10);
}

TEST(CountFlops, DotProductsCountEachProduct) {
  const tir::PrimFunc func = parse_func(R"(
@T.prim_func
def f(A: T.Buffer((4,), "uint8"), B: T.Buffer((12,), "int8"), C: T.Buffer((3,), "int32")):
    for i in range(5):
        C[0:3] = T.dot_add(C[0:3], A[0:4], B[0:12])
)");
  EXPECT_EQ(count_flops(func), 5 * 3 * 4 * 2);
  EXPECT_EQ(count_lanes(func, 16), 5 * 4 * 4 * 2);
}

TEST(CountFlops, OfTwoBranchesTheLongerCounts) {
  const tir::PrimFunc func = parse_func(R"(
@T.prim_func
def f(B: T.Buffer((5,), "float32")):
    for i in range(5):
        B[i] = T.if_then_else(i < 2, B[i] + B[i] * B[i], T.float32(0))
)");
  EXPECT_EQ(count_flops(func), 10);
}

TEST(CountFlops, SymbolicExtentsAreAskedFor) {
  const tir::PrimFunc func = parse_func(R"(
@T.prim_func
def f(b: T.handle):
    n = T.int64()
    B = T.match_buffer(b, (n, 3), "float32")
    for i, j in T.grid(n, 3):
        B[i, j] = B[i, j] + T.float32(1)
)");
  EXPECT_EQ(count_flops(func), std::nullopt);
  EXPECT_EQ(count_flops(func, [](const tir::VarNode*) { return 7; }), 21);
  EXPECT_EQ(count_flops(func, [](const tir::VarNode*) { return INT64_MAX; }), std::nullopt);
}

}  // namespace
}  // namespace tilewright::analysis
