// split: one loop becomes several.
#include "primitive_programs.h"
#include "schedule_testing.h"

namespace tilewright::schedule {
namespace {

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

}  // namespace
}  // namespace tilewright::schedule
