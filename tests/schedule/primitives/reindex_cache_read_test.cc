// reindex_cache_read: a copy of what a block reads, in the places that a map says.
#include "primitive_programs.h"
#include "schedule_testing.h"

namespace tilewright::schedule {
namespace {

TEST(ReindexCacheRead, TheMapSaysWhereAnElementIs) {
  check_schedule(
      kTransposed, [](Schedule& sch) { sch.call("reindex_cache_read", "B", 0, "shared", swap()); }, R"(
    @T.prim_func
    def main(A: T.Buffer((7, 5), "float32"), B: T.Buffer((5, 7), "float32")):
        A_shared = T.alloc_buffer((7, 5), scope="shared")
        for ax0, ax1 in T.grid(5, 7):
            with T.block("A_shared"):
                v0, v1 = T.axis.remap("SS", [ax0, ax1])
                A_shared[v1, v0] = A[v1, v0]
        for i, j in T.grid(5, 7):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A_shared[vj, vi] * T.float32(2)
  )");
}

TEST(ReindexCacheRead, MapsOfInt32FitAxesOfInt64) {
  check_schedule(
      R"(
    @T.prim_func
    def main(A: T.Buffer((T.int64(7), T.int64(5)), "float32"), B: T.Buffer((T.int64(5), T.int64(7)), "float32")):
        for i, j in T.grid(T.int64(5), T.int64(7)):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vj, vi] * T.float32(2)
)",
      [](Schedule& sch) { sch.call("reindex_cache_read", "B", 0, "shared", swap()); }, R"(
    @T.prim_func
    def main(A: T.Buffer((T.int64(7), T.int64(5)), "float32"), B: T.Buffer((T.int64(5), T.int64(7)), "float32")):
        A_shared = T.alloc_buffer((T.int64(7), T.int64(5)), scope="shared")
        for ax0, ax1 in T.grid(T.int64(5), T.int64(7)):
            with T.block("A_shared"):
                v0, v1 = T.axis.remap("SS", [ax0, ax1])
                A_shared[v1, v0] = A[v1, v0]
        for i, j in T.grid(T.int64(5), T.int64(7)):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A_shared[vj, vi] * T.float32(2)
  )");
}

}  // namespace
}  // namespace tilewright::schedule
