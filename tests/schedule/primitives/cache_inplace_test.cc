// cache_inplace: a block that changes a buffer works on a copy.
#include "primitive_programs.h"
#include "schedule_testing.h"

namespace tilewright::schedule {
namespace {

TEST(CacheInplace, TheBlockWorksOnACopy) {
  check_schedule(
      kInPlace,
      [](Schedule& sch) { EXPECT_EQ(sch.call("cache_inplace", "A", 0, "local").blocks().size(), 2U); }, R"(
    @T.prim_func
    def main(A: T.Buffer((7, 5), "float32")):
        A_local = T.alloc_buffer((7, 5), scope="local")
        for i, j in T.grid(7, 5):
            for ax0, ax1 in T.grid(1, 1):
                with T.block("A_local"):
                    v0 = T.axis.spatial(7, i + ax0)
                    v1 = T.axis.spatial(5, j + ax1)
                    A_local[v0, v1] = A[v0, v1]
            with T.block("A"):
                vi, vj = T.axis.remap("SS", [i, j])
                A_local[vi, vj] = A_local[vi, vj] * T.float32(2)
            for ax0, ax1 in T.grid(1, 1):
                with T.block("A_local"):
                    v0 = T.axis.spatial(7, i + ax0)
                    v1 = T.axis.spatial(5, j + ax1)
                    A[v0, v1] = A_local[v0, v1]
  )");
}

TEST(CacheInplace, WhatIsOnlyReadIsRefused) {
  check_refused(kTransposed, [](Schedule& sch) { sch.call("cache_inplace", "B", 0, "local"); }, R"(
    error: cache_inplace: block B reads A, but does not write it
      f.py:4:14
       3 |     for i, j in T.grid(5, 7):
       4 |         with T.block("B"):
         |              ^^^^^^^^^^^^
       5 |             vi, vj = T.axis.remap("SS", [i, j])
    help: cache_read makes a copy of what is only read
  )");
}

}  // namespace
}  // namespace tilewright::schedule
