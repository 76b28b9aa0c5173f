// The plan that a call runs.
#include "tilewright/explain/plans.h"

#include <gtest/gtest.h>

#include "tilewright/script/parse.h"

namespace tilewright::explain {
namespace {

driver::KernelSchedule plan(const std::string& name, std::vector<schedule::PlannedExtent> extents) {
  return {name, {}, {}, {}, std::move(extents)};
}

const std::vector<driver::KernelSchedule> kPlans = {
    plan("add", {}),
    plan("matmul", {{"n", 1, {1}}, {"h", 1, {5}}}),
    plan("matmul", {{"n", 1, {1}}, {"h", 6, {127}}}),
    plan("matmul", {{"n", 2, {8}}}),
};

TEST(Plans, ThoseOfAKernel) {
  EXPECT_EQ(plans_of("add", kPlans).size(), 1u);
  EXPECT_EQ(plans_of("matmul", kPlans).size(), 3u);
  EXPECT_TRUE(plans_of("mean", kPlans).empty());
}

TEST(Plans, TheLastThatHasBegun) {
  const std::span<const driver::KernelSchedule> plans = plans_of("matmul", kPlans);
  EXPECT_EQ(plan_for(plans, {{"n", 1}, {"h", 5}}), 0u);
  EXPECT_EQ(plan_for(plans, {{"n", 1}, {"h", 6}}), 1u);
  EXPECT_EQ(plan_for(plans, {{"n", 2}, {"h", 1}}), 2u);
  EXPECT_EQ(plan_for(plans, {{"n", 127}, {"h", 127}}), 2u);
  EXPECT_EQ(plan_for(plans, {{"n", 0}, {"h", 7}}), 0u);
  EXPECT_EQ(plan_for(plans_of("add", kPlans), {}), 0u);
}

TEST(Plans, SizesOfInputs) {
  const ir::IRModule module =
      ir::with_function(ir::IRModuleNode::make(), "main",
                        ir::ref_as<ir::BaseFuncNode>(script::parse(Ref<Source>(new Source("f.py", R"(
@R.function
def main(x: R.Tensor(("n", 7), "float32"), y: R.Tensor(("n", "h"), "float32")):
    return x
)")))));
  const std::vector<runtime::Value> inputs = {
      runtime::Value(runtime::Tensor::zeros(runtime::Shape{5, 7}, DataType::float_(32))),
      runtime::Value(runtime::Tensor::zeros(runtime::Shape{5, 127}, DataType::float_(32)))};
  EXPECT_EQ(sizes_of_call(module, inputs), (Sizes{{"h", 127}, {"n", 5}}));
}

}  // namespace
}  // namespace tilewright::explain
