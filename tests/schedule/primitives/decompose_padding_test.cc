// decompose_padding: padding is filled first, the rest is copied.
#include "primitive_programs.h"
#include "schedule_testing.h"

namespace tilewright::schedule {
namespace {

constexpr std::string_view kPad = R"(
    @T.prim_func
    def main(X: T.Buffer((5, 7), "float32"), Y: T.Buffer((9, 7), "float32")):
        for i, j in T.grid(9, 7):
            with T.block("Y"):
                vi, vj = T.axis.remap("SS", [i, j])
                Y[vi, vj] = T.if_then_else(2 <= vi and vi < 7, X[vi - 2, vj], T.float32(0))
)";

TEST(DecomposePadding, LoopsBecomeAsLongAsWhatIsThere) {
  check_schedule(
      kPad,
      [](Schedule& sch) {
        const BlockRef fill =
            sch.call("decompose_padding", "Y", sch.call("get_loops", "Y").loops()[0]).block();
        EXPECT_EQ(sch.get(fill)->name_hint, "Y_pad_const");
      },
      R"(
    @T.prim_func
    def main(X: T.Buffer((5, 7), "float32"), Y: T.Buffer((9, 7), "float32")):
        for i, j in T.grid(9, 7):
            with T.block("Y_pad_const"):
                vi, vj = T.axis.remap("SS", [i, j])
                Y[vi, vj] = T.float32(0)
        for i, j in T.grid(5, 7):
            with T.block("Y"):
                vi, vj = T.axis.remap("SS", [i, j])
                Y[vi + 2, vj] = X[vi, vj]
  )");
}

TEST(DecomposePadding, OutsideOfTheLoopAPredicateIsLeft) {
  check_schedule(
      kPad, [](Schedule& sch) { sch.call("decompose_padding", "Y", sch.call("get_loops", "Y").loops()[1]); },
      R"(
    @T.prim_func
    def main(X: T.Buffer((5, 7), "float32"), Y: T.Buffer((9, 7), "float32")):
        for i in range(9):
            for j in range(7):
                with T.block("Y_pad_const"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    Y[vi, vj] = T.float32(0)
            for j in range(7):
                with T.block("Y"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    T.where(i >= 2 and i < 7)
                    Y[vi, vj] = X[vi - 2, vj]
  )");
}

TEST(DecomposePadding, OtherBlocksAreRefused) {
  check_refused(
      kTwoInLoop,
      [](Schedule& sch) { sch.call("decompose_padding", "B", sch.call("get_loops", "B").loops()[0]); }, R"(
    error: decompose_padding: block B does not store T.if_then_else(condition, value, constant), but A[vi, vj] * T.float32(2)
      f.py:6:18
       5 |         for j in range(7):
       6 |             with T.block("B"):
         |                  ^^^^^^^^^^^^
       7 |                 vi, vj = T.axis.remap("SS", [i, j])
  )");
}

}  // namespace
}  // namespace tilewright::schedule
