// cache_read: a copy stands before the block that reads it.
#include "primitive_programs.h"
#include "schedule_testing.h"

namespace tilewright::schedule {
namespace {

TEST(CacheRead, CopyStandsBeforeTheConsumer) {
  check_schedule(kTwoSteps, [](Schedule& sch) { sch.call("cache_read", "C", 0, "local"); }, R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7), "float32"), C: T.Buffer((7, 5), "float32")):
        B = T.alloc_buffer((5, 7))
        B_local = T.alloc_buffer((5, 7), scope="local")
        for i, j in T.grid(5, 7):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] * T.float32(2)
        for ax0, ax1 in T.grid(5, 7):
            with T.block("B_local"):
                v0, v1 = T.axis.remap("SS", [ax0, ax1])
                B_local[v0, v1] = B[v0, v1]
        for i, j in T.grid(7, 5):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = B_local[vj, vi] + T.float32(1)
  )");
}

TEST(CacheRead, CopyBeforeTheWriterIsRefused) {
  check_refused(
      R"(
    @T.prim_func
    def main(A: T.Buffer((7,), "float32"), C: T.Buffer((7,), "float32"), D: T.Buffer((7,), "float32")):
        B = T.alloc_buffer((7,))
        for i in range(7):
            with T.block("B"):
                vi = T.axis.spatial(7, i)
                B[vi] = A[vi] * T.float32(2)
            with T.block("C"):
                vi = T.axis.spatial(7, i)
                C[vi] = B[vi] + T.float32(1)
        for i in range(7):
            with T.block("D"):
                vi = T.axis.spatial(7, i)
                D[vi] = B[vi] + T.float32(2)
  )",
      [](Schedule& sch) { sch.call("cache_read", "C", 0, "local"); }, R"(
    error: cache_read: block B writes B inside of loop i, before which the copy would be made
      f.py:5:14
       4 |     for i in range(7):
       5 |         with T.block("B"):
         |              ^^^^^^^^^^^^
       6 |             vi = T.axis.spatial(7, i)
    help: name the consumers inside of that loop as consumer_blocks
  )");
}

}  // namespace
}  // namespace tilewright::schedule
