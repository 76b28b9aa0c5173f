// Layouts of buffers and blocks, and what blocks say that they access.
#include "schedule_testing.h"
#include "tilewright/tir/builder.h"

namespace tilewright::schedule {
namespace {

constexpr std::string_view kChain = R"(
    @T.prim_func
    def main(A: T.Buffer((7,), "float32"), C: T.Buffer((7,), "float32")):
        B = T.alloc_buffer((7,))
        for i in range(7):
            with T.block("B"):
                vi = T.axis.spatial(7, i)
                B[vi] = A[vi] * T.float32(2)
        for i in range(7):
            with T.block("C"):
                vi = T.axis.spatial(7, i)
                C[vi] = B[vi] + T.float32(1)
)";

IndexMap by_fours() {
  const Var i = make_var("i");
  return IndexMapNode::make(std::vector<Var>{i},
                            std::vector<PrimExpr>{floordiv(PrimExpr(i), 4), floormod(PrimExpr(i), 4)});
}

TEST(TransformLayout, PaddingHoldsTheValue) {
  check_schedule(kChain, [](Schedule& sch) { sch.call("transform_layout", "B", "B", by_fours(), 0.5); }, R"(
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

// Indices of int64, as operators of graphs are; the layout, the first block and what the second reads are to
// be given.
std::string wide_chain(std::string_view shape, std::string_view write, std::string_view read) {
  return fmt::format(R"(
    @T.prim_func
    def main(A: T.Buffer((T.int64(8),), "float32"), C: T.Buffer((T.int64(8),), "float32")):
        B = T.alloc_buffer({})
        for i in range(T.int64(8)):
            with T.block("B"):
                vi = T.axis.spatial(T.int64(8), i)
                B[{}] = A[vi] * T.float32(2)
        for i in range(T.int64(8)):
            with T.block("C"):
                vi = T.axis.spatial(T.int64(8), i)
                C[vi] = B[{}] + T.float32(1)
)",
                     shape, write, read);
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
  Schedule sch(module_of(kChain), {.seed = 1, .verify_steps = true});
  sch.call("transform_layout", "B", "B", by_fours(), value);
  const Block pad = sch.get(sch.call("get_block", "B_pad").block());
  EXPECT_EQ(show(sch.module()).find("B[v0, v1] = T.Cast(\"float32\", v0 + v1)") == std::string::npos, false)
      << show(sch.module());
  EXPECT_EQ(pad->iter_vars.size(), 2U);
}

TEST(TransformLayout, OfAParameterPaddingIsAssumed) {
  Schedule sch(module_of(kChain), {.seed = 1, .verify_steps = true});
  sch.call("transform_layout", "B", "A", by_fours(), 0.0);
  EXPECT_NE(show(sch.module()).find("T.assume(A[v0, v1] == T.float32(0))"), std::string::npos)
      << show(sch.module());
}

TEST(TransformLayout, PadValuesOfAnotherFormAreRefused) {
  const std::string place =
      "\n  f.py:5:14\n   4 |     for i in range(7):\n   5 |         with T.block(\"B\"):\n     |             "
      " ^^^^^^^^^^^^\n   6 |             vi = T.axis.spatial(7, i)";
  check_refused(
      kChain, [](Schedule& sch) { sch.call("transform_layout", "B", "B", by_fours(), by_fours()); },
      "error: transform_layout: the pad value takes 1 indices and gives 2 values instead of 2 and 1" + place);
  check_refused(
      kChain, [](Schedule& sch) { sch.call("transform_layout", "B", "B", by_fours(), "zero"); },
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
      kChain, [&](Schedule& sch) { sch.call("transform_layout", "B", "B", two); },
      "error: transform_layout: the map takes 2 indices, but B has 1" + place);
  check_refused(
      kChain, [&](Schedule& sch) { sch.call("transform_layout", "B", "B", negative); },
      "error: transform_layout: index i - 3 of the map may be negative" + place);
  check_refused(
      kChain, [&](Schedule& sch) { sch.call("transform_layout", "B", "D", two); },
      "error: transform_layout: block B accesses no buffer \"D\"" + place + "\nhelp: did you mean A or B?");
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

TEST(SetAxisSeparator, StandsInTheBuffer) {
  check_schedule(
      R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7), "float32"), C: T.Buffer((5, 7), "float32")):
        B = T.alloc_buffer((5, 7))
        for i, j in T.grid(5, 7):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] * T.float32(2)
        for i, j in T.grid(5, 7):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = B[vi, vj]
  )",
      [](Schedule& sch) { sch.call("set_axis_separator", "B", "B", ArgValue::List{1}); }, R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7), "float32"), C: T.Buffer((5, 7), "float32")):
        B = T.alloc_buffer((5, 7), axis_separators=[1])
        for i, j in T.grid(5, 7):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] * T.float32(2)
        for i, j in T.grid(5, 7):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = B[vi, vj]
  )");
}

TEST(SetAxisSeparator, NumbersOutOfOrderAreRefused) {
  check_refused(kChain, [](Schedule& sch) { sch.call("set_axis_separator", "B", "B", ArgValue{1, 0}); }, R"(
    error: set_axis_separator: axis separators [1, 0] are no rising list of numbers from 0 to 1
      f.py:5:14
       4 |     for i in range(7):
       5 |         with T.block("B"):
         |              ^^^^^^^^^^^^
       6 |             vi = T.axis.spatial(7, i)
  )");
  const IRModule module = module_of(kChain);
  Schedule sch(module);
  sch.call("set_axis_separator", "B", "B", ArgValue(ArgValue::List{}));
  EXPECT_EQ(sch.module(), module);
}

constexpr std::string_view kMatmul = R"(
    @T.prim_func
    def main(A: T.Buffer((4, 7), "float32"), Y: T.Buffer((4, 6), "float32")):
        for i, j, k in T.grid(4, 6, 7):
            with T.block("Y"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    Y[vi, vj] = T.float32(0)
                Y[vi, vj] = Y[vi, vj] + A[vi, vk]
)";

IndexMap fused_ij() {
  const Var i = make_var("i"), j = make_var("j"), k = make_var("k");
  return IndexMapNode::make(std::vector<Var>{i, j, k}, std::vector<PrimExpr>{PrimExpr(i) * 6 + j, k});
}

TEST(TransformBlockLayout, AxesAreFused) {
  check_schedule(kMatmul, [](Schedule& sch) { sch.call("transform_block_layout", "Y", fused_ij()); }, R"(
    @T.prim_func
    def main(A: T.Buffer((4, 7), "float32"), Y: T.Buffer((4, 6), "float32")):
        for ax0, ax1 in T.grid(24, 7):
            with T.block("Y"):
                v0, v1 = T.axis.remap("SR", [ax0, ax1])
                with T.init():
                    Y[v0 // 6, v0 % 6] = T.float32(0)
                Y[v0 // 6, v0 % 6] = Y[v0 // 6, v0 % 6] + A[v0 // 6, v1]
  )");
}

// found: indices of floats that the block reads stayed (v0 * 3 + v1) // 3
TEST(TransformBlockLayout, IndicesOfDividedAxesAreSimple) {
  const Var j = make_var("j");
  const IndexMap parts =
      IndexMapNode::make(std::vector<Var>{j}, std::vector<PrimExpr>{floordiv(j, 3), floormod(j, 3)});
  check_schedule(
      R"(
    @T.prim_func
    def main(A: T.Buffer((4, 3), "float32"), Y: T.Buffer((12,), "float32")):
        for j in range(12):
            with T.block("Y"):
                vj = T.axis.remap("S", [j])
                Y[vj] = T.max(A[vj // 3, vj % 3], T.float32(0))
)",
      [&](Schedule& sch) { sch.call("transform_block_layout", "Y", parts); }, R"(
    @T.prim_func
    def main(A: T.Buffer((4, 3), "float32"), Y: T.Buffer((12,), "float32")):
        for ax0, ax1 in T.grid(4, 3):
            with T.block("Y"):
                v0, v1 = T.axis.remap("SS", [ax0, ax1])
                Y[v0 * 3 + v1] = T.max(A[v0, v1], T.float32(0))
  )");
}

TEST(TransformBlockLayout, MapsOfInt32FitAxesOfInt64) {
  check_schedule(
      wide_chain("(T.int64(8),)", "vi", "vi"),
      [](Schedule& sch) { sch.call("transform_block_layout", "B", by_fours()); }, R"(
    @T.prim_func
    def main(A: T.Buffer((T.int64(8),), "float32"), C: T.Buffer((T.int64(8),), "float32")):
        B = T.alloc_buffer((T.int64(8),))
        for ax0, ax1 in T.grid(T.int64(2), T.int64(4)):
            with T.block("B"):
                v0, v1 = T.axis.remap("SS", [ax0, ax1])
                B[v0 * T.int64(4) + v1] = A[v0 * T.int64(4) + v1] * T.float32(2)
        for i in range(T.int64(8)):
            with T.block("C"):
                vi = T.axis.spatial(T.int64(8), i)
                C[vi] = B[vi] + T.float32(1)
  )");
}

TEST(TransformBlockLayout, WhatIsNotOneToOneOrMixedIsRefused) {
  const Var i = make_var("i"), j = make_var("j"), k = make_var("k");
  const std::vector<Var> vars{i, j, k};
  const IndexMap gaps = IndexMapNode::make(vars, std::vector<PrimExpr>{PrimExpr(i) * 2, j, k});
  const IndexMap mixed = IndexMapNode::make(vars, std::vector<PrimExpr>{i, PrimExpr(j) * 7 + k});
  const std::string place =
      "\n  f.py:4:14\n   3 |     for i, j, k in T.grid(4, 6, 7):\n   4 |         with T.block(\"Y\"):\n"
      "     |              ^^^^^^^^^^^^\n   5 |             vi, vj, vk = T.axis.remap(\"SSR\", [i, j, k])";
  check_refused(
      kMatmul, [&](Schedule& sch) { sch.call("transform_block_layout", "Y", gaps); },
      "error: transform_block_layout: the map leaves gaps: 168 instances of block Y in a space of 294" +
          place);
  check_refused(
      kMatmul, [&](Schedule& sch) { sch.call("transform_block_layout", "Y", mixed); },
      "error: transform_block_layout: new axis j * 7 + k would mix spatial and reduce axes" + place);
  check_refused(
      kMatmul,
      [&](Schedule& sch) {
        sch.call("split", sch.call("get_loops", "Y").loops()[0], Factors{None{}, int64_t{2}});
        sch.call("transform_block_layout", "Y", fused_ij());
      },
      "error: transform_block_layout: axis vi of block Y is not a loop of its own, but i_0 * 2 + i_1" +
          place);
}

constexpr std::string_view kStencil = R"(
    @T.prim_func
    def main(A: T.Buffer((7,), "float32"), B: T.Buffer((5,), "float32")):
        for i in range(5):
            with T.block("B"):
                vi = T.axis.spatial(5, i)
                T.reads(A[0:7])
                T.writes(B[vi])
                B[vi] = A[vi] + A[vi + 2]
)";

IndexMap window(int64_t width) {
  const Var i = make_var("i");
  return IndexMapNode::make(std::vector<Var>{i}, std::vector<PrimExpr>{i, PrimExpr(i) + width});
}

TEST(AnnotateBufferAccess, TheRegionIsTheUsers) {
  check_schedule(
      kStencil, [](Schedule& sch) { sch.call("annotate_buffer_access", "B", 0, "read", window(3)); }, R"(
    @T.prim_func
    def main(A: T.Buffer((7,), "float32"), B: T.Buffer((5,), "float32")):
        for i in range(5):
            with T.block("B"):
                vi = T.axis.spatial(5, i)
                T.reads(A[vi:vi + 3])
                T.writes(B[vi])
                T.block_attr({"explicit_read_region": [0]})
                B[vi] = A[vi] + A[vi + 2]
  )");
}

TEST(AnnotateBufferAccess, BadRegionsAreRefused) {
  const std::string place =
      "\n  f.py:4:14\n   3 |     for i in range(5):\n   4 |         with T.block(\"B\"):\n     |             "
      " ^^^^^^^^^^^^\n   5 |             vi = T.axis.spatial(5, i)";
  const Var i = make_var("i"), j = make_var("j");
  const IndexMap two = IndexMapNode::make(std::vector<Var>{i, j}, std::vector<PrimExpr>{i, j});
  const IndexMap point = IndexMapNode::make(std::vector<Var>{i}, std::vector<PrimExpr>{i, i, i});
  check_refused(
      kStencil, [&](Schedule& sch) { sch.call("annotate_buffer_access", "B", 0, "reads", window(3)); },
      "error: annotate_buffer_access: a buffer is in list \"read\" or \"write\", not \"reads\"" + place);
  check_refused(
      kStencil, [&](Schedule& sch) { sch.call("annotate_buffer_access", "B", 0, "read", two); },
      "error: annotate_buffer_access: the map takes 2 indices, but block B has 1 axes" + place);
  check_refused(
      kStencil, [&](Schedule& sch) { sch.call("annotate_buffer_access", "B", 0, "read", point); },
      "error: annotate_buffer_access: the map gives 3 numbers instead of begin and end of 1 dimension" +
          place);
  check_refused(
      kStencil, [&](Schedule& sch) { sch.call("annotate_buffer_access", "B", 0, "read", window(2)); },
      "error: annotate_buffer_access: block B accesses A outside of A[vi:vi + 2]: index vi + 2 is 2 where "
      "that begins at 0" +
          place);
}

TEST(UnsafeHideBufferAccess, TheBlockDoesNotSay) {
  Schedule sch(module_of(kStencil), {.seed = 1, .verify_steps = true});
  sch.call("unsafe_hide_buffer_access", "B", "read", ArgValue::List{0});
  EXPECT_TRUE(sch.get(sch.call("get_block", "B").block())->reads.empty());
  const std::string place =
      "\n  f.py:4:14\n   3 |     for i in range(5):\n   4 |         with T.block(\"B\"):\n     |             "
      " ^^^^^^^^^^^^\n   5 |             vi = T.axis.spatial(5, i)";
  check_refused(
      kStencil, [](Schedule& sch) { sch.call("unsafe_hide_buffer_access", "B", "write", ArgValue::List{1}); },
      "error: unsafe_hide_buffer_access: block B writes 1 buffer, there is no number 1" + place);
  check_refused(
      kStencil, [](Schedule& sch) { sch.call("unsafe_hide_buffer_access", "B", "both", ArgValue::List{1}); },
      "error: unsafe_hide_buffer_access: a buffer is in list \"read\" or \"write\", not \"both\"" + place);
}

TEST(UnsafeHideBufferAccess, NothingToHideChangesNothing) {
  const IRModule module = module_of(kStencil);
  Schedule sch(module);
  sch.call("unsafe_hide_buffer_access", "B", "read", ArgValue(ArgValue::List{}));
  EXPECT_EQ(sch.module(), module);
}

}  // namespace
}  // namespace tilewright::schedule
