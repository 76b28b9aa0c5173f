// set_axis_separator: dimensions of a buffer in groups.
#include "primitive_programs.h"
#include "schedule_testing.h"

namespace tilewright::schedule {
namespace {

TEST(SetAxisSeparator, StandsInTheBuffer) {
  check_schedule(
      R"(
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
                C[vi, vj] = B[vi, vj]
  )",
      [](Schedule& sch) { sch.call("set_axis_separator", "B", "B", ArgValue::List{1}); }, R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7), "float32"), C: T.Buffer((5, 7), "float32")):
        B = T.alloc_buffer((5, 7), axis_separators=[1])
        for i, j in T.grid(5, 7):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] * T.float32(2)
        for i, j in T.grid(5, 7):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = B[vi, vj]
  )");
}

TEST(SetAxisSeparator, NumbersOutOfOrderAreRefused) {
  check_refused(
      kRowChain, [](Schedule& sch) { sch.call("set_axis_separator", "B", "B", ArgValue{1, 0}); }, R"(
    error: set_axis_separator: axis separators [1, 0] are no rising list of numbers from 0 to 1
      f.py:5:14
       4 |     for i in range(7):
       5 |         with T.block("B"):
         |              ^^^^^^^^^^^^
       6 |             vi = T.axis.spatial(7, i)
  )");
  const IRModule module = module_of(kRowChain);
  Schedule sch(module);
  sch.call("set_axis_separator", "B", "B", ArgValue(ArgValue::List{}));
  EXPECT_EQ(sch.module(), module);
}

}  // namespace
}  // namespace tilewright::schedule
