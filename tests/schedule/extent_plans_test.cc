// Several plans of one function: where each begins, and which read the same panels.
#include "tilewright/schedule/default/extent_plans.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "default_testing.h"
#include "tilewright/arith/likely.h"
#include "tilewright/tir/builder.h"

namespace tilewright::schedule {
namespace {
using testing::ElementsAre;

constexpr Features kAvx2{.vector_bytes = 32, .num_vector_registers = 16, .num_cores = 2};

// Sums over the first axis: columns are shared among threads, and rows as well if they are many.
PrimFunc product(const std::vector<std::vector<int64_t>>& likely, const std::string& other = "m") {
  const PrimFunc func = ir::ref_as<PrimFuncNode>(module_of(R"(
@T.prim_func
def main(a: T.handle, B: T.Buffer((64, 129), "float32"), c: T.handle):
    n = T.int64()
    )" + other + R"( = T.int64()
    A = T.match_buffer(a, (n, )" + other + R"(, 64), "float32")
    C = T.match_buffer(c, (n, )" + other + R"(, 129), "float32")
    for i, h, j, k in T.grid(n, )" + other + R"(, 129, 64):
        with T.block("C"):
            vi, vh, vj, vk = T.axis.remap("SSSR", [i, h, j, k])
            with T.init():
                C[vi, vh, vj] = T.float32(0)
            C[vi, vh, vj] = C[vi, vh, vj] + A[vi, vh, vk] * B[vk, vj]
)")
                                                     ->functions[0]);
  ir::AttrMap sizes{{"n", arith::likely_item(likely[0])}};
  if (likely.size() > 1) sizes.set(other, arith::likely_item(likely[1]));
  return ir::ref_as<PrimFuncNode>(
      ir::with_attr(func, std::string(arith::kLikelySizes), ir::DictNode::make(sizes)));
}

std::vector<std::string> plans_of(const PrimFunc& func) {
  std::vector<std::string> texts;
  for (const Plan& plan : plan_by_rules("main", func, kAvx2).plans)
    texts.push_back(plan.extents.empty() ? "" : plan_text(plan.extents));
  return texts;
}

TEST(ExtentPlans, OneValueHasOnePlan) {
  EXPECT_THAT(plans_of(product({{1}})), ElementsAre(""));
  EXPECT_THAT(plans_of(product({{8}, {5}})), ElementsAre(""));
}

TEST(ExtentPlans, APlanEndsAtItsValue) {
  EXPECT_THAT(plans_of(product({{1, 500}})),
              ElementsAre("n from 1: best at n = 1", "n from 2: best at n = 500"));
}

TEST(ExtentPlans, ValuesWithTheSamePlanShareIt) {
  EXPECT_THAT(plans_of(product({{1, 400, 500}})),
              ElementsAre("n from 1: best at n = 1", "n from 2: best at n = 400 or 500"));
  EXPECT_THAT(plans_of(product({{400, 500}})), ElementsAre(""));
}

TEST(ExtentPlans, AllCombinationsOfTwoSizes) {
  EXPECT_THAT(plans_of(product({{1, 500}, {1, 500}})),
              ElementsAre("m from 1, n from 1: best at m = 1, n = 1",
                          "m from 1, n from 2: best at m = 1, n = 500", "m from 2: best at m = 500"));
}

TEST(ExtentPlans, SizesOfOneNameAreNotToldApart) {
  EXPECT_THAT(plans_of(product({{1, 500}}, "n_1")).size(), 2);
}

TEST(ExtentPlans, TextsOfTwoSizes) {
  const std::vector<PlannedExtent> extents = {{"n", 2, {8}}, {"h", 1, {224, 640}}};
  EXPECT_EQ(extents_text(extents), "n from 2, h from 1");
  EXPECT_EQ(plan_text(extents), "n from 2, h from 1: best at n = 8, h = 224 or 640");
  EXPECT_EQ(extents_text({}), "");
}

TEST(ExtentPlans, TheFunctionChoosesOne) {
  const PlannedFunction planned = plan_by_rules("main", product({{1, 500}}), kAvx2);
  const auto* choice = planned.func->body.as<IfThenElseNode>();
  ASSERT_TRUE(choice);
  EXPECT_EQ(choice->then_case.as<BlockRealizeNode>()->block->name_hint, "root");
  EXPECT_EQ(choice->else_case.as<BlockRealizeNode>()->block->name_hint, "root");
  EXPECT_EQ(arith::likely_values(arith::likely_sizes_of(planned.func->attrs), "n"),
            (std::vector<int64_t>{1, 500}));
}

TEST(ExtentPlans, PanelsAreTheSameForAllPlans) {
  for (const std::vector<int64_t>& values : {std::vector<int64_t>{1, 500}, {400, 500}}) {
    const PackedWeights packed = pack_weights_of_plans(product({values}), {false, true, false}, kAvx2),
                        last = pack_weights_of_plans(product({{500}}), {false, true, false}, kAvx2);
    EXPECT_TRUE(packed.layouts == last.layouts);
    const PackedWeights first = pack_weights_of_plans(product({{values[0]}}), {false, true, false}, kAvx2);
    const std::vector<int64_t> kept = arith::likely_values(arith::likely_sizes_of(packed.func->attrs), "n");
    EXPECT_EQ(kept, first.layouts == last.layouts ? values : std::vector<int64_t>{500});
  }
}

}  // namespace
}  // namespace tilewright::schedule
