// reindex: a copy of a buffer laid out by the axes of a block.
#include "primitive_programs.h"
#include "schedule_testing.h"

namespace tilewright::schedule {
namespace {

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

constexpr std::string_view kTransposedProduct = R"(
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
  check_schedule(kTransposedProduct, [](Schedule& sch) { sch.call("reindex", "Y", "Y"); }, R"(
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
  check_schedule(kTransposedProduct, [](Schedule& sch) {
    sch.call("split", sch.call("get_loops", "Y").loops()[0], Factors{None{}, int64_t{2}});
    sch.call("reindex", "Y", ArgValue{"write", 0});
    sch.call("reindex", "Y", ArgValue{"read", 0});
  });
}

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

}  // namespace
}  // namespace tilewright::schedule
