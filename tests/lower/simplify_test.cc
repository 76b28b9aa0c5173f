// Expressions are simple under the ranges of loops.
#include "lower_testing.h"

namespace tilewright::lower {
namespace {

TEST(Simplify, RangesDecideConditionsAndDivisions) {
  check_pass("simplify", R"(
    @T.prim_func
    def main(A: T.Buffer((35,), "float32")):
        for i, j in T.grid(5, 7):
            if i * 7 + j < 35:
                A[(i * 7 + j) // 7 * 7 + j] = T.float32(1)
  )",
             R"(
    @T.prim_func
    def main(A: T.Buffer((35,), "float32")):
        for i, j in T.grid(5, 7):
            A[i * 7 + j] = T.float32(1)
  )");
}

TEST(Simplify, SimpleProgramStays) {
  check_unchanged("simplify", R"(
    @T.prim_func
    def main(A: T.Buffer((35,), "float32")):
        for i, j in T.grid(5, 7):
            A[i * 7 + j] = T.float32(1)
  )");
}

}  // namespace
}  // namespace tilewright::lower
