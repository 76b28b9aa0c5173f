#include "tilewright/te/topi/conv.h"

#include <gtest/gtest.h>

#include "tilewright/support/error.h"
#include "tilewright/te/te.h"
#include "tilewright/tir/builder.h"

namespace tilewright::topi {
namespace {

TEST(Conv, LayoutsOfOtherLettersAreRefused) {
  const Tensor data = te::placeholder({tir::imm(1), tir::imm(3), tir::imm(7), tir::imm(7)}, kFloat32, "data"),
               weight =
                   te::placeholder({tir::imm(5), tir::imm(3), tir::imm(3), tir::imm(3)}, kFloat32, "weight");
  try {
    conv(data, weight, {{1, 1}, {0, 0, 0, 0}, {1, 1}, 1, "NCHX", "OIHW", kFloat32});
    FAIL();
  } catch (const Unsupported& error) {
    EXPECT_EQ(error.text(), "layout \"NCHX\" is not a permutation of N, C and spatial dimensions");
  }
}

}  // namespace
}  // namespace tilewright::topi
