// Inits of reductions run at their start.
#include "lower_testing.h"

namespace tilewright::lower {
namespace {

TEST(LowerInit, ItRunsWhereAllReduceAxesAreAtTheirStart) {
  check_pass("lower_init", R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7, 3), "float32"), B: T.Buffer((5,), "float32")):
        for i, j, k in T.grid(5, 7, 3):
            with T.block("B"):
                vi, vj, vk = T.axis.remap("SRR", [i, j, k])
                T.reads(B[vi], A[vi, vj, vk])
                T.writes(B[vi])
                with T.init():
                    B[vi] = T.float32(0)
                B[vi] = B[vi] + A[vi, vj, vk]
  )",
             R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7, 3), "float32"), B: T.Buffer((5,), "float32")):
        for i, j, k in T.grid(5, 7, 3):
            with T.block("B"):
                vi, vj, vk = T.axis.remap("SRR", [i, j, k])
                T.reads(B[vi], A[vi, vj, vk])
                T.writes(B[vi])
                if vj == 0 and vk == 0:
                    B[vi] = T.float32(0)
                B[vi] = B[vi] + A[vi, vj, vk]
  )");
}

TEST(LowerInit, BlockWithoutInitStays) {
  check_unchanged("lower_init", R"(
    @T.prim_func
    def main(A: T.Buffer((5,), "float32")):
        for i in range(5):
            with T.block("A"):
                vi = T.axis.spatial(5, i)
                A[vi] = T.float32(1)
  )");
}

}  // namespace
}  // namespace tilewright::lower
