// cache_index: each index of a block is computed once.
#include "primitive_programs.h"
#include "schedule_testing.h"

namespace tilewright::schedule {
namespace {

constexpr std::string_view kResize = R"(
    @T.prim_func
    def main(A: T.Buffer((4, 5), "float32"), B: T.Buffer((7, 5), "float32")):
        for i, j in T.grid(7, 5):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi * 4 // 7, vj] + A[vi * 4 // 7, 4 - vj]
)";

TEST(CacheIndex, EachIndexIsComputedOnce) {
  check_schedule(
      kResize,
      [](Schedule& sch) { EXPECT_EQ(sch.call("cache_index", "B", "global", 1).blocks().size(), 1U); }, R"(
    @T.prim_func
    def main(A: T.Buffer((4, 5), "float32"), B: T.Buffer((7, 5), "float32")):
        index_var_0 = T.alloc_buffer((7,), "int32")
        for ax0 in range(7):
            with T.block("index_0"):
                v0 = T.axis.spatial(7, ax0)
                index_var_0[v0] = v0 * 4 // 7
        for i, j in T.grid(7, 5):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[index_var_0[vi], vj] + A[index_var_0[vi], 4 - vj]
  )");
  check_schedule(
      kResize, [](Schedule& sch) { EXPECT_EQ(sch.call("cache_index", "B", "global").blocks().size(), 2U); });
}

TEST(CacheIndex, PlainIndicesStay) {
  const IRModule module = module_of(kInPlace);
  Schedule sch(module);
  EXPECT_TRUE(sch.call("cache_index", "A", "global").blocks().empty());
  EXPECT_EQ(sch.module(), module);
}

}  // namespace
}  // namespace tilewright::schedule
