// R.loop: types of its results, and what it refuses.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "op_case.h"
#include "tilewright/relax/infer/loop_types.h"

namespace tilewright::testing {
namespace {

using relax::object_type;
using relax::tensor_type;
using relax::tensor_type_of_ndim;
using relax::tuple_type;
using relax::type_text;

Expr none() { return relax::Tuple(relax::TupleNode::make(std::vector<Expr>{})); }
Expr var(const std::string& name, const Type& type) { return relax::Var(relax::VarNode::make(name, type)); }
Expr tuple(const std::vector<Type>& types) {
  std::vector<Expr> fields;
  for (size_t n = 0; n < types.size(); ++n) fields.push_back(var(fmt::format("x{}", n), types[n]));
  return relax::Tuple(relax::TupleNode::make(fields));
}
Type floats(relax::Shape shape) { return tensor_type(std::move(shape), kFloat32); }
Type number() { return tensor_type({}, kInt64); }
Type truth() { return tensor_type({}, DataType::bool_()); }

// A function of the number and the condition of an iteration and `more`, which returns the condition and
// `results`.
Expr body(std::vector<Type> more, std::vector<Type> results, bool is_pure = true) {
  more.insert(more.begin(), {number(), truth()});
  results.insert(results.begin(), truth());
  const Type type = relax::CallableTypeNode::make(more, Type(tuple_type(results)), is_pure, false);
  return GlobalVar(GlobalVarNode::make("body", type));
}
std::string loop(const Expr& body, const Expr& most, const Expr& condition, const Expr& carried,
                 const Expr& captured) {
  return type_text(relax::infer_type(relax::call_op("loop", {body, most, condition, carried, captured})));
}

std::string refusal(const Expr& body, const Expr& most, const Expr& condition, const Expr& carried) {
  try {
    loop(body, most, condition, carried, none());
  } catch (const Error& error) {
    return error.render();
  }
  return "accepted";
}

TEST(Loop, TypesOfCarriedAndCollectedValues) {
  const tir::Var n = tir::make_var("n", kInt64);
  const Expr same = body({floats({n, extent_imm(5)})}, {floats({n, extent_imm(5)}), floats({n})});
  const Expr start = tuple({floats({extent_imm(7), extent_imm(5)})});
  EXPECT_EQ(loop(same, scalar(int64_t{3}), none(), start, none()),
            "R.Tuple(R.Tensor((7, 5), \"float32\"), R.Tensor((3, 7), \"float32\"))");
  EXPECT_EQ(loop(same, scalar(int64_t{-3}), none(), start, none()),
            "R.Tuple(R.Tensor((7, 5), \"float32\"), R.Tensor((0, 7), \"float32\"))");
  EXPECT_EQ(loop(same, relax::make_constant(runtime::Tensor::zeros({}, kInt64)), none(), start, none()),
            "R.Tuple(R.Tensor((7, 5), \"float32\"), R.Tensor((0, 7), \"float32\"))");
  // the condition decides how many there are
  EXPECT_EQ(loop(same, scalar(int64_t{3}), var("c", truth()), start, none()),
            "R.Tuple(R.Tensor((7, 5), \"float32\"), R.Tensor(\"float32\", ndim=2))");
  EXPECT_EQ(loop(same, var("m", number()), none(), start, none()),
            "R.Tuple(R.Tensor((7, 5), \"float32\"), R.Tensor(\"float32\", ndim=2))");
}

TEST(Loop, ADimensionThatAnIterationChangesIsUnknown) {
  const tir::Var n = tir::make_var("n", kInt64), m = tir::make_var("m", kInt64);
  const Expr grows = body({floats({n}), floats({m})}, {floats({n + m}), floats({m}), floats({n})});
  EXPECT_EQ(
      loop(grows, scalar(int64_t{3}), none(), tuple({floats({extent_imm(0)}), floats({extent_imm(2)})}),
           none()),
      "R.Tuple(R.Tensor(\"float32\", ndim=1), R.Tensor((2,), \"float32\"), R.Tensor(\"float32\", ndim=2))");
  // the second is what the first was an iteration ago
  const Expr follows = body({floats({n}), floats({m})}, {floats({n + extent_imm(1)}), floats({n})});
  EXPECT_EQ(loop(follows, none(), var("c", truth()),
                 tuple({floats({extent_imm(4)}), floats({extent_imm(4)})}), none()),
            "R.Tuple(R.Tensor(\"float32\", ndim=1), R.Tensor(\"float32\", ndim=1))");
  const Expr list = body({object_type()}, {object_type()});
  EXPECT_EQ(loop(list, none(), none(), tuple({object_type()}), none()), "R.Tuple(R.Object)");
}

TEST(Loop, ABodyOfUnknownTypeGivesAnything) {
  EXPECT_EQ(loop(var("f", object_type()), none(), none(), none(), none()), "R.Object");
}

TEST(Loop, Refusals) {
  const Expr plain = body({}, {});
  EXPECT_EQ(refusal(var("f", number()), none(), none(), none()),
            "error: loop: body is R.Tensor((), \"int64\"), expected a function");
  EXPECT_EQ(refusal(body({}, {}, false), none(), none(), none()),
            "error: loop: the body has side effects\n"
            "help: declare it pure: @R.function(pure=True), if it has none");
  EXPECT_EQ(refusal(plain, var("m", truth()), none(), none()),
            "error: loop: most is R.Tensor((), \"bool\"), expected an int64 scalar\n"
            "help: write R.tuple() for none");
  EXPECT_EQ(refusal(plain, none(), var("c", number()), none()),
            "error: loop: condition is R.Tensor((), \"int64\"), expected a bool scalar\n"
            "help: write R.tuple() for none");
  EXPECT_EQ(refusal(plain, none(), none(), var("x", number())),
            "error: loop: carried is R.Tensor((), \"int64\"), expected a tuple");
  EXPECT_EQ(refusal(plain, none(), none(), tuple({number()})),
            "error: loop: body: 3 arguments given, expected 2");
  EXPECT_EQ(
      refusal(body({number()}, {}), none(), none(), tuple({number()})),
      "error: loop: the body returns R.Tuple(R.Tensor((), \"bool\")), expected a tuple of the condition, "
      "1 carried value and the values to collect");
  EXPECT_EQ(refusal(body({}, {tuple_type({})}), none(), none(), none()),
            "error: loop: the body returns R.Tuple() to collect, expected a tensor");
  EXPECT_EQ(
      refusal(body({floats({extent_imm(5)})}, {floats({extent_imm(6)})}), none(), none(),
              tuple({floats({extent_imm(7)})})),
      "error: loop: body: argument 2 is R.Tensor((7,), \"float32\"), expected R.Tensor((5,), \"float32\")");
}

}  // namespace
}  // namespace tilewright::testing
