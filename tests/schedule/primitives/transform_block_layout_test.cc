// transform_block_layout: axes of a block by a map.
#include "primitive_programs.h"
#include "schedule_testing.h"
#include "tilewright/tir/builder.h"

namespace tilewright::schedule {
namespace {

constexpr std::string_view kSumOfRows = R"(
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
  check_schedule(kSumOfRows, [](Schedule& sch) { sch.call("transform_block_layout", "Y", fused_ij()); }, R"(
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
      kSumOfRows, [&](Schedule& sch) { sch.call("transform_block_layout", "Y", gaps); },
      "error: transform_block_layout: the map leaves gaps: 168 instances of block Y in a space of 294" +
          place);
  check_refused(
      kSumOfRows, [&](Schedule& sch) { sch.call("transform_block_layout", "Y", mixed); },
      "error: transform_block_layout: new axis j * 7 + k would mix spatial and reduce axes" + place);
  check_refused(
      kSumOfRows,
      [&](Schedule& sch) {
        sch.call("split", sch.call("get_loops", "Y").loops()[0], Factors{None{}, int64_t{2}});
        sch.call("transform_block_layout", "Y", fused_ij());
      },
      "error: transform_block_layout: axis vi of block Y is not a loop of its own, but i_0 * 2 + i_1" +
          place);
}

}  // namespace
}  // namespace tilewright::schedule
