// cache_write: a block writes into a copy, which is written back.
#include "primitive_programs.h"
#include "schedule_testing.h"
#include "tilewright/tir/builder.h"

namespace tilewright::schedule {
namespace {

// D is computed in the loop that writes B, C behind it: the copy stands before both.
TEST(CacheWrite, EachReaderFindsTheCopyBeforeIt) {
  check_schedule(
      R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7), "float32"), C: T.Buffer((5, 7), "float32"), D: T.Buffer((5, 7), "float32")):
        B = T.alloc_buffer((5, 7))
        for i in range(5):
            for j in range(7):
                with T.block("B"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    B[vi, vj] = A[vi, vj] * T.float32(2)
            for j in range(7):
                with T.block("D"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    D[vi, vj] = B[vi, vj] + T.float32(1)
        for i, j in T.grid(5, 7):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = B[vi, vj]
  )",
      [](Schedule& sch) { sch.call("cache_write", "B", 0, "local"); }, R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7), "float32"), C: T.Buffer((5, 7), "float32"), D: T.Buffer((5, 7), "float32")):
        B = T.alloc_buffer((5, 7))
        B_local = T.alloc_buffer((5, 7), scope="local")
        for i in range(5):
            for j in range(7):
                with T.block("B"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    B_local[vi, vj] = A[vi, vj] * T.float32(2)
            for ax0, ax1 in T.grid(1, 7):
                with T.block("B_local"):
                    v0 = T.axis.spatial(5, i + ax0)
                    v1 = T.axis.spatial(7, ax1)
                    B[v0, v1] = B_local[v0, v1]
            for j in range(7):
                with T.block("D"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    D[vi, vj] = B[vi, vj] + T.float32(1)
        for i, j in T.grid(5, 7):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = B[vi, vj]
  )");
}

TEST(CacheWrite, CopyStandsBehindTheBlock) {
  check_schedule(kTwoSteps, [](Schedule& sch) { sch.call("cache_write", "C", 0, "local"); }, R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7), "float32"), C: T.Buffer((7, 5), "float32")):
        B = T.alloc_buffer((5, 7))
        C_local = T.alloc_buffer((7, 5), scope="local")
        for i, j in T.grid(5, 7):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] * T.float32(2)
        for i, j in T.grid(7, 5):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C_local[vi, vj] = B[vj, vi] + T.float32(1)
        for ax0, ax1 in T.grid(7, 5):
            with T.block("C"):
                v0, v1 = T.axis.remap("SS", [ax0, ax1])
                C[v0, v1] = C_local[v0, v1]
  )");
}

TEST(CacheWrite, BlocksThatRunOnlySometimesAreRefused) {
  check_refused(
      R"(
    @T.prim_func
    def main(A: T.Buffer((7,), "float32")):
        for i in range(7):
            with T.block("outer"):
                vi = T.axis.spatial(7, i)
                T.reads()
                T.writes(A[vi])
                with T.block("A"):
                    vj = T.axis.spatial(7, vi)
                    T.where(vi >= 4)
                    A[vj] = T.float32(1)
    )",
      [](Schedule& sch) { sch.call("cache_write", "A", 0, "local"); },
      "error: cache_write: block A may leave elements of A unwritten, which a copy would overwrite\n"
      "  f.py:8:18\n   7 |             T.writes(A[vi])\n   8 |             with T.block(\"A\"):\n     |      "
      "            ^^^^^^^^^^^^\n   9 |                 vj = T.axis.spatial(7, vi)");
}

// The rows are 9 elements apart, those of the copy would be 7.
TEST(CacheWrite, PointersIntoABufferWithStridesAreRefused) {
  constexpr std::string_view kByPointer = R"(
    @T.prim_func
    def main(a: T.handle):
        A = T.match_buffer(a, (5, 7), "float32", strides=(9, 1))
        for i in range(5):
            with T.block("A"):
                vi = T.axis.spatial(5, i)
                T.reads()
                T.writes(A[vi, 0:7])
                T.call_extern("int32", "fill", A.access_ptr("w", offset=vi * 9))
    )";
  check_refused(
      kByPointer, [](Schedule& sch) { sch.call("cache_write", "A", 0, "local"); },
      R"(
    error: cache_write: block A writes to A by a pointer, which cannot lead to a copy: the buffer has strides or an offset of its own
      f.py:5:14
       4 |     for i in range(5):
       5 |         with T.block("A"):
         |              ^^^^^^^^^^^^
       6 |             vi = T.axis.spatial(5, i)
  )");
  check_refused(
      kByPointer,
      [](Schedule& sch) { sch.call("write_at", sch.call("get_loops", "A").loops()[0], "A", 0, "local"); },
      R"(
    error: write_at: block A writes to A by a pointer, which cannot lead to a copy: the buffer has strides or an offset of its own
      f.py:5:14
       4 |     for i in range(5):
       5 |         with T.block("A"):
         |              ^^^^^^^^^^^^
       6 |             vi = T.axis.spatial(5, i)
  )");
}

// A condition between the loops counts as the block's own predicate does.
TEST(CacheWrite, BlocksInABranchAreRefused) {
  check_refused(
      kOnlyInTheFirstIteration, [](Schedule& sch) { sch.call("cache_write", "B", 0, "local"); },
      "error: cache_write: block B may leave elements of B unwritten, which a copy would overwrite\n"
      "  f.py:7:22\n   6 |             if i < 1:\n   7 |                 with T.block(\"B\"):\n     |        "
      "              ^^^^^^^^^^^^\n   8 |                     vj = T.axis.spatial(7, j)");
}

TEST(CacheWrite, TheCopyHasANameOfItsOwn) {
  Schedule sch(module_of(R"(
    @T.prim_func
    def main(A: T.Buffer((7,), "float32"), B: T.Buffer((7,), "float32")):
        for i in range(7):
            with T.block("B"):
                vi = T.axis.spatial(7, i)
                B[vi] = A[vi]
    )"));
  sch.call("cache_write", "B", 0, "local");
  sch.call("cache_write", "B", 0, "local");
  sch.call("cache_read", "B", 0, "local");
  for (const char* name : {"B", "B_local", "B_local_local", "A_local"}) sch.call("get_block", name);
}

// The sum goes on in the next iteration of k, the buffer of the block around it is gone by then.
TEST(CacheWrite, SumsThatLeaveTheirScopeAreRefused) {
  for (const char* primitive : {"cache_write", "reindex_cache_write", "write_at"}) {
    const std::string text =
        std::string("error: ") + primitive +
        ": block Y cannot write elsewhere: the sum of block Y does not start inside of "
        "block Y_o\n  f.py:4:14\n"
        "   3 |     for k, i in T.grid(7, 5):\n   4 |         with T.block(\"Y\"):\n"
        "     |              ^^^^^^^^^^^^\n   5 |             vi, vk = T.axis.remap(\"SR\", [i, k])";
    check_refused(
        kSumsOfOuterLoop,
        [&](Schedule& sch) {
          const LoopRef i = sch.call("get_loops", "Y").loops()[1];
          const BlockRef block = sch.call("get_block", "Y").block();
          if (std::string_view(primitive) == "write_at") {
            sch.call("split", i, Factors{None{}, int64_t{1}});
            sch.call("blockize", ArgValue::List{block});
            sch.call("add_unit_loop", block);
            sch.call("write_at", sch.call("get_loops", block).loops()[0], block, 0, "local");
          }
          sch.call("blockize", ArgValue::List{block});
          const Var a = make_var("a"), b = make_var("b");
          if (std::string_view(primitive) == "cache_write")
            sch.call("cache_write", block, 0, "local");
          else
            sch.call("reindex_cache_write", block, 0, "local",
                     IndexMapNode::make(std::vector<Var>{a, b}, std::vector<PrimExpr>{a}));
        },
        text);
  }
}

}  // namespace
}  // namespace tilewright::schedule
