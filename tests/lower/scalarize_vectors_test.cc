// Vector expressions become loops over their lanes.
#include "lower_testing.h"
#include "tilewright/lower/constructs.h"

namespace tilewright::lower {
namespace {

TEST(ScalarizeVectors, LanesBecomeALoop) {
  check_pass("scalarize_vectors", R"(
    @T.prim_func
    def main(A: T.Buffer((8,), "float32"), B: T.Buffer((16,), "float32"), x: T.int32):
        A[0:4] = B[x:x + 8:2] + T.Broadcast(T.float32(3), 4)
  )",
             R"(
    @T.prim_func
    def main(A: T.Buffer((8,), "float32"), B: T.Buffer((16,), "float32"), x: T.int32):
        for lane in range(4):
            A[lane] = B[x + 2 * lane] + T.float32(3)
  )");
}

TEST(ScalarizeVectors, LanesThatAreReadAfterTheyAreWrittenGoThroughMemoryOfTheirOwn) {
  constexpr std::string_view kShifted = R"(
    @T.prim_func
    def main(A: T.Buffer((9,), "float32")):
        A[1:9] = A[0:8]
  )";
  check_numbers("scalarize_vectors", kShifted);
  EXPECT_EQ(constructs_of(run_step("scalarize_vectors", func_of(kShifted))) & kVectors, kNothing);
}

TEST(ScalarizeVectors, ScalarsStay) {
  check_unchanged("scalarize_vectors", R"(
    @T.prim_func
    def main(A: T.Buffer((5,), "float32")):
        for i in range(5):
            A[i] = T.float32(1)
  )");
}

}  // namespace
}  // namespace tilewright::lower
