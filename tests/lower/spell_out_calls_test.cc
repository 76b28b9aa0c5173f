// Functions that machines lack are arithmetic.
#include "lower_testing.h"
#include "tilewright/support/format.h"

namespace tilewright::lower {
namespace {

TEST(SpellOutCalls, ProductThatIsShifted) {
  check_pass("spell_out_calls", R"(
    @T.prim_func
    def main(A: T.Buffer((7,), "int32")):
        for i in range(7):
            A[i] = T.q_multiply_shift(A[i], 1100000000, 31, 1)
  )",
             R"(
    @T.prim_func
    def main(A: T.Buffer((7,), "int32")):
        for i in range(7):
            A[i] = T.Cast("int32", T.shift_right(T.Cast("int64", A[i]) * T.int64(1100000000) + T.int64(2147483648), T.int64(32)))
  )");
}

TEST(SpellOutCalls, ShiftsOnBothSides) {
  check_numbers("spell_out_calls", R"(
    @T.prim_func
    def main(A: T.Buffer((7,), "int32"), B: T.Buffer((7,), "int32")):
        for i in range(7):
            A[i] = T.q_multiply_shift_per_axis(A[i], 1100000000, 3, 1, 31, B[i] > 0, True)
  )");
}

TEST(SpellOutCalls, PowersOfTwoUpToTheEdges) {
  for (const char* n : {"0", "3", "-3", "127", "-126", "-149", "-150", "300", "-300", "100000", "-100000"}) {
    check_numbers("spell_out_calls", fmt::format(R"(
    @T.prim_func
    def main(A: T.Buffer((7,), "float32"), B: T.Buffer((7,), "float32")):
        for i in range(7):
            B[i] = T.ldexp(A[i], {})
  )",
                                                 n));
  }
}

TEST(SpellOutCalls, SmallPowersAreProducts) {
  check_pass("spell_out_calls", R"(
    @T.prim_func
    def main(A: T.Buffer((5,), "float32"), B: T.Buffer((5,), "float32")):
        A[0] = T.pow(A[0], T.float32(3))
        A[1] = T.pow(A[1], T.float32(-1))
        A[2] = T.pow(A[2], T.float32(0.5))
        A[3] = T.pow(A[3], A[4])
        B[0] = T.pow(B[0], T.float32(4))
        B[1] = T.pow(B[1], T.float32(2))
  )",
             R"(
    @T.prim_func
    def main(A: T.Buffer((5,), "float32"), B: T.Buffer((5,), "float32")):
        A[0] = A[0] * A[0] * A[0]
        A[1] = T.float32(1) / A[1]
        A[2] = T.pow(A[2], T.float32(0.5))
        A[3] = T.pow(A[3], A[4])
        B[0] = B[0] * B[0] * (B[0] * B[0])
        B[1] = B[1] * B[1]
  )");
}

TEST(SpellOutCalls, OtherCallsAreLeftAlone) {
  check_unchanged("spell_out_calls", R"(
    @T.prim_func
    def main(A: T.Buffer((7,), "float32")):
        for i in range(7):
            A[i] = T.exp(A[i])
  )");
}

}  // namespace
}  // namespace tilewright::lower
