// Functions made of bindings that read values around them, and branches that leave dataflow blocks.
#include "tilewright/relax/build/lift.h"

#include <gtest/gtest.h>

#include "tilewright/relax/build/block_builder.h"
#include "tilewright/relax/build/branch_blocks.h"
#include "tilewright/relax/graph/type_util.h"
#include "tilewright/relax/infer/op.h"

namespace tilewright::relax {
namespace {

const DataType kFloat = DataType::float_(32);

/// main(x: [n, 7], c: bool) with a branch in its dataflow block.
struct Example {
  tir::Var n = tir::make_var("n", kInt64);
  Var x = VarNode::make("x", tensor_type({n, extent_imm(7)}, kFloat));
  Var c = VarNode::make("c", tensor_type({}, DataType::bool_()));
  BlockBuilder builder;

  // the branch adds `value` to itself
  SeqExpr branch(const Expr& value, std::string_view op) {
    builder.begin_scope();
    builder.begin_dataflow();
    const AnyVar result = builder.emit(call_op(op, {value, value}));
    builder.end_dataflow();
    return builder.end_scope(result);
  }
};

TEST(Lift, VariablesAndDimensionsAroundBecomeParameters) {
  Example example;
  example.builder.begin_function("main", std::vector<Var>{example.x, example.c});
  const Var given = VarNode::make("y", tensor_type({extent_imm(5)}, kFloat));
  example.builder.begin_scope({given});
  const AnyVar sum = example.builder.emit(call_op("relax.add", {example.x, example.x}));
  const SeqExpr body = example.builder.end_scope(TupleNode::make(std::vector<Expr>{sum, given}));
  const Lifted result = lifted({given}, body);
  ASSERT_EQ(result.captured.size(), 1u);
  EXPECT_EQ(result.captured[0].get(), static_cast<const Object*>(example.x.get()));
  ASSERT_EQ(result.function->params.size(), 2u);
  EXPECT_EQ(short_type(result.function->params[1]->type), "float32[n, 7]");
  const Shape* shape = known_shape(Expr(result.function->params[1]));
  EXPECT_NE((*shape)[0].get(), static_cast<const Object*>(example.n.get()));
  EXPECT_EQ(short_type(result.function->ret_type), "tuple(float32[n, 7], float32[5])");
}

TEST(Lift, DimensionsThatNoParameterHasArriveAsAShape) {
  Example example;
  example.builder.begin_function("main", std::vector<Var>{example.x, example.c});
  example.builder.begin_scope();
  const AnyVar zeros =
      example.builder.emit(call_op("relax.zeros", {shape_expr({tir::operator*(example.n, 2)})},
                                   {{"dtype", StringImmNode::make("float32")}}));
  const Lifted result = lifted({}, example.builder.end_scope(zeros));
  ASSERT_EQ(result.captured.size(), 1u);
  ASSERT_TRUE(is<ShapeExprNode>(result.captured[0]));
  EXPECT_EQ(result.function->params[0]->name_hint, "sizes");
  EXPECT_EQ(short_type(result.function->ret_type), "float32[n * 2]");
}

TEST(BranchBlocks, ABranchSplitsTheDataflowBlockAroundIt) {
  Example example;
  example.builder.begin_function("main", std::vector<Var>{example.x, example.c});
  example.builder.begin_dataflow();
  const AnyVar before = example.builder.emit(call_op("relax.exp", {example.x}));
  const Expr chosen = IfNode::make(example.c, Expr(example.branch(before, "relax.add")),
                                   Expr(example.branch(example.x, "relax.multiply")));
  const AnyVar after = example.builder.emit(chosen);
  const AnyVar result = example.builder.emit_output(call_op("relax.add", {after, before}));
  example.builder.end_dataflow();
  example.builder.emit_func_output(result);
  const auto main = ref_as<FunctionNode>(example.builder.get()->lookup("main"));
  const Function changed = with_branches_outside(main);
  const auto* body = changed->body.as<SeqExprNode>();
  ASSERT_EQ(body->blocks.size(), 3u);
  EXPECT_TRUE(is<DataflowBlockNode>(body->blocks[0]));
  EXPECT_TRUE(is<PlainBlockNode>(body->blocks[1]));
  EXPECT_TRUE(is<DataflowBlockNode>(body->blocks[2]));
  // what crosses the blocks is visible outside
  EXPECT_TRUE(is<VarNode>(body->blocks[0]->bindings[0]->var));
  EXPECT_TRUE(is<VarNode>(body->blocks[1]->bindings[0]->var));
  EXPECT_EQ(with_branches_outside(changed), changed);
}

}  // namespace
}  // namespace tilewright::relax
