// split, fuse, reorder and the kinds of loops.
#include "schedule_testing.h"

namespace tilewright::schedule {
namespace {

Factors factors(std::vector<std::optional<int64_t>> values) {
  Factors result;
  for (const auto& value : values) result.push_back(value ? Factor(*value) : Factor(None{}));
  return result;
}

constexpr std::string_view kDouble = R"(
    @T.prim_func
    def main(A: T.Buffer((128,), "float32"), B: T.Buffer((128,), "float32")):
        for i in range(128):
            with T.block("B"):
                vi = T.axis.spatial(128, i)
                B[vi] = A[vi] * T.float32(2)
)";

constexpr std::string_view kDouble127 = R"(
    @T.prim_func
    def main(A: T.Buffer((127,), "float32"), B: T.Buffer((127,), "float32")):
        for i in range(127):
            with T.block("B"):
                vi = T.axis.spatial(127, i)
                B[vi] = A[vi] * T.float32(2)
)";

constexpr std::string_view kMatmul = R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7), "float32"), B: T.Buffer((7, 3), "float32"), Y: T.Buffer((5, 3), "float32")):
        for i, j, k in T.grid(5, 3, 7):
            with T.block("Y"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    Y[vi, vj] = T.float32(0)
                Y[vi, vj] = Y[vi, vj] + A[vi, vk] * B[vk, vj]
)";

TEST(Split, NoneIsComputed) {
  check_schedule(
      kDouble,
      [](Schedule& sch) {
        const LoopRef i = sch.call("get_loops", "B").loops<1>()[0];
        sch.call("split", i, factors({std::nullopt, 4}));
      },
      R"(
    @T.prim_func
    def main(A: T.Buffer((128,), "float32"), B: T.Buffer((128,), "float32")):
        for i_0, i_1 in T.grid(32, 4):
            with T.block("B"):
                vi = T.axis.spatial(128, i_0 * 4 + i_1)
                B[vi] = A[vi] * T.float32(2)
  )");
}

TEST(Split, UnevenExtentAddsGuard) {
  check_schedule(
      kDouble127,
      [](Schedule& sch) {
        sch.call("split", sch.call("get_loops", "B").loops()[0], factors({std::nullopt, 4, 8}));
      },
      R"(
    @T.prim_func
    def main(A: T.Buffer((127,), "float32"), B: T.Buffer((127,), "float32")):
        for i_0, i_1, i_2 in T.grid(4, 4, 8):
            with T.block("B"):
                vi = T.axis.spatial(127, i_0 * 32 + i_1 * 8 + i_2)
                T.where(i_0 * 32 + i_1 * 8 + i_2 < 127)
                B[vi] = A[vi] * T.float32(2)
  )");
}

TEST(Split, UnitLoopsKeepTheirVariables) {
  check_schedule(
      kDouble,
      [](Schedule& sch) { sch.call("split", sch.call("get_loops", "B").loops()[0], factors({1, 128})); }, R"(
    @T.prim_func
    def main(A: T.Buffer((128,), "float32"), B: T.Buffer((128,), "float32")):
        for i_0, i_1 in T.grid(1, 128):
            with T.block("B"):
                vi = T.axis.spatial(128, i_0 * 128 + i_1)
                B[vi] = A[vi] * T.float32(2)
  )");
}

TEST(Split, UnitLoopsMayLoseTheirVariables) {
  check_schedule(
      kDouble,
      [](Schedule& sch) {
        sch.call("split", sch.call("get_loops", "B").loops()[0], factors({1, 128}), false);
      },
      R"(
    @T.prim_func
    def main(A: T.Buffer((128,), "float32"), B: T.Buffer((128,), "float32")):
        for i_0, i_1 in T.grid(1, 128):
            with T.block("B"):
                vi = T.axis.spatial(128, i_1)
                B[vi] = A[vi] * T.float32(2)
  )");
}

TEST(Split, FactorsThatDoNotCoverAreRefused) {
  check_refused(
      kDouble,
      [](Schedule& sch) { sch.call("split", sch.call("get_loops", "B").loops()[0], factors({5, 5})); }, R"(
    error: split: factors 5 * 5 = 25 do not cover loop i of extent 128
      f.py:3:5
       2 | def main(A: T.Buffer((128,), "float32"), B: T.Buffer((128,), "float32")):
       3 |     for i in range(128):
         |     ^^^^^^^^^^^^^^^^^^^^
       4 |         with T.block("B"):
    help: leave one factor None to have it computed, e.g. factors=[None, 5]
  )");
}

TEST(Split, BadFactorsAreRefused) {
  auto split = [](std::vector<std::optional<int64_t>> values) {
    return [values](Schedule& sch) {
      sch.call("split", sch.call("get_loops", "B").loops()[0], factors(values));
    };
  };
  check_refused(kDouble, split({std::nullopt, std::nullopt}), R"(
    error: split: more than one factor of loop i is None
      f.py:3:5
       2 | def main(A: T.Buffer((128,), "float32"), B: T.Buffer((128,), "float32")):
       3 |     for i in range(128):
         |     ^^^^^^^^^^^^^^^^^^^^
       4 |         with T.block("B"):
  )");
  check_refused(kDouble, split({std::nullopt, 0}), R"(
    error: split: factor 0 of loop i is below 1
      f.py:3:5
       2 | def main(A: T.Buffer((128,), "float32"), B: T.Buffer((128,), "float32")):
       3 |     for i in range(128):
         |     ^^^^^^^^^^^^^^^^^^^^
       4 |         with T.block("B"):
  )");
  check_refused(kDouble, split({}), R"(
    error: split: no factors are given for loop i
      f.py:3:5
       2 | def main(A: T.Buffer((128,), "float32"), B: T.Buffer((128,), "float32")):
       3 |     for i in range(128):
         |     ^^^^^^^^^^^^^^^^^^^^
       4 |         with T.block("B"):
  )");
}

TEST(Split, ParallelLoopIsRefused) {
  check_refused(
      kDouble,
      [](Schedule& sch) {
        const LoopRef i = sch.call("get_loops", "B").loops()[0];
        sch.call("parallel", i);
        sch.call("split", i, factors({2, 64}));
      },
      R"(
    error: split: loop i is parallel
      f.py:3:5
       2 | def main(A: T.Buffer((128,), "float32"), B: T.Buffer((128,), "float32")):
       3 |     for i in range(128):
         |     ^^^^^^^^^^^^^^^^^^^^
       4 |         with T.block("B"):
    help: reshape loops first, then say how they run
  )");
}

TEST(Fuse, TwoLoops) {
  check_schedule(
      kMatmul,
      [](Schedule& sch) {
        const auto [i, j, k] = sch.call("get_loops", "Y").loops<3>();
        sch.call("fuse", i, j);
      },
      R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7), "float32"), B: T.Buffer((7, 3), "float32"), Y: T.Buffer((5, 3), "float32")):
        for i_j_fused, k in T.grid(15, 7):
            with T.block("Y"):
                vi = T.axis.spatial(5, i_j_fused // 3)
                vj = T.axis.spatial(3, i_j_fused % 3)
                vk = T.axis.reduce(7, k)
                with T.init():
                    Y[vi, vj] = T.float32(0)
                Y[vi, vj] = Y[vi, vj] + A[vi, vk] * B[vk, vj]
  )");
}

TEST(Fuse, UndoesSplit) {
  check_schedule(
      kDouble127,
      [](Schedule& sch) {
        const auto [i0, i1] =
            sch.call("split", sch.call("get_loops", "B").loops()[0], factors({std::nullopt, 4})).loops<2>();
        sch.call("fuse", i0, i1);
      },
      R"(
    @T.prim_func
    def main(A: T.Buffer((127,), "float32"), B: T.Buffer((127,), "float32")):
        for f in range(128):
            with T.block("B"):
                vi = T.axis.spatial(127, f)
                T.where(f < 127)
                B[vi] = A[vi] * T.float32(2)
  )");
}

TEST(Fuse, LoopsOfTwoNestsAreRefused) {
  check_refused(
      R"(
    @T.prim_func
    def main(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
        for i in range(8):
            with T.block("A"):
                vi = T.axis.spatial(8, i)
                A[vi] = T.float32(1)
        for k in range(8):
            with T.block("B"):
                vk = T.axis.spatial(8, k)
                B[vk] = T.float32(2)
  )",
      [](Schedule& sch) {
        sch.call("fuse", sch.call("get_loops", "A").loops()[0], sch.call("get_loops", "B").loops()[0]);
      },
      R"(
    error: fuse: loop k is not directly inside loop i
      f.py:7:5
       6 |             A[vi] = T.float32(1)
       7 |     for k in range(8):
         |     ^^^^^^^^^^^^^^^^^^
       8 |         with T.block("B"):
    note: this is loop i
       3 |     for i in range(8):
         |     ^^^^^^^^^^^^^^^^^^
  )");
}

TEST(Reorder, ReductionMovesOut) {
  check_schedule(
      kMatmul,
      [](Schedule& sch) {
        const auto [i, j, k] = sch.call("get_loops", "Y").loops<3>();
        sch.call("reorder", k, i);
      },
      R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7), "float32"), B: T.Buffer((7, 3), "float32"), Y: T.Buffer((5, 3), "float32")):
        for k, j, i in T.grid(7, 3, 5):
            with T.block("Y"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    Y[vi, vj] = T.float32(0)
                Y[vi, vj] = Y[vi, vj] + A[vi, vk] * B[vk, vj]
  )");
}

// A scan whose axes claim to be spatial: B[i, j] needs B[i - 1, j + 1].
constexpr std::string_view kWavefront = R"(
    @T.prim_func
    def main(A: T.Buffer((6, 7), "float32"), B: T.Buffer((7, 8), "float32")):
        for i, j in T.grid(6, 7):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi + 1, vj] = B[vi, vj + 1] + A[vi, vj]
)";

TEST(Reorder, LoopCarriedDependenceIsRefused) {
  check_refused(
      kWavefront,
      [](Schedule& sch) {
        const auto [i, j] = sch.call("get_loops", "B").loops<2>();
        sch.call("reorder", j, i);
      },
      R"(
    error: reorder: the order of the iterations counts: block B writes B[vi + 1, vj], which block B reads in another iteration of loop i
      f.py:4:14
       3 |     for i, j in T.grid(6, 7):
       4 |         with T.block("B"):
         |              ^^^^^^^^^^^^
       5 |             vi, vj = T.axis.remap("SS", [i, j])
    note: block B at i=1, j=0 reads B[1, 1], written by block B at i=0, j=1
  )");
}

// One loop runs over elements and terms: cut and turned, it would begin in the middle of a sum.
TEST(Reorder, SumThatWouldNotBeginWithItsInitIsRefused) {
  check_refused(
      kMatmul,
      [](Schedule& sch) {
        const auto [i, j, k] = sch.call("get_loops", "Y").loops<3>();
        const LoopRef f = sch.call("fuse", j, k).loop();
        const auto [f0, f1] = sch.call("split", f, factors({std::nullopt, 3})).loops<2>();
        sch.call("reorder", f1, f0);
      },
      R"(
    error: reorder: the order of the iterations counts: block Y writes Y[vi, vj] in several iterations of loop j_k_fused_0
      f.py:4:14
       3 |     for i, j, k in T.grid(5, 3, 7):
       4 |         with T.block("Y"):
         |              ^^^^^^^^^^^^
       5 |             vi, vj, vk = T.axis.remap("SSR", [i, j, k])
    note: block Y at j_k_fused_0=0, j_k_fused_1=1 writes Y[0, 0], written by block Y at j_k_fused_0=1, j_k_fused_1=0
  )");
}

// Y_local is used by loop i alone: run in parallel, each iteration has its own, which is new in each
// iteration of k.
constexpr std::string_view kSumInside = R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7), "float32"), Y: T.Buffer((5,), "float32")):
        Y_local = T.alloc_buffer((5,))
        for i, k in T.grid(5, 7):
            with T.block("Y_local"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    Y_local[vi] = T.float32(0)
                Y_local[vi] = Y_local[vi] + A[vi, vk]
            with T.block("Y"):
                vi = T.axis.spatial(5, i)
                vk = T.axis.opaque(7, k)
                Y[vi] = Y_local[vi]
)";

TEST(Reorder, ParallelLoopsKeepWhatOnlyTheyUse) {
  check_refused(
      kSumInside,
      [](Schedule& sch) {
        const auto [i, k] = sch.call("get_loops", "Y").loops<2>();
        sch.call("parallel", i);
        sch.call("reorder", k, i);
      },
      R"(
    error: reorder: the iterations of loop i could not run at once any more: block Y_local writes Y_local[vi] in several iterations of loop k
      f.py:4:5
       3 |     Y_local = T.alloc_buffer((5,))
       4 |     for i, k in T.grid(5, 7):
         |     ^^^^^^^^^^^^^^^^^^^^^^^^^
       5 |         with T.block("Y_local"):
    note: only loop i uses Y_local, so that each of its iterations has one of its own, each time
  )");
  check_refused(
      kSumInside,
      [](Schedule& sch) {
        const auto [i, k] = sch.call("get_loops", "Y").loops<2>();
        sch.call("reorder", k, i);
        sch.call("parallel", i);
      },
      R"(
    error: parallel: loop i cannot be parallel: block Y_local writes Y_local[vi] in several iterations of loop k
      f.py:4:5
       3 |     Y_local = T.alloc_buffer((5,))
       4 |     for i, k in T.grid(5, 7):
         |     ^^^^^^^^^^^^^^^^^^^^^^^^^
       5 |         with T.block("Y_local"):
    note: only loop i uses Y_local, so that each of its iterations has one of its own, each time
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

TEST(Handles, ConsumedLoopNamesItsStep) {
  check_refused(
      kDouble,
      [](Schedule& sch) {
        const LoopRef i = sch.call("get_loops", "B").loops()[0];
        sch.call("split", i, factors({std::nullopt, 4}));
        sch.call("unroll", i);
      },
      R"(
    error: unroll: loop handle l1 (i) was consumed by step 3, split(l1, factors=[None, 4]); its results are l2, l3
  )");
}

TEST(Handles, LoopsSurviveWhatHappensAroundThem) {
  check_schedule(kMatmul, [](Schedule& sch) {
    const auto [i, j, k] = sch.call("get_loops", "Y").loops<3>();
    sch.call("split", i, factors({std::nullopt, 2}));
    sch.call("reorder", k, j);
    sch.call("unroll", k);
    EXPECT_TRUE(sch.is_alive(j));
    EXPECT_FALSE(sch.is_alive(i));
  });
}

TEST(GetBlock, MissingAndAmbiguousNames) {
  check_refused(kMatmul, [](Schedule& sch) { sch.call("get_block", "X"); }, R"(
    error: get_block: the module has no block "X"
    help: did you mean Y?
  )");
  check_refused(kMatmul, [](Schedule& sch) { sch.call("get_block", "Y", "mein"); }, R"(
    error: get_block: the module has no function "mein"
    help: did you mean main?
  )");
}

TEST(Arguments, WrongTypesAndNamesAreRefused) {
  check_refused(kMatmul, [](Schedule& sch) { sch.call("get_loops", 3); }, R"(
    error: get_loops: argument block must be a block, but is 3
  )");
  check_refused(kMatmul, [](Schedule& sch) { sch.call("get_loop", "Y"); }, R"(
    error: there is no schedule primitive "get_loop"
    help: did you mean get_loops?
  )");
  check_refused(kMatmul, [](Schedule& sch) { sch.run_by_name("split", {}, {{"fators", ArgValue(1)}}); }, R"(
    error: split: there is no argument "fators"
    help: did you mean factors?
  )");
}

TEST(Trace, PrintsAsPython) {
  Schedule sch(module_of(kMatmul));
  const auto [i, j, k] = sch.call("get_loops", sch.call("get_block", "Y").block()).loops<3>();
  const auto [j0, j1] = sch.call("split", j, factors({std::nullopt, 2})).loops<2>();
  sch.call("reorder", j0, k, j1);
  sch.call("annotate", j0, "pragma", "x");
  EXPECT_EQ(sch.trace().str(), dedent(R"(
    b0 = sch.get_block(name="Y", func_name="main")
    l1, l2, l3 = sch.get_loops(block=b0)
    l4, l5 = sch.split(loop=l2, factors=[None, 2])
    sch.reorder(l4, l3, l5)
    sch.annotate(block_or_loop=l4, ann_key="pragma", ann_val="x")
  )"));
}

TEST(SamplePerfectTile, DecisionsAreRecordedAndReplayed) {
  check_schedule(kDouble, [](Schedule& sch) {
    const LoopRef i = sch.call("get_loops", "B").loops()[0];
    const std::vector<ExprRef> tile = sch.call("sample_perfect_tile", i, 3, 16).exprs();
    int64_t product = 1;
    for (ExprRef factor : tile) product *= sch.get(factor);
    EXPECT_EQ(product, 128);
    EXPECT_LE(sch.get(tile.back()), 16);
    sch.call("split", i, Factors(tile.begin(), tile.end()));
  });
}

}  // namespace
}  // namespace tilewright::schedule
