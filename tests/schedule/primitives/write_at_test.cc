// write_at: one iteration of a loop copies what it has written.
#include "primitive_programs.h"
#include "schedule_testing.h"

namespace tilewright::schedule {
namespace {

TEST(WriteAt, OneIterationCopiesWhatItHasWritten) {
  check_schedule(
      kTiles,
      [](Schedule& sch) { sch.call("write_at", sch.call("get_loops", "C").loops()[0], "C", 0, "local"); }, R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7), "float32"), C: T.Buffer((5, 7), "float32")):
        C_local = T.alloc_buffer((5, 7), scope="local")
        for i in range(5):
            for j in range(7):
                with T.block("C"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    C_local[vi, vj] = A[vi, vj] + T.float32(1)
            with T.block("C_local"):
                v0 = T.axis.spatial(5, i)
                T.reads(C_local[v0, 0:7])
                T.writes(C[v0, 0:7])
                T.block_attr({"auto_copy": True})
                for ax0, ax1 in T.grid(1, 7):
                    C[v0, ax1] = C_local[v0, ax1]
  )");
}

TEST(WriteAt, NothingIsBroughtBackWhereTheBlockDoesNotRun) {
  check_schedule(
      R"(
    @T.prim_func
    def main(A: T.Buffer((7,), "float32"), C: T.Buffer((7,), "float32")):
        for i, j in T.grid(7, 1):
            with T.block("C"):
                vi = T.axis.spatial(7, i)
                T.where(i < 5)
                C[vi] = A[vi] + T.float32(1)
  )",
      [](Schedule& sch) { sch.call("write_at", sch.call("get_loops", "C").loops()[1], "C", 0, "local"); });
}

TEST(WriteAt, BlocksThatGoOnWithWhatIsThereAreRefused) {
  check_refused(
      kInPlace,
      [](Schedule& sch) { sch.call("write_at", sch.call("get_loops", "A").loops()[0], "A", 0, "local"); }, R"(
    error: write_at: block A reads A, which it also writes
      f.py:4:14
       3 |     for i, j in T.grid(7, 5):
       4 |         with T.block("A"):
         |              ^^^^^^^^^^^^
       5 |             vi, vj = T.axis.remap("SS", [i, j])
  )");
}

}  // namespace
}  // namespace tilewright::schedule
