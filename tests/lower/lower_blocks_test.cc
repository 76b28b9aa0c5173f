// Blocks become the statements in them.
#include "lower_testing.h"

namespace tilewright::lower {
namespace {

TEST(LowerBlocks, AxesBecomeTheirValuesAndConditionsBranches) {
  check_pass("lower_blocks", R"(
    @T.prim_func
    def main(A: T.Buffer((7,), "float32")):
        for i, j in T.grid(2, 4):
            with T.block("A"):
                vi = T.axis.spatial(7, i * 4 + j)
                T.where(i * 4 + j < 7)
                A[vi] = T.float32(1)
  )",
             R"(
    @T.prim_func
    def main(A: T.Buffer((7,), "float32")):
        for i, j in T.grid(2, 4):
            if i * 4 + j < 7:
                A[i * 4 + j] = T.float32(1)
  )");
}

TEST(LowerBlocks, BlocksInBlocksGo) {
  check_pass("lower_blocks", R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7), "float32")):
        for i in range(5):
            with T.block("rows"):
                vi = T.axis.spatial(5, i)
                for j in range(7):
                    with T.block("A"):
                        vj = T.axis.spatial(7, j)
                        A[vi, vj] = T.float32(1)
  )",
             R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7), "float32")):
        for i, j in T.grid(5, 7):
            A[i, j] = T.float32(1)
  )");
}

TEST(LowerBlocks, ProgramWithoutBlocksStays) {
  check_unchanged("lower_blocks", R"(
    @T.prim_func
    def main(A: T.Buffer((5,), "float32")):
        for i in range(5):
            A[i] = T.float32(1)
  )");
}

}  // namespace
}  // namespace tilewright::lower
