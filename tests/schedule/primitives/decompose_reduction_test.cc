// decompose_reduction: the init of a reduction is a block of its own.
#include "primitive_programs.h"
#include "schedule_testing.h"

namespace tilewright::schedule {
namespace {

TEST(DecomposeReduction, InitGoesBeforeTheReducingLoop) {
  check_schedule(
      kMmRelu,
      [](Schedule& sch) {
        const auto [i, j, k] = sch.call("get_loops", "Y").loops<3>();
        const auto [j0, j1] = sch.call("split", j, by(4)).loops<2>();
        sch.call("reorder", j0, k, j1);
        sch.call("decompose_reduction", "Y", k);
      },
      R"(
    @T.prim_func
    def main(A: T.Buffer((8, 7), "float32"), B: T.Buffer((7, 12), "float32"), C: T.Buffer((8, 12), "float32")):
        Y = T.alloc_buffer((8, 12))
        for i, j_0 in T.grid(8, 3):
            for j_1_init in range(4):
                with T.block("Y_init"):
                    vi = T.axis.spatial(8, i)
                    vj = T.axis.spatial(12, j_0 * 4 + j_1_init)
                    Y[vi, vj] = T.float32(0)
            for k, j_1 in T.grid(7, 4):
                with T.block("Y_update"):
                    vi = T.axis.spatial(8, i)
                    vj = T.axis.spatial(12, j_0 * 4 + j_1)
                    vk = T.axis.reduce(7, k)
                    Y[vi, vj] = Y[vi, vj] + A[vi, vk] * B[vk, vj]
        for i, j in T.grid(8, 12):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = T.max(Y[vi, vj], T.float32(0))
  )");
}

TEST(DecomposeReduction, LoopInsideTheReductionIsRefused) {
  check_refused(
      kMmRelu,
      [](Schedule& sch) {
        const auto [i, j, k] = sch.call("get_loops", "Y").loops<3>();
        const auto [k0, k1] = sch.call("split", k, by(7)).loops<2>();
        sch.call("decompose_reduction", "Y", k1);
      },
      R"(
    error: decompose_reduction: loop k_0 reduces in block Y, but is outside of loop k_1
      <main as scheduled>:5:15
       4 |     Y = T.alloc_buffer((8, 12))
       5 |     for i, j, k_0, k_1 in T.grid(8, 12, 1, 7):
         |               ^^^
       6 |         with T.block("Y"):
    note: k_0 was made from this line
       4 |     for i, j, k in T.grid(8, 12, 7):
         |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
    help: choose loop k_0 or one outside of it, or reorder the loops
  )");
}

TEST(DecomposeReduction, LoopOverElementsAndTermsIsRefused) {
  check_refused(
      kMmRelu,
      [](Schedule& sch) {
        const auto [i, j, k] = sch.call("get_loops", "Y").loops<3>();
        sch.call("decompose_reduction", "Y", sch.call("fuse", j, k).loop());
      },
      R"(
    error: decompose_reduction: reduce axis vk of block Y does not start at 0 when its loops start
      f.py:5:14
       4 |     for i, j, k in T.grid(8, 12, 7):
       5 |         with T.block("Y"):
         |              ^^^^^^^^^^^^
       6 |             vi, vj, vk = T.axis.remap("SSR", [i, j, k])
  )");
}

}  // namespace
}  // namespace tilewright::schedule
