// set_scope: where a buffer lies.
#include "primitive_programs.h"
#include "schedule_testing.h"

namespace tilewright::schedule {
namespace {

TEST(SetScope, BuffersOfStatementsAreRefused) {
  constexpr std::string_view program = R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7), "float32"), C: T.Buffer((5, 7), "float32")):
        for i in range(5):
            B = T.decl_buffer((7,), "float32")
            for j in range(7):
                with T.block("B"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    B[vj] = A[vi, vj]
            for j in range(7):
                with T.block("C"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    C[vi, vj] = B[vj]
  )";
  const std::string text =
      ": buffer B is allocated by a statement, not by a block\n"
      "  f.py:6:18\n   5 |         for j in range(7):\n   6 |             with T.block(\"B\"):\n     |       "
      "           ^^^^^^^^^^^^\n   7 |                 vi, vj = T.axis.remap(\"SS\", [i, j])";
  check_refused(
      program, [](Schedule& sch) { sch.call("set_scope", "B", 0, "local"); }, "error: set_scope" + text);
  check_refused(
      program, [](Schedule& sch) { sch.call("storage_align", "B", 0, 0, 4, 0); },
      "error: storage_align" + text);
  check_refused(
      program, [](Schedule& sch) { sch.call("unsafe_set_dtype", "B", 0, "float16"); },
      "error: unsafe_set_dtype" + text);
}

TEST(SetScope, IntermediateBuffer) {
  check_schedule(kTwoSteps, [&](Schedule& sch) { sch.call("set_scope", "B", 0, "shared"); }, R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7), "float32"), C: T.Buffer((7, 5), "float32")):
        B = T.alloc_buffer((5, 7), scope="shared")
        for i, j in T.grid(5, 7):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] * T.float32(2)
        for i, j in T.grid(7, 5):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = B[vj, vi] + T.float32(1)
  )");
}

}  // namespace
}  // namespace tilewright::schedule
