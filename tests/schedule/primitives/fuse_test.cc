// fuse: several loops become one.
#include "primitive_programs.h"
#include "schedule_testing.h"

namespace tilewright::schedule {
namespace {

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

}  // namespace
}  // namespace tilewright::schedule
