#include "tilewright/tir/text.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tilewright/tir/builder.h"

namespace tilewright::tir {
namespace {

const Var i = make_var("i"), j = make_var("j");

TEST(ExprText, ParenthesesStandOnlyWhereTheyAreNeeded) {
  EXPECT_EQ(expr_text(i * 4 + j), "i * 4 + j");
  EXPECT_EQ(expr_text((i + j) * 4), "(i + j) * 4");
  EXPECT_EQ(expr_text(i - (j - 1)), "i - (j - 1)");
  EXPECT_EQ(expr_text((i - j) - 1), "i - j - 1");
  EXPECT_EQ(expr_text(floormod(floordiv(i, 4), 3)), "i // 4 % 3");
  EXPECT_EQ(expr_text(floordiv(i, j + 4)), "i // (j + 4)");
  EXPECT_EQ(expr_text(logical_or(logical_and(i < j, j < i), equal(i, imm(3)))), "i < j and j < i or i == 3");
  EXPECT_EQ(expr_text(logical_and(logical_or(i < j, j < i), equal(i, imm(3)))),
            "(i < j or j < i) and i == 3");
  EXPECT_EQ(expr_text(logical_not(i < j)), "not i < j");
  EXPECT_EQ(expr_text(equal(i < j, j < i)), "(i < j) == (j < i)");
  EXPECT_EQ(expr_text(equal(logical_not(i < j), j < i)), "(not i < j) == (j < i)");
}

TEST(ExprText, LiteralsShowTheirTypeUnlessInt32) {
  EXPECT_EQ(expr_text(imm(-5)), "-5");
  EXPECT_EQ(expr_text(imm(5, kInt64)), "5");
  EXPECT_EQ(expr_text(imm(-1, DataType::uint(64))), "18446744073709551615");
  EXPECT_EQ(expr_text(bool_imm(true)), "T.bool(True)");
  EXPECT_EQ(expr_text(float_imm(0)), "T.float32(0)");
  EXPECT_EQ(expr_text(float_imm(-0.0)), "T.float32(-0.0)");
  EXPECT_EQ(expr_text(float_imm(0.1)), "T.float32(0.1)");
  EXPECT_EQ(expr_text(float_imm(1e-5)), "T.float32(1e-05)");
  EXPECT_EQ(expr_text(float_imm(0.1, DataType::float_(64))), "T.float64(0.1)");
  EXPECT_EQ(expr_text(float_imm(INFINITY)), "T.float32(\"inf\")");
  EXPECT_EQ(expr_text(string_imm("a \"b\"\n")), "\"a \\\"b\\\"\\n\"");
}

TEST(ExprText, TwoPlainNumbersAreNotLeftToPython) {
  EXPECT_EQ(expr_text(AddNode::make(imm(1), imm(2))), "T.Add(1, 2)");
  EXPECT_EQ(expr_text(LTNode::make(imm(1), imm(2))), "T.LT(1, 2)");
}

TEST(ExprText, AccessesAndVectors) {
  const Buffer A = make_buffer("A", {imm(4), imm(16)}, kFloat32), S = make_buffer("S", {}, kFloat32);
  EXPECT_EQ(expr_text(load(A, {i, j + 1})), "A[i, j + 1]");
  EXPECT_EQ(expr_text(load(S, {})), "S[()]");
  EXPECT_EQ(expr_text(load(A, {i, RampNode::make(j, imm(1), 4)})), "A[i, j:j + 4]");
  EXPECT_EQ(expr_text(load(A, {i, RampNode::make(imm(0), imm(2), 4)})), "A[i, 0:8:2]");
  EXPECT_EQ(expr_text(RampNode::make(j, imm(1), 4)), "T.Ramp(j, 1, 4)");
  EXPECT_EQ(expr_text(BroadcastNode::make(float_imm(2), 4)), "T.Broadcast(T.float32(2), 4)");
  EXPECT_EQ(region_text(BufferRegionNode::make(
                A, std::vector<Range>{make_range(i, imm(1)), make_range(imm(0), imm(16))})),
            "A[i, 0:16]");
  EXPECT_EQ(indices_text({i, j + 1}), "[i, j + 1]");
}

TEST(ExprText, CallsSayTheirDtypeWhereItDoesNotFollow) {
  const Buffer A = make_buffer("A", {imm(4)}, kFloat32);
  EXPECT_EQ(expr_text(call(kFloat32, "exp", {load(A, {i})})), "T.exp(A[i])");
  EXPECT_EQ(expr_text(call(kInt32, "call_extern", {string_imm("f"), i})),
            "T.call_extern(\"int32\", \"f\", i)");
  EXPECT_EQ(expr_text(call(kFloat32, "if_then_else", {i < j, load(A, {i}), float_imm(0)})),
            "T.if_then_else(i < j, A[i], T.float32(0))");
  EXPECT_EQ(expr_text(call(kFloat32, "call_packed", {string_imm("f"), i})),
            "T.call_packed(\"f\", i, dtype=\"float32\")");
  EXPECT_EQ(expr_text(max(load(A, {i}), float_imm(0))), "T.max(A[i], T.float32(0))");
  EXPECT_EQ(expr_text(cast(kFloat32, i + 1)), "T.Cast(\"float32\", i + 1)");
  EXPECT_EQ(expr_text(div(i, j)), "T.truncdiv(i, j)");
}

TEST(ExprText, PlacesOfNodesAreKept) {
  ExprWriter writer;
  writer.keeps_places = true;
  const PrimExpr inner = j + 1;
  writer.expr(i * inner);
  for (const auto& place : writer.places) {
    if (place.node == inner.get())
      EXPECT_EQ(writer.out.substr(place.begin, place.end - place.begin), "j + 1");
  }
  EXPECT_EQ(writer.out, "i * (j + 1)");
  EXPECT_EQ(writer.places.size(), 5u);
}

}  // namespace
}  // namespace tilewright::tir
