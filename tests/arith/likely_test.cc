// Likely values of sizes that are known only at run time.
#include "tilewright/arith/likely.h"

#include <gtest/gtest.h>

#include "tilewright/tir/builder.h"

namespace tilewright::arith {
namespace {

const Var kH = make_var("h", kInt64), kW = make_var("w", kInt64);

TEST(Likely, ValuesOfExpressions) {
  const ir::AttrMap sizes{{"h", imm(224, kInt64)}, {"n", imm(1, kInt64)}};
  EXPECT_EQ(likely_value(imm(7, kInt64), sizes), 7);
  EXPECT_EQ(likely_value(kH, sizes), 224);
  EXPECT_EQ(likely_value(floordiv(kH + 31, imm(32, kInt64)) * 5, sizes), 35);
  EXPECT_EQ(likely_value(kH * kW, sizes), std::nullopt);
  EXPECT_EQ(likely_value(kH, {}), std::nullopt);
  // a variable of another dtype has its own
  EXPECT_EQ(likely_value(make_var("h", kInt32) + 1, sizes), 225);
}

TEST(Likely, SizesOfAttributes) {
  const ir::AttrMap sizes{{"h", imm(127, kInt64)}};
  const ir::AttrMap attrs{{std::string(kLikelySizes), ir::DictNode::make(sizes)}};
  EXPECT_EQ(likely_value(kH, likely_sizes_of(attrs)), 127);
  EXPECT_TRUE(likely_sizes_of({}).empty());
}

TEST(Likely, SeveralValuesOfASize) {
  const ir::AttrMap sizes{{"h", likely_item({1, 127})}, {"n", likely_item({5})}, {"w", likely_item({})}};
  EXPECT_EQ(likely_values(sizes, "h"), (std::vector<int64_t>{1, 127}));
  EXPECT_EQ(likely_values(sizes, "n"), std::vector<int64_t>{5});
  EXPECT_EQ(sizes.get_int("n", 0), 5);
  EXPECT_TRUE(likely_values(sizes, "w").empty());
  EXPECT_TRUE(likely_values(sizes, "m").empty());
  EXPECT_EQ(likely_value(kH + 1, sizes), 128);
  EXPECT_EQ(likely_value(kW, sizes), std::nullopt);
}

}  // namespace
}  // namespace tilewright::arith
