// Refusals of the block builder that Python cannot cause.
#include <gtest/gtest.h>

#include "tilewright/relax/build/block_builder.h"
#include "tilewright/support/error.h"

namespace tilewright::relax {
namespace {

std::string refused(const std::function<void(BlockBuilder&)>& use) {
  BlockBuilder builder;
  builder.begin_function("main", std::vector<Var>{});
  try {
    use(builder);
  } catch (const UserError& error) {
    return error.render();
  }
  return "nothing is raised";
}

TEST(BlockBuilder, AnOpenScopeHasNoFunctionOutput) {
  EXPECT_EQ(refused([](BlockBuilder& builder) {
              builder.begin_scope();
              builder.emit_func_output(TupleNode::make(std::vector<Expr>{}));
            }),
            "error: emit_func_output: a scope inside function main is open");
}

TEST(BlockBuilder, NothingIsNoExpression) {
  EXPECT_EQ(refused([](BlockBuilder& builder) { builder.emit(nullptr); }), "error: an expression is missing");
}

}  // namespace
}  // namespace tilewright::relax
