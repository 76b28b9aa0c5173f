// reindex_cache_write: a copy of what a block writes, in the places that a map says.
#include "primitive_programs.h"
#include "schedule_testing.h"
#include "tilewright/tir/builder.h"

namespace tilewright::schedule {
namespace {

TEST(ReindexCacheWrite, TheResultIsCopiedFromThere) {
  check_schedule(
      kTransposed, [](Schedule& sch) { sch.call("reindex_cache_write", "B", "B", "local", swap()); }, R"(
    @T.prim_func
    def main(A: T.Buffer((7, 5), "float32"), B: T.Buffer((5, 7), "float32")):
        B_local = T.alloc_buffer((7, 5), scope="local")
        for i, j in T.grid(5, 7):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B_local[vj, vi] = A[vj, vi] * T.float32(2)
        for ax0, ax1 in T.grid(5, 7):
            with T.block("B_local"):
                v0, v1 = T.axis.remap("SS", [ax0, ax1])
                B[v0, v1] = B_local[v1, v0]
  )");
}

TEST(ReindexCacheWrite, MapsThatLosePlacesAreRefused) {
  const Var i = make_var("i"), j = make_var("j");
  const IndexMap sum =
      IndexMapNode::make(std::vector<Var>{i, j}, std::vector<PrimExpr>{floordiv(PrimExpr(i), 2), j});
  const IndexMap short_map = IndexMapNode::make(std::vector<Var>{i}, std::vector<PrimExpr>{i});
  check_refused(
      kTransposed, [&](Schedule& sch) { sch.call("reindex_cache_write", "B", 0, "local", short_map); }, R"(
    error: reindex_cache_write: the map takes 1 indices, but block B has 2 axes
      f.py:4:14
       3 |     for i, j in T.grid(5, 7):
       4 |         with T.block("B"):
         |              ^^^^^^^^^^^^
       5 |             vi, vj = T.axis.remap("SS", [i, j])
  )");
  Schedule sch(module_of(kTransposed));
  try {
    sch.call("reindex_cache_write", "B", 0, "local", sum);
    FAIL();
  } catch (const UserError& error) {
    EXPECT_EQ(error.text(),
              "reindex_cache_write: the map puts two elements of B in one place: [0, 0] and [1, 0] both go "
              "to [0, 0]");
  }
}

}  // namespace
}  // namespace tilewright::schedule
