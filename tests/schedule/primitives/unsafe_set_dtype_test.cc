// unsafe_set_dtype: values are rounded where they are stored.
#include "primitive_programs.h"
#include "schedule_testing.h"

namespace tilewright::schedule {
namespace {

TEST(UnsafeSetDtype, ValuesAreRoundedWhereTheyAreStored) {
  check_schedule(kChain, [](Schedule& sch) { sch.call("unsafe_set_dtype", "B", 0, "float16"); }, R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7), "float32"), C: T.Buffer((5, 7), "float32")):
        B = T.alloc_buffer((5, 7), "float16")
        for i, j in T.grid(5, 7):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = T.Cast("float16", A[vi, vj] * T.float32(2))
        for i, j in T.grid(5, 7):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = T.Cast("float32", B[vi, vj]) + T.float32(1)
  )");
}

TEST(UnsafeSetDtype, TheSameTypeChangesNothing) {
  const IRModule module = module_of(kChain);
  Schedule sch(module);
  sch.call("unsafe_set_dtype", "B", "B", "float32");
  EXPECT_EQ(sch.module(), module);
}

TEST(UnsafeSetDtype, ParametersAndVectorsAreRefused) {
  check_refused(kChain, [](Schedule& sch) { sch.call("unsafe_set_dtype", "C", 0, "float16"); }, R"(
    error: unsafe_set_dtype: buffer C is a parameter of the function
      f.py:9:14
       8 |     for i, j in T.grid(5, 7):
       9 |         with T.block("C"):
         |              ^^^^^^^^^^^^
      10 |             vi, vj = T.axis.remap("SS", [i, j])
  )");
  check_refused(kChain, [](Schedule& sch) { sch.call("unsafe_set_dtype", "B", 0, "float32x4"); }, R"(
    error: unsafe_set_dtype: a buffer cannot hold elements of type float32x4
      f.py:5:14
       4 |     for i, j in T.grid(5, 7):
       5 |         with T.block("B"):
         |              ^^^^^^^^^^^^
       6 |             vi, vj = T.axis.remap("SS", [i, j])
  )");
}

}  // namespace
}  // namespace tilewright::schedule
