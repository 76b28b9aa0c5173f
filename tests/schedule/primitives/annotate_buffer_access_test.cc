// annotate_buffer_access: the region that a block accesses is the user's.
#include "primitive_programs.h"
#include "schedule_testing.h"
#include "tilewright/tir/builder.h"

namespace tilewright::schedule {
namespace {

IndexMap window(int64_t width) {
  const Var i = make_var("i");
  return IndexMapNode::make(std::vector<Var>{i}, std::vector<PrimExpr>{i, PrimExpr(i) + width});
}

TEST(AnnotateBufferAccess, TheRegionIsTheUsers) {
  check_schedule(
      kStencil, [](Schedule& sch) { sch.call("annotate_buffer_access", "B", 0, "read", window(3)); }, R"(
    @T.prim_func
    def main(A: T.Buffer((7,), "float32"), B: T.Buffer((5,), "float32")):
        for i in range(5):
            with T.block("B"):
                vi = T.axis.spatial(5, i)
                T.reads(A[vi:vi + 3])
                T.writes(B[vi])
                T.block_attr({"explicit_read_region": [0]})
                B[vi] = A[vi] + A[vi + 2]
  )");
}

TEST(AnnotateBufferAccess, BadRegionsAreRefused) {
  const std::string place =
      "\n  f.py:4:14\n   3 |     for i in range(5):\n   4 |         with T.block(\"B\"):\n     |             "
      " ^^^^^^^^^^^^\n   5 |             vi = T.axis.spatial(5, i)";
  const Var i = make_var("i"), j = make_var("j");
  const IndexMap two = IndexMapNode::make(std::vector<Var>{i, j}, std::vector<PrimExpr>{i, j});
  const IndexMap point = IndexMapNode::make(std::vector<Var>{i}, std::vector<PrimExpr>{i, i, i});
  check_refused(
      kStencil, [&](Schedule& sch) { sch.call("annotate_buffer_access", "B", 0, "reads", window(3)); },
      "error: annotate_buffer_access: a buffer is in list \"read\" or \"write\", not \"reads\"" + place);
  check_refused(
      kStencil, [&](Schedule& sch) { sch.call("annotate_buffer_access", "B", 0, "read", two); },
      "error: annotate_buffer_access: the map takes 2 indices, but block B has 1 axes" + place);
  check_refused(
      kStencil, [&](Schedule& sch) { sch.call("annotate_buffer_access", "B", 0, "read", point); },
      "error: annotate_buffer_access: the map gives 3 numbers instead of begin and end of 1 dimension" +
          place);
  check_refused(
      kStencil, [&](Schedule& sch) { sch.call("annotate_buffer_access", "B", 0, "read", window(2)); },
      "error: annotate_buffer_access: block B accesses A outside of A[vi:vi + 2]: index vi + 2 is 2 where "
      "that begins at 0" +
          place);
}

}  // namespace
}  // namespace tilewright::schedule
