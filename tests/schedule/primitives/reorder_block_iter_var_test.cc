// reorder_block_iter_var: axes of a block in another order.
#include "primitive_programs.h"
#include "schedule_testing.h"

namespace tilewright::schedule {
namespace {

TEST(ReorderBlockIterVar, AxesChangePlaces) {
  check_schedule(kChain, [](Schedule& sch) { sch.call("reorder_block_iter_var", "B", ArgValue{1, 0}); }, R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7), "float32"), C: T.Buffer((5, 7), "float32")):
        B = T.alloc_buffer((5, 7))
        for i, j in T.grid(5, 7):
            with T.block("B"):
                vj, vi = T.axis.remap("SS", [j, i])
                B[vi, vj] = A[vi, vj] * T.float32(2)
        for i, j in T.grid(5, 7):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = B[vi, vj] + T.float32(1)
  )");
}

TEST(ReorderBlockIterVar, TheSameOrderChangesNothing) {
  const IRModule module = module_of(kChain);
  Schedule sch(module);
  sch.call("reorder_block_iter_var", "B", ArgValue{0, 1});
  EXPECT_EQ(sch.module(), module);
}

TEST(ReorderBlockIterVar, NoPermutationIsRefused) {
  check_refused(kChain, [](Schedule& sch) { sch.call("reorder_block_iter_var", "B", ArgValue{0, 0}); }, R"(
    error: reorder_block_iter_var: [0, 0] is no order of the 2 axes of block B
      f.py:5:14
       4 |     for i, j in T.grid(5, 7):
       5 |         with T.block("B"):
         |              ^^^^^^^^^^^^
       6 |             vi, vj = T.axis.remap("SS", [i, j])
  )");
}

}  // namespace
}  // namespace tilewright::schedule
