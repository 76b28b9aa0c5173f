// Rules that say what calls of operators are on a target.
#include "tilewright/lower/functions/intrinsic_rules.h"

#include "lower_testing.h"
#include "tilewright/ir/services.h"
#include "tilewright/support/error.h"
#include "tilewright/tir/builder.h"

namespace tilewright::lower {
namespace {

constexpr std::string_view kExp = R"(
    @T.prim_func
    def main(A: T.Buffer((7,), "float32")):
        for i in range(7):
            A[i] = T.exp(T.exp(A[i]))
  )";

class IntrinsicRules : public testing::Test {
 protected:
  ~IntrinsicRules() override { clear_intrinsic_rules(); }
};

TEST_F(IntrinsicRules, ProgramsWithoutRulesAreTheSameObject) {
  const PrimFunc func = func_of(kExp);
  EXPECT_EQ(with_intrinsic_rules("c", "main", func).get(), func.get());
  add_intrinsic_rule("tir.log", "c", 10, [](const tir::Call& call) -> PrimExpr { return call->args[0]; });
  add_intrinsic_rule("tir.exp", "cuda", 10, [](const tir::Call& call) -> PrimExpr { return call->args[0]; });
  add_intrinsic_rule("tir.exp", "c", 10, [](const tir::Call& call) -> PrimExpr { return call; });
  EXPECT_EQ(with_intrinsic_rules("c", "main", func).get(), func.get());
}

TEST_F(IntrinsicRules, EachCallIsReplacedOnce) {
  add_intrinsic_rule("tir.exp", "c", 10, [](const tir::Call& call) -> PrimExpr {
    return tir::call(call->dtype, "tir.exp", {call->args[0] + call->args[0]});
  });
  const PrimFunc expected = func_of(R"(
    @T.prim_func
    def main(A: T.Buffer((7,), "float32")):
        for i in range(7):
            A[i] = T.exp(T.exp(A[i] + A[i]) + T.exp(A[i] + A[i]))
  )");
  EXPECT_TRUE(ir::structural_equal(with_intrinsic_rules("c", "main", func_of(kExp)), expected));
}

TEST_F(IntrinsicRules, ResultsHaveTheDtypeOfTheCall) {
  add_intrinsic_rule("tir.exp", "c", 10,
                     [](const tir::Call&) -> PrimExpr { return tir::make_const(kInt32, 1); });
  const PrimFunc func = func_of(kExp);
  EXPECT_THROW(with_intrinsic_rules("c", "main", func), UserError);
}

}  // namespace
}  // namespace tilewright::lower
