// read_at: one iteration of a loop copies what it reads.
#include "primitive_programs.h"
#include "schedule_testing.h"

namespace tilewright::schedule {
namespace {

TEST(ReadAt, OneIterationCopiesWhatItReads) {
  check_schedule(
      kTiles,
      [](Schedule& sch) { sch.call("read_at", sch.call("get_loops", "C").loops()[0], "C", 0, "shared"); }, R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7), "float32"), C: T.Buffer((5, 7), "float32")):
        A_shared = T.alloc_buffer((5, 7), scope="shared")
        for i in range(5):
            with T.block("A_shared"):
                v0 = T.axis.spatial(5, i)
                T.reads(A[v0, 0:7])
                T.writes(A_shared[v0, 0:7])
                T.block_attr({"auto_copy": True})
                for ax0, ax1 in T.grid(1, 7):
                    A_shared[v0, ax1] = A[v0, ax1]
            for j in range(7):
                with T.block("C"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    C[vi, vj] = A_shared[vi, vj] + T.float32(1)
  )");
}

// The elements that are read are not known when they are copied.
TEST(ReadAt, ElementsThatABufferChoosesAreCopiedWithAllOthers) {
  check_schedule(
      R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7), "float32"), I: T.Buffer((5,), "int32"), C: T.Buffer((5, 7), "float32")):
        for i, j in T.grid(5, 7):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = A[I[vi] % 5, vj]
  )",
      [](Schedule& sch) { sch.call("read_at", sch.call("get_loops", "C").loops()[1], "C", "A", "local"); },
      R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7), "float32"), I: T.Buffer((5,), "int32"), C: T.Buffer((5, 7), "float32")):
        A_local = T.alloc_buffer((5, 7), scope="local")
        for i, j in T.grid(5, 7):
            with T.block("A_local"):
                v0 = T.axis.spatial(7, j)
                T.reads(A[0:5, v0])
                T.writes(A_local[0:5, v0])
                T.block_attr({"auto_copy": True})
                for ax0, ax1 in T.grid(5, 1):
                    A_local[ax0, v0] = A[ax0, v0]
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = A_local[I[vi] % 5, vj]
  )");
}

TEST(ReadAt, UnevenTilesStayInsideOfTheBuffer) {
  check_schedule(kTiles, [](Schedule& sch) {
    const auto [i0, i1] =
        sch.call("split", sch.call("get_loops", "C").loops()[0], Factors{None{}, int64_t{2}}).loops<2>();
    sch.call("read_at", i0, "C", 0, "shared");
    sch.call("write_at", i0, "C", 0, "local");
  });
}

// Where the block does not run, the copy would bring back what nobody wrote.
TEST(ReadAt, WritersInsideAreRefused) {
  check_refused(
      kTwice,
      [](Schedule& sch) { sch.call("read_at", sch.call("get_loops", "C").loops()[0], "C", 0, "shared"); }, R"(
    error: read_at: block B writes B inside of loop i
      f.py:4:14
       3 |     for i in range(5):
       4 |         with T.block("B"):
         |              ^^^^^^^^^^^^
       5 |             vi = T.axis.spatial(5, i)
  )");
  check_refused(
      kTwice,
      [](Schedule& sch) { sch.call("write_at", sch.call("get_loops", "B").loops()[0], "B", 0, "shared"); },
      R"(
    error: write_at: block C reads B, which block B writes, not after loop i
      f.py:7:14
       6 |             B[vi] = A[vi] + A[vi + 2]
       7 |         with T.block("C"):
         |              ^^^^^^^^^^^^
       8 |             vi = T.axis.spatial(5, i)
  )");
  check_refused(
      R"(
    @T.prim_func
    def main(A: T.Buffer((7,), "float32"), B: T.Buffer((7,), "float32")):
        for i in range(7):
            with T.block("A"):
                vi = T.axis.spatial(7, i)
                A[vi] = T.float32(1)
        for i in range(7):
            with T.block("B"):
                vi = T.axis.spatial(7, i)
                B[vi] = T.float32(1)
  )",
      [](Schedule& sch) { sch.call("write_at", sch.call("get_loops", "A").loops()[0], "B", 0, "shared"); },
      R"(
    error: write_at: block B is not inside loop i
      f.py:3:5
       2 | def main(A: T.Buffer((7,), "float32"), B: T.Buffer((7,), "float32")):
       3 |     for i in range(7):
         |     ^^^^^^^^^^^^^^^^^^
       4 |         with T.block("A"):
    help: write_at(loop i around block B, block B) would be legal
  )");
}

}  // namespace
}  // namespace tilewright::schedule
