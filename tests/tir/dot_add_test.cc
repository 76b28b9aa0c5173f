#include "tilewright/tir/dot_add.h"

#include <gtest/gtest.h>

#include "tilewright/support/error.h"
#include "tilewright/tir/builder.h"

namespace tilewright::tir {
namespace {

PrimExpr zeros(DataType dtype) { return make_const(dtype, 0); }

TEST(DotAdd, HasGroups) {
  const PrimExpr sum = zeros(kInt32.with_lanes(4)), all = zeros(DataType::int_(8, 16)),
                 one = zeros(DataType::uint(8, 4));
  const PrimExpr own = call(sum->dtype, "dot_add", {sum, all, all}),
                 shared = call(sum->dtype, "dot_add", {sum, one, all});
  EXPECT_FALSE(dot_add(own.as<CallNode>()).is_shared);
  EXPECT_TRUE(dot_add(shared.as<CallNode>()).is_shared);
  EXPECT_EQ(dot_add(shared.as<CallNode>()).group, 4);
}

TEST(DotAdd, TakesThreeArguments) {
  const PrimExpr sum = zeros(kInt32);
  const PrimExpr made = call(kInt32, "dot_add", {sum, sum});
  try {
    dot_add(made.as<CallNode>());
    FAIL();
  } catch (const UserError& error) {
    EXPECT_EQ(error.text(), "dot_add takes 3 arguments, found 2");
  }
}

}  // namespace
}  // namespace tilewright::tir
