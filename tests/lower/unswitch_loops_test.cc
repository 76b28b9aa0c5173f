// unswitch_loops: a condition that all copies of a body share is decided before them.
#include "lower_testing.h"
#include "tilewright/lower/common/num_nodes.h"

namespace tilewright::lower {
namespace {

TEST(UnswitchLoops, SharedConditionLeavesTheLoopsThatDoNotChangeIt) {
  check_pass("unswitch_loops", R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7, 3), "float32"), B: T.Buffer((7, 3), "float32"), y: T.int32):
        for i in T.unroll(7):
            for j in T.vectorized(3):
                B[i, j] = B[i, j] + T.if_then_else(0 < y and i < 6 and y < 5, A[y, i, j], T.float32(0))
  )",
             R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7, 3), "float32"), B: T.Buffer((7, 3), "float32"), y: T.int32):
        if 0 < y and y < 5:
            for i in T.unroll(7):
                if i < 6:
                    for j in T.vectorized(3):
                        B[i, j] = B[i, j] + A[y, i, j]
                else:
                    for j in T.vectorized(3):
                        B[i, j] = B[i, j] + T.float32(0)
        else:
            for i in T.unroll(7):
                for j in T.vectorized(3):
                    B[i, j] = B[i, j] + T.float32(0)
  )");
}

TEST(UnswitchLoops, ChoicesThatShareOnlyAPartInOneLoopWaitForTheNext) {
  // of i alone both know the same, inside of it
  check_pass("unswitch_loops", R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7), "float32"), B: T.Buffer((7,), "float32"), y: T.int32):
        for i in T.unroll(7):
            B[i] = T.if_then_else(y < 5, A[y, i], T.float32(0)) + T.if_then_else(y < 4, A[y + 1, i], T.float32(0))
        for i in T.vectorized(7):
            B[i] = T.if_then_else(y < 5, A[y, i], T.float32(0)) + T.if_then_else(y < 5, A[0, i], T.float32(1))
  )",
             R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7), "float32"), B: T.Buffer((7,), "float32"), y: T.int32):
        for i in T.unroll(7):
            B[i] = T.if_then_else(y < 5, A[y, i], T.float32(0)) + T.if_then_else(y < 4, A[y + 1, i], T.float32(0))
        if y < 5:
            for i in T.vectorized(7):
                B[i] = A[y, i] + A[0, i]
        else:
            for i in T.vectorized(7):
                B[i] = T.float32(0) + T.float32(1)
  )");
}

TEST(UnswitchLoops, LoopsOfTheirOwnIterationsStay) {
  check_unchanged("unswitch_loops", R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7), "float32"), B: T.Buffer((7,), "float32"), y: T.int32):
        for i in range(7):
            B[i] = T.if_then_else(y < 5, A[y, i], T.float32(0))
        for i in T.unroll(7):
            B[i] = T.if_then_else(i < 5, A[0, i], T.float32(0))
  )");
}

TEST(UnswitchLoops, ConditionsThatCouldFailOrChangeStay) {
  // y may be outside of N, and n be 0; x is defined inside
  check_unchanged("unswitch_loops", R"(
    @T.prim_func
    def main(A: T.Buffer((7,), "float32"), N: T.Buffer((5,), "int32"), B: T.Buffer((7,), "float32"), y: T.int32, n: T.int32):
        for i in T.unroll(7):
            if y < 5:
                B[i] = T.if_then_else(N[y] < 5, A[i], T.float32(0))
        for i in T.unroll(7):
            if 0 < n:
                B[i] = T.if_then_else(y % n < 5, A[i], T.float32(0))
        for i in T.unroll(7):
            x: T.int32 = i * y
            B[i] = T.if_then_else(x < 5, A[i], T.float32(0))
  )");
}

// for i0 in unroll(2): ... B[0] = choose(i0 < n0) + choose(i1 < n1) + ...
std::string nest_of_choices(int depth) {
  std::string params, loops, sum = "T.float32(0)", indent(8, ' ');
  for (int n = 0; n < depth; ++n) {
    params += fmt::format(", n{}: T.int32", n);
    loops += fmt::format("{}for i{} in T.unroll(2):\n", indent, n);
    indent += "    ";
    sum += fmt::format(" + T.if_then_else(i{0} < n{0}, A[i{0}], T.float32(1))", n);
  }
  return fmt::format(
      "@T.prim_func\ndef main(A: T.Buffer((2,), \"float32\"), B: T.Buffer((1,), \"float32\"){}):\n"
      "{}{}B[0] = {}\n",
      params, loops, indent, sum);
}

TEST(UnswitchLoops, CopiesOfAFunctionAreBoundedTogether) {
  // each level copies what is inside of it: without the bound 2^12 times
  for (const int depth : {3, 8, 12}) {
    const PrimFunc func = func_of(nest_of_choices(depth)), unswitched = run_step("unswitch_loops", func);
    EXPECT_NE(func, unswitched);
    EXPECT_LT(num_nodes(unswitched->body), num_nodes(func->body) + 4000);
  }
}

}  // namespace
}  // namespace tilewright::lower
