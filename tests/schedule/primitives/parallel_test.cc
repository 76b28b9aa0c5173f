// parallel: iterations run at the same time; those that depend on each other are refused.
#include "primitive_programs.h"
#include "schedule_testing.h"

namespace tilewright::schedule {
namespace {

TEST(Parallel, ABufferWrittenInABranchIsNoIterationsOwn) {
  check_refused(
      kOnlyInTheFirstIteration,
      [](Schedule& sch) { sch.call("parallel", sch.call("get_loops", "C").loops()[0]); },
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

TEST(Parallel, LoopCarriedDependenceIsRefused) {
  check_refused(
      kWavefront, [](Schedule& sch) { sch.call("parallel", sch.call("get_loops", "B").loops()[0]); }, R"(
    error: parallel: loop i cannot be parallel: block B writes B[vi + 1, vj], which block B reads in another iteration of loop i
      f.py:3:5
       2 | def main(A: T.Buffer((6, 7), "float32"), B: T.Buffer((7, 8), "float32")):
       3 |     for i, j in T.grid(6, 7):
         |     ^^^^^^^^^^^^^^^^^^^^^^^^^
       4 |         with T.block("B"):
    note: block B at i=1 reads B[1, 1], written by block B at i=0
    help: parallel(loop j) would be legal
  )");
}

TEST(Parallel, GuardsTellIterationsOfFusedLoopsApart) {
  constexpr std::string_view kRows = R"(
    @T.prim_func
    def main(A: T.Buffer((14,), "float32"), B: T.Buffer((14,), "float32")):
        for i in range(14):
            with T.block("B"):
                vi = T.axis.spatial(14, i)
                B[vi] = A[vi] * T.float32(2)
)";
  check_schedule(
      kRows,
      [](Schedule& sch) {
        const auto [core, rows] =
            sch.call("split", sch.call("get_loops", "B").loops()[0], Factors{2, None{}}).loops<2>();
        const auto [strip, row] = sch.call("split", rows, Factors{None{}, 3}).loops<2>();
        sch.call("parallel", sch.call("fuse", std::vector<LoopRef>{core, strip}).loop());
      },
      R"(
    @T.prim_func
    def main(A: T.Buffer((14,), "float32"), B: T.Buffer((14,), "float32")):
        # with T.block("root"):
        for i_0_i_1_0_fused in T.parallel(6):
            for i_1_1 in range(3):
                with T.block("B"):
                    vi = T.axis.spatial(14, i_0_i_1_0_fused // 3 * 7 + i_0_i_1_0_fused % 3 * 3 + i_1_1)
                    T.where(i_0_i_1_0_fused % 3 * 3 + i_1_1 < 7)
                    T.reads(A[vi])
                    T.writes(B[vi])
                    B[vi] = A[vi] * T.float32(2)
  )");
}

// A guard that another loop moves says nothing of two iterations with different values of it: (0, 0, 2) and
// (1, 0, 0) meet.
TEST(Parallel, GuardsOfOtherLoopsAreNotEnough) {
  check_refused(
      R"(
    @T.prim_func
    def main(A: T.Buffer((14,), "float32"), B: T.Buffer((14,), "float32")):
        for i, o, r in T.grid(4, 2, 3):
            with T.block("B"):
                vi = T.axis.spatial(14, i * 2 + r)
                T.where(o + r < 3)
                B[vi] = A[vi] * T.float32(2)
)",
      [](Schedule& sch) { sch.call("parallel", sch.call("get_loops", "B").loops()[0]); }, R"(
    error: parallel: loop i cannot be parallel: block B writes B[vi] in several iterations of loop i
      f.py:3:5
       2 | def main(A: T.Buffer((14,), "float32"), B: T.Buffer((14,), "float32")):
       3 |     for i, o, r in T.grid(4, 2, 3):
         |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
       4 |         with T.block("B"):
    note: block B at i=1 writes B[2], written by block B at i=0
    help: parallel(loop r) would be legal
  )");
}

// In iterations that the other part of the guard leaves out it reads what others write.
TEST(Parallel, GuardsThatReadAreNotEnough) {
  check_refused(
      R"(
    @T.prim_func
    def main(A: T.Buffer((40,), "float32"), B: T.Buffer((40,), "float32")):
        for f, r in T.grid(6, 3):
            with T.block("B"):
                v = T.axis.spatial(40, f // 3 * 7 + f % 3 * 3 + r)
                T.where(B[f // 3 * 7 + f % 3 * 3 + r] > T.float32(0) and f % 3 * 3 + r < 7)
                B[v] = A[v] * T.float32(2)
)",
      [](Schedule& sch) { sch.call("parallel", sch.call("get_loops", "B").loops()[0]); }, R"(
    error: parallel: loop f cannot be parallel: block B writes B[v], which block B reads in another iteration of loop f
      f.py:3:5
       2 | def main(A: T.Buffer((40,), "float32"), B: T.Buffer((40,), "float32")):
       3 |     for f, r in T.grid(6, 3):
         |     ^^^^^^^^^^^^^^^^^^^^^^^^^
       4 |         with T.block("B"):
    help: parallel(loop r) would be legal
  )");
}

TEST(Parallel, ReductionIsRefused) {
  check_refused(
      kMatmul, [](Schedule& sch) { sch.call("parallel", sch.call("get_loops", "Y").loops()[2]); }, R"(
    error: parallel: loop k cannot be parallel: block Y writes Y[vi, vj] in several iterations of loop k
      f.py:3:5
       2 | def main(A: T.Buffer((5, 7), "float32"), B: T.Buffer((7, 3), "float32"), Y: T.Buffer((5, 3), "float32")):
       3 |     for i, j, k in T.grid(5, 3, 7):
         |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
       4 |         with T.block("Y"):
    note: block Y at k=1 writes Y[0, 0], written by block Y at k=0
    help: parallel(loop i) or rfactor(loop k, 0) would be legal
  )");
}

TEST(LoopKinds, ParallelUnrollVectorize) {
  check_schedule(
      R"(
    @T.prim_func
    def main(A: T.Buffer((4, 4), "int64"), B: T.Buffer((4, 4), "int64"), C: T.Buffer((4, 4), "int64")):
        for i, j in T.grid(4, 4):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = A[vi, vj] + B[vi, vj]
  )",
      [](Schedule& sch) {
        const auto [i, j] = sch.call("get_loops", "C").loops<2>();
        const auto [i0, i1] = sch.call("split", i, factors({2, 2})).loops<2>();
        sch.call("parallel", i0);
        sch.call("unroll", i1);
        sch.call("vectorize", j);
      },
      R"(
    @T.prim_func
    def main(A: T.Buffer((4, 4), "int64"), B: T.Buffer((4, 4), "int64"), C: T.Buffer((4, 4), "int64")):
        for i_0 in T.parallel(2):
            for i_1 in T.unroll(2):
                for j in T.vectorized(4):
                    with T.block("C"):
                        vi = T.axis.spatial(4, i_0 * 2 + i_1)
                        vj = T.axis.spatial(4, j)
                        C[vi, vj] = A[vi, vj] + B[vi, vj]
  )");
}

}  // namespace
}  // namespace tilewright::schedule
