// The start of a call checks what indices need of its sizes.
#include "tilewright/lower/steps/check_sizes.h"

#include "lower_testing.h"
#include "tilewright/script/print.h"

namespace tilewright::lower {
namespace {

TEST(CheckSizes, SizeThatIsTooSmallIsRefusedBeforeTheLoop) {
  const PrimFunc func = func_of(R"(
    @T.prim_func
    def main(a: T.handle, B: T.Buffer((8,), "float32")):
        n = T.int32()
        A = T.match_buffer(a, (n,), "float32")
        for i in range(8):
            B[i] = A[i]
  )");
  const PrimFunc asking = with_size_checks("copy", func);
  EXPECT_NE(asking, func);
  const std::string text = script::print(run_step("check_sizes", asking));
  const size_t check = text.find("raise_error("), loop = text.find("for i in range(8)");
  ASSERT_NE(check, std::string::npos) << text;
  EXPECT_LT(check, loop) << text;
}

TEST(CheckSizes, ProgramThatNeedsNothingStays) {
  const PrimFunc func = func_of(R"(
    @T.prim_func
    def main(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
        for i in range(8):
            B[i] = A[i]
  )");
  EXPECT_EQ(with_size_checks("copy", func), func);
  EXPECT_EQ(run_step("check_sizes", func), func);
}

}  // namespace
}  // namespace tilewright::lower
