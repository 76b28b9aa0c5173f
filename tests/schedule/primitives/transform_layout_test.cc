// transform_layout: elements of a buffer in other places.
#include "primitive_programs.h"
#include "schedule_testing.h"
#include "tilewright/tir/builder.h"

namespace tilewright::schedule {
namespace {

TEST(TransformLayout, IntermediateBuffer) {
  const Var i = make_var("i"), j = make_var("j");
  const IndexMap map = IndexMapNode::make(
      std::vector<Var>{i, j}, std::vector<PrimExpr>{floordiv(PrimExpr(j), 4), i, floormod(PrimExpr(j), 4)});
  check_schedule(
      kTwoSteps,
      [&](Schedule& sch) { sch.call("transform_layout", "B", ArgValue{"write", 0}, ObjectRef(map)); }, R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7), "float32"), C: T.Buffer((7, 5), "float32")):
        B = T.alloc_buffer((2, 5, 4))
        for i, j in T.grid(5, 7):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vj // 4, vi, vj % 4] = A[vi, vj] * T.float32(2)
        for i, j in T.grid(7, 5):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = B[vi // 4, vj, vi % 4] + T.float32(1)
  )");
}

TEST(TransformLayout, PaddingHoldsTheValue) {
  check_schedule(
      kRowChain, [](Schedule& sch) { sch.call("transform_layout", "B", "B", by_fours(), 0.5); }, R"(
    @T.prim_func
    def main(A: T.Buffer((7,), "float32"), C: T.Buffer((7,), "float32")):
        B = T.alloc_buffer((2, 4))
        for i in range(7):
            with T.block("B"):
                vi = T.axis.spatial(7, i)
                B[vi // 4, vi % 4] = A[vi] * T.float32(2)
        for ax0, ax1 in T.grid(2, 4):
            with T.block("B_pad"):
                v0, v1 = T.axis.remap("SS", [ax0, ax1])
                T.where(ax0 * 4 + ax1 >= 7)
                B[v0, v1] = T.float32(0.5)
        for i in range(7):
            with T.block("C"):
                vi = T.axis.spatial(7, i)
                C[vi] = B[vi // 4, vi % 4] + T.float32(1)
  )");
}

TEST(TransformLayout, MapsOfInt32FitIndicesOfInt64) {
  const std::string before = wide_chain("(T.int64(8),)", "vi", "vi");
  const std::string by_four = "vi // T.int64(4), vi % T.int64(4)";
  check_schedule(
      before, [](Schedule& sch) { sch.call("transform_layout", "B", "B", by_fours()); },
      wide_chain("(T.int64(2), T.int64(4))", by_four, by_four));
  // a choice is made in int32, as its function says
  const Var i = make_var("i");
  const PrimExpr swapped = select(PrimExpr(i) < 4, PrimExpr(i) + 4, imm(7) - PrimExpr(i));
  const IndexMap halves = IndexMapNode::make(std::vector<Var>{i}, std::vector<PrimExpr>{swapped});
  Schedule sch(module_of(before));
  sch.call("transform_layout", "B", "B", halves, None{}, true);
  expect_same_numbers(module_of(before), sch.module());
}

TEST(TransformLayout, PaddingMayDependOnThePlace) {
  const Var a = make_var("a"), b = make_var("b");
  const IndexMap value = IndexMapNode::make(std::vector<Var>{a, b}, std::vector<PrimExpr>{a + b});
  Schedule sch(module_of(kRowChain), {.seed = 1, .verify_steps = true});
  sch.call("transform_layout", "B", "B", by_fours(), value);
  const Block pad = sch.get(sch.call("get_block", "B_pad").block());
  EXPECT_EQ(show(sch.module()).find("B[v0, v1] = T.Cast(\"float32\", v0 + v1)") == std::string::npos, false)
      << show(sch.module());
  EXPECT_EQ(pad->iter_vars.size(), 2U);
}

TEST(TransformLayout, OfAParameterPaddingIsAssumed) {
  Schedule sch(module_of(kRowChain), {.seed = 1, .verify_steps = true});
  sch.call("transform_layout", "B", "A", by_fours(), 0.0);
  EXPECT_NE(show(sch.module()).find("T.assume(A[v0, v1] == T.float32(0))"), std::string::npos)
      << show(sch.module());
}

TEST(TransformLayout, PadValuesOfAnotherFormAreRefused) {
  const std::string place =
      "\n  f.py:5:14\n   4 |     for i in range(7):\n   5 |         with T.block(\"B\"):\n     |             "
      " ^^^^^^^^^^^^\n   6 |             vi = T.axis.spatial(7, i)";
  check_refused(
      kRowChain, [](Schedule& sch) { sch.call("transform_layout", "B", "B", by_fours(), by_fours()); },
      "error: transform_layout: the pad value takes 1 indices and gives 2 values instead of 2 and 1" + place);
  check_refused(
      kRowChain, [](Schedule& sch) { sch.call("transform_layout", "B", "B", by_fours(), "zero"); },
      "error: transform_layout: the pad value \"zero\" is neither a number nor a function" + place);
}

TEST(TransformLayout, MapsThatDoNotFitAreRefused) {
  const Var i = make_var("i"), j = make_var("j");
  const IndexMap two = IndexMapNode::make(std::vector<Var>{i, j}, std::vector<PrimExpr>{i, j});
  const IndexMap negative = IndexMapNode::make(std::vector<Var>{i}, std::vector<PrimExpr>{PrimExpr(i) - 3});
  const std::string place =
      "\n  f.py:5:14\n   4 |     for i in range(7):\n   5 |         with T.block(\"B\"):\n     |             "
      " ^^^^^^^^^^^^\n   6 |             vi = T.axis.spatial(7, i)";
  check_refused(
      kRowChain, [&](Schedule& sch) { sch.call("transform_layout", "B", "B", two); },
      "error: transform_layout: the map takes 2 indices, but B has 1" + place);
  check_refused(
      kRowChain, [&](Schedule& sch) { sch.call("transform_layout", "B", "B", negative); },
      "error: transform_layout: index i - 3 of the map may be negative" + place);
  check_refused(
      kRowChain, [&](Schedule& sch) { sch.call("transform_layout", "B", "D", two); },
      "error: transform_layout: block B accesses no buffer \"D\"" + place + "\nhelp: the names are A, B");
}

TEST(TransformLayout, MapsWithoutProofAreRefused) {
  const Var i = make_var("i");
  const IndexMap halves =
      IndexMapNode::make(std::vector<Var>{i}, std::vector<PrimExpr>{floordiv(PrimExpr(i), 2)});
  check_refused(
      R"(
    @T.prim_func
    def main(a: T.handle, n: T.int32):
        A = T.match_buffer(a, (n,))
        for i in range(n):
            with T.block("A"):
                vi = T.axis.spatial(n, i)
                A[vi] = T.float32(1)
  )",
      [&](Schedule& sch) { sch.call("transform_layout", "A", "A", halves); }, R"(
    error: transform_layout: the map may put two elements of A in one place: index 0 is not quasi-affine: it divides a loop whose extent is not a multiple of the divisor
      f.py:5:14
       4 |     for i in range(n):
       5 |         with T.block("A"):
         |              ^^^^^^^^^^^^
       6 |             vi = T.axis.spatial(n, i)
  )");
}

}  // namespace
}  // namespace tilewright::schedule
