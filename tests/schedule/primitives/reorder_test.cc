// reorder: loops in another order; what depends on the order is refused.
#include "primitive_programs.h"
#include "schedule_testing.h"

namespace tilewright::schedule {
namespace {

TEST(Reorder, ReductionMovesOut) {
  check_schedule(
      kMatmul,
      [](Schedule& sch) {
        const auto [i, j, k] = sch.call("get_loops", "Y").loops<3>();
        sch.call("reorder", k, i);
      },
      R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7), "float32"), B: T.Buffer((7, 3), "float32"), Y: T.Buffer((5, 3), "float32")):
        for k, j, i in T.grid(7, 3, 5):
            with T.block("Y"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    Y[vi, vj] = T.float32(0)
                Y[vi, vj] = Y[vi, vj] + A[vi, vk] * B[vk, vj]
  )");
}

TEST(Reorder, LoopCarriedDependenceIsRefused) {
  check_refused(
      kWavefront,
      [](Schedule& sch) {
        const auto [i, j] = sch.call("get_loops", "B").loops<2>();
        sch.call("reorder", j, i);
      },
      R"(
    error: reorder: the order of the iterations counts: block B writes B[vi + 1, vj], which block B reads in another iteration of loop i
      f.py:4:14
       3 |     for i, j in T.grid(6, 7):
       4 |         with T.block("B"):
         |              ^^^^^^^^^^^^
       5 |             vi, vj = T.axis.remap("SS", [i, j])
    note: block B at i=1, j=0 reads B[1, 1], written by block B at i=0, j=1
  )");
}

// One loop runs over elements and terms: split and reordered, it would begin in the middle of a sum.
TEST(Reorder, SumThatWouldNotBeginWithItsInitIsRefused) {
  check_refused(
      kMatmul,
      [](Schedule& sch) {
        const auto [i, j, k] = sch.call("get_loops", "Y").loops<3>();
        const LoopRef f = sch.call("fuse", j, k).loop();
        const auto [f0, f1] = sch.call("split", f, factors({std::nullopt, 3})).loops<2>();
        sch.call("reorder", f1, f0);
      },
      R"(
    error: reorder: the order of the iterations counts: block Y writes Y[vi, vj] in several iterations of loop j_k_fused_0
      f.py:4:14
       3 |     for i, j, k in T.grid(5, 3, 7):
       4 |         with T.block("Y"):
         |              ^^^^^^^^^^^^
       5 |             vi, vj, vk = T.axis.remap("SSR", [i, j, k])
    note: block Y at j_k_fused_0=0, j_k_fused_1=1 writes Y[0, 0], written by block Y at j_k_fused_0=1, j_k_fused_1=0
  )");
}

// Y_local is used by loop i alone: run in parallel, each iteration has its own, which is new in each
// iteration of k.
constexpr std::string_view kSumInside = R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7), "float32"), Y: T.Buffer((5,), "float32")):
        Y_local = T.alloc_buffer((5,))
        for i, k in T.grid(5, 7):
            with T.block("Y_local"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    Y_local[vi] = T.float32(0)
                Y_local[vi] = Y_local[vi] + A[vi, vk]
            with T.block("Y"):
                vi = T.axis.spatial(5, i)
                vk = T.axis.opaque(7, k)
                Y[vi] = Y_local[vi]
)";

TEST(Reorder, ParallelLoopsKeepWhatOnlyTheyUse) {
  check_refused(
      kSumInside,
      [](Schedule& sch) {
        const auto [i, k] = sch.call("get_loops", "Y").loops<2>();
        sch.call("parallel", i);
        sch.call("reorder", k, i);
      },
      R"(
    error: reorder: the iterations of loop i could not run at once any more: block Y_local writes Y_local[vi] in several iterations of loop k
      f.py:4:5
       3 |     Y_local = T.alloc_buffer((5,))
       4 |     for i, k in T.grid(5, 7):
         |     ^^^^^^^^^^^^^^^^^^^^^^^^^
       5 |         with T.block("Y_local"):
    note: only loop i uses Y_local, so that each of its iterations has one of its own, each time
  )");
  check_refused(
      kSumInside,
      [](Schedule& sch) {
        const auto [i, k] = sch.call("get_loops", "Y").loops<2>();
        sch.call("reorder", k, i);
        sch.call("parallel", i);
      },
      R"(
    error: parallel: loop i cannot be parallel: block Y_local writes Y_local[vi] in several iterations of loop k
      f.py:4:5
       3 |     Y_local = T.alloc_buffer((5,))
       4 |     for i, k in T.grid(5, 7):
         |     ^^^^^^^^^^^^^^^^^^^^^^^^^
       5 |         with T.block("Y_local"):
    note: only loop i uses Y_local, so that each of its iterations has one of its own, each time
  )");
}

}  // namespace
}  // namespace tilewright::schedule
