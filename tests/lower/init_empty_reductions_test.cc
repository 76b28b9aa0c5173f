// Reductions over nothing have their init where it runs.
#include "lower_testing.h"

namespace tilewright::lower {
namespace {

TEST(InitEmptyReductions, ExtentThatMayBeZeroGetsAnInitBeforeTheLoop) {
  check_numbers("init_empty_reductions", R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7), "float32"), B: T.Buffer((5,), "float32"), n: T.int32):
        for i, k in T.grid(5, n):
            with T.block("B"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    B[vi] = T.float32(0)
                B[vi] = B[vi] + A[vi, vk]
  )");
}

TEST(InitEmptyReductions, ConstantExtentsStay) {
  check_unchanged("init_empty_reductions", R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7), "float32"), B: T.Buffer((5,), "float32")):
        for i, k in T.grid(5, 7):
            with T.block("B"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    B[vi] = T.float32(0)
                B[vi] = B[vi] + A[vi, vk]
  )");
}

}  // namespace
}  // namespace tilewright::lower
