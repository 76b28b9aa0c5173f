// Copies of buffers other than cache_read and cache_write: reindexed, in place, of indices, tile by tile.
#include "schedule_testing.h"
#include "tilewright/tir/builder.h"

namespace tilewright::schedule {
namespace {

IndexMap swap() {
  const Var i = make_var("i"), j = make_var("j");
  return IndexMapNode::make(std::vector<Var>{i, j}, std::vector<PrimExpr>{j, i});
}

constexpr std::string_view kTransposed = R"(
    @T.prim_func
    def main(A: T.Buffer((7, 5), "float32"), B: T.Buffer((5, 7), "float32")):
        for i, j in T.grid(5, 7):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vj, vi] * T.float32(2)
)";

TEST(Reindex, TheReadBufferIsLaidOutByTheAxes) {
  check_schedule(kTransposed, [](Schedule& sch) { sch.call("reindex", "B", ArgValue{"read", 0}); }, R"(
    @T.prim_func
    def main(A: T.Buffer((7, 5), "float32"), B: T.Buffer((5, 7), "float32")):
        A_reindex = T.alloc_buffer((5, 7))
        for ax0, ax1 in T.grid(5, 7):
            with T.block("A_reindex"):
                v0, v1 = T.axis.remap("SS", [ax0, ax1])
                A_reindex[v0, v1] = A[v1, v0]
        for i, j in T.grid(5, 7):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A_reindex[vi, vj] * T.float32(2)
  )");
}

constexpr std::string_view kMatmul = R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7), "float32"), B: T.Buffer((3, 7), "float32"), Y: T.Buffer((3, 5), "float32")):
        for i, j, k in T.grid(5, 3, 7):
            with T.block("Y"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    Y[vj, vi] = T.float32(0)
                Y[vj, vi] = Y[vj, vi] + A[vi, vk] * B[vj, vk]
)";

TEST(Reindex, AResultIsCopiedBack) {
  check_schedule(kMatmul, [](Schedule& sch) { sch.call("reindex", "Y", "Y"); }, R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7), "float32"), B: T.Buffer((3, 7), "float32"), Y: T.Buffer((3, 5), "float32")):
        Y_reindex = T.alloc_buffer((5, 3))
        for i, j, k in T.grid(5, 3, 7):
            with T.block("Y"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    Y_reindex[vi, vj] = T.float32(0)
                Y_reindex[vi, vj] = Y_reindex[vi, vj] + A[vi, vk] * B[vj, vk]
        for ax0, ax1 in T.grid(5, 3):
            with T.block("Y_reindex"):
                v0, v1 = T.axis.remap("SS", [ax0, ax1])
                Y[v1, v0] = Y_reindex[v0, v1]
  )");
}

TEST(Reindex, AfterSplitsWithGuards) {
  check_schedule(kMatmul, [](Schedule& sch) {
    sch.call("split", sch.call("get_loops", "Y").loops()[0], Factors{None{}, int64_t{2}});
    sch.call("reindex", "Y", ArgValue{"write", 0});
    sch.call("reindex", "Y", ArgValue{"read", 0});
  });
}

constexpr std::string_view kTwice = R"(
    @T.prim_func
    def main(A: T.Buffer((7,), "float32"), B: T.Buffer((5,), "float32"), C: T.Buffer((5,), "float32")):
        for i in range(5):
            with T.block("B"):
                vi = T.axis.spatial(5, i)
                B[vi] = A[vi] + A[vi + 2]
            with T.block("C"):
                vi = T.axis.spatial(5, i)
                C[vi] = B[vi] * B[vi]
)";

TEST(Reindex, SeveralPlacesAreRefused) {
  check_refused(kTwice, [](Schedule& sch) { sch.call("reindex", "B", ArgValue{"read", 0}); }, R"(
    error: reindex: block B accesses A at different places, vi and vi + 2
      f.py:4:14
       3 |     for i in range(5):
       4 |         with T.block("B"):
         |              ^^^^^^^^^^^^
       5 |             vi = T.axis.spatial(5, i)
  )");
}

TEST(Reindex, UsesInTheSameLoopsAreRefused) {
  check_refused(kTwice, [](Schedule& sch) { sch.call("reindex", "B", ArgValue{"write", 0}); }, R"(
    error: reindex: block C reads B, which block B writes, not after the loops around it
      f.py:7:14
       6 |             B[vi] = A[vi] + A[vi + 2]
       7 |         with T.block("C"):
         |              ^^^^^^^^^^^^
       8 |             vi = T.axis.spatial(5, i)
  )");
  check_refused(kTwice, [](Schedule& sch) { sch.call("reindex", "C", ArgValue{"read", 0}); }, R"(
    error: reindex: block B writes B, which block C reads, not before the loops around it
      f.py:4:14
       3 |     for i in range(5):
       4 |         with T.block("B"):
         |              ^^^^^^^^^^^^
       5 |             vi = T.axis.spatial(5, i)
  )");
}

TEST(Reindex, ElementsThatAConditionKeepsInsideAreRefused) {
  constexpr std::string_view kPadded = R"(
    @T.prim_func
    def main(A: T.Buffer((5,), "float32"), B: T.Buffer((7,), "float32")):
        for i in range(7):
            with T.block("B"):
                vi = T.axis.spatial(7, i)
                B[vi] = T.if_then_else(vi < 5, A[vi], T.float32(0))
  )";
  check_refused(kPadded, [](Schedule& sch) { sch.call("reindex", "B", ArgValue{"read", 0}); }, R"(
    error: reindex: index vi of A may be outside of its extent 5 where block B runs
      f.py:4:14
       3 |     for i in range(7):
       4 |         with T.block("B"):
         |              ^^^^^^^^^^^^
       5 |             vi = T.axis.spatial(7, i)
  )");
  check_refused(
      R"(
    @T.prim_func
    def main(A: T.Buffer((7,), "float32"), B: T.Buffer((7,), "float32")):
        for i in range(7):
            with T.block("B"):
                vi = T.axis.spatial(7, i)
                if A[vi] < T.float32(2):
                    B[vi] = A[vi]
  )",
      [](Schedule& sch) { sch.call("reindex", "B", ArgValue{"write", 0}); }, R"(
    error: reindex: block B writes B only under a condition
      f.py:4:14
       3 |     for i in range(7):
       4 |         with T.block("B"):
         |              ^^^^^^^^^^^^
       5 |             vi = T.axis.spatial(7, i)
  )");
}

TEST(Reindex, BlocksOfBlocksAreRefused) {
  check_refused(
      kTransposed,
      [](Schedule& sch) {
        const BlockRef outer = sch.call("blockize", sch.call("get_loops", "B").loops()[1]).block();
        sch.call("reindex", outer, ArgValue{"read", 0});
      },
      R"(
    error: reindex: block B_o has blocks inside, whose accesses are looked at one by one
      <main as scheduled>:5:9
       4 |     for i in range(5):
       5 |         with T.block("B_o"):
         |         ^^^^^^^^^^^^^^^^^^^
       6 |             vi_o = T.axis.spatial(5, i)
    note: B_o was made from this line
       4 |         with T.block("B"):
         |              ^^^^^^^^^^^^
  )");
}

TEST(Reindex, ANumberAloneIsNotEnough) {
  check_refused(kTransposed, [](Schedule& sch) { sch.call("reindex", "B", 0); }, R"(
    error: reindex: buffer 0 of block B may be one that it reads or one that it writes
      f.py:4:14
       3 |     for i, j in T.grid(5, 7):
       4 |         with T.block("B"):
         |              ^^^^^^^^^^^^
       5 |             vi, vj = T.axis.remap("SS", [i, j])
    help: say which: ("read", 0) or ("write", 0)
  )");
  check_refused(kTransposed, [](Schedule& sch) { sch.call("reindex", "B", ArgValue{"both", 0}); }, R"(
    error: reindex: a buffer is in list "read" or "write", not "both"
      f.py:4:14
       3 |     for i, j in T.grid(5, 7):
       4 |         with T.block("B"):
         |              ^^^^^^^^^^^^
       5 |             vi, vj = T.axis.remap("SS", [i, j])
  )");
}

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

constexpr std::string_view kInPlace = R"(
    @T.prim_func
    def main(A: T.Buffer((7, 5), "float32")):
        for i, j in T.grid(7, 5):
            with T.block("A"):
                vi, vj = T.axis.remap("SS", [i, j])
                A[vi, vj] = A[vi, vj] * T.float32(2)
)";

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

constexpr std::string_view kOnlyInTheFirstTurn = R"(
    @T.prim_func
    def main(A: T.Buffer((7,), "float32"), C: T.Buffer((5, 7), "float32")):
        B = T.alloc_buffer((7,), "float32")
        for i in range(5):
            for j in range(7):
                if i < 1:
                    with T.block("B"):
                        vj = T.axis.spatial(7, j)
                        B[vj] = A[vj]
            for j in range(7):
                with T.block("C"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    C[vi, vj] = B[vj]
    )";

// A condition between the loops counts as the block's own predicate does.
TEST(CacheWrite, BlocksInABranchAreRefused) {
  check_refused(
      kOnlyInTheFirstTurn, [](Schedule& sch) { sch.call("cache_write", "B", 0, "local"); },
      "error: cache_write: block B may leave elements of B unwritten, which a copy would overwrite\n"
      "  f.py:7:22\n   6 |             if i < 1:\n   7 |                 with T.block(\"B\"):\n     |        "
      "              ^^^^^^^^^^^^\n   8 |                     vj = T.axis.spatial(7, j)");
}

TEST(Parallel, ABufferWrittenInABranchBelongsToNoIteration) {
  check_refused(
      kOnlyInTheFirstTurn, [](Schedule& sch) { sch.call("parallel", sch.call("get_loops", "C").loops()[0]); },
      R"(
    error: parallel: loop i cannot be parallel: block B writes B[vj] in several iterations of loop i
      f.py:4:5
       3 |     B = T.alloc_buffer((7,), "float32")
       4 |     for i in range(5):
         |     ^^^^^^^^^^^^^^^^^^
       5 |         for j in range(7):
    note: block B at i=1 writes B[0], written by block B at i=0
  )");
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
        R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7), "float32"), Y: T.Buffer((5,), "float32")):
        for k, i in T.grid(7, 5):
            with T.block("Y"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    Y[vi] = T.float32(0)
                Y[vi] = Y[vi] + A[vi, vk]
    )",
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
