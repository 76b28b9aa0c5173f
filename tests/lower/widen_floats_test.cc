// Arithmetic on small floats is computed in float32 and rounded after each operation.
#include "lower_testing.h"

#include "tilewright/tir/builder.h"

namespace tilewright::lower {
namespace {

PrimFunc widen_all(const PrimFunc& func) { return run_step("widen_floats", func); }
PrimFunc widen_but_float16(const PrimFunc& func) {
  return run_step("widen_floats", func, {{"keep_float16", bool_imm(true)}});
}

TEST(WidenFloats, EachOperationIsRounded) {
  check_pass(widen_all, R"(
    @T.prim_func
    def main(X: T.Buffer((5,), "bfloat16"), Y: T.Buffer((5,), "bfloat16")):
        for i in range(5):
            Y[i] = X[i] * X[i] + T.bfloat16(1)
  )",
             R"(
    @T.prim_func
    def main(X: T.Buffer((5,), "bfloat16"), Y: T.Buffer((5,), "bfloat16")):
        for i in range(5):
            Y[i] = T.Cast("bfloat16", T.Cast("float32", T.Cast("bfloat16", T.Cast("float32", X[i]) * T.Cast("float32", X[i]))) + T.float32(1))
  )");
}

TEST(WidenFloats, ConstantsAreThoseOfTheirDtype) {
  check_pass(widen_all, R"(
    @T.prim_func
    def main(X: T.Buffer((5,), "float8_e4m3fn"), Y: T.Buffer((5,), "bool")):
        for i in range(5):
            Y[i] = X[i] < T.float8_e4m3fn(0.1)
  )",
             R"(
    @T.prim_func
    def main(X: T.Buffer((5,), "float8_e4m3fn"), Y: T.Buffer((5,), "bool")):
        for i in range(5):
            Y[i] = T.Cast("float32", X[i]) < T.float32(0.1015625)
  )");
}

TEST(WidenFloats, OnlyFunctionsOfFloat16AreWidenedWhereTheMachineComputesWithIt) {
  check_pass(widen_but_float16, R"(
    @T.prim_func
    def main(X: T.Buffer((5,), "float16"), Y: T.Buffer((5,), "float16")):
        for i in range(5):
            Y[i] = T.exp(X[i]) + X[i]
  )",
             R"(
    @T.prim_func
    def main(X: T.Buffer((5,), "float16"), Y: T.Buffer((5,), "float16")):
        for i in range(5):
            Y[i] = T.Cast("float16", T.exp(T.Cast("float32", X[i]))) + X[i]
  )");
}

TEST(WidenFloats, MovesStay) {
  check_unchanged(widen_all, R"(
    @T.prim_func
    def main(X: T.Buffer((5,), "float8_e5m2"), Y: T.Buffer((5,), "float8_e5m2"), n: T.int32):
        for i in range(5):
            Y[i] = T.if_then_else(i < n, X[i], T.float8_e5m2(2))
  )");
}

}  // namespace
}  // namespace tilewright::lower
