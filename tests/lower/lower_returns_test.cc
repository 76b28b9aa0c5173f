// Numbers that a function returns are stored for the caller.
#include "lower_testing.h"
#include "tilewright/lower/constructs.h"
#include "tilewright/script/print.h"

namespace tilewright::lower {
namespace {

TEST(LowerReturns, TheNumberIsStoredAndAStatusReturned) {
  const PrimFunc before = func_of(R"(
    @T.prim_func
    def main(A: T.Buffer((5,), "float32"), n: T.int32) -> T.int64:
        A[0] = T.float32(1)
        T.evaluate(T.ret(T.Cast("int64", n) + T.int64(1)))
  )");
  const PrimFunc after = run_step("lower_returns", before);
  EXPECT_EQ(constructs_of(before) & kReturns, kReturns);
  EXPECT_EQ(constructs_of(after) & kReturns, kNothing);
  const std::string text = script::print(after);
  EXPECT_NE(text.find("T.poke(result, T.int64(8), number)\n    T.ret(0)"), std::string::npos) << text;
}

TEST(LowerReturns, FunctionThatReturnsNothingStays) {
  check_unchanged("lower_returns", R"(
    @T.prim_func
    def main(A: T.Buffer((5,), "float32")):
        A[0] = T.float32(1)
  )");
}

}  // namespace
}  // namespace tilewright::lower
