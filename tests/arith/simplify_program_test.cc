// Simplification of statements: before and after, built by hand.
#include <gtest/gtest.h>

#include "show.h"
#include "tilewright/arith/analyzer.h"
#include "tilewright/arith/expr_util.h"
#include "tilewright/ir/services.h"
#include "tilewright/tir/builder.h"

namespace tilewright::arith_test {
using namespace tir;
using arith::simplify;

struct SimplifyProgram : testing::Test {
  Var i = make_var("i"), j = make_var("j"), n = make_var("n"), x = make_var("x");
  Buffer buffer = make_buffer("A", {imm(128)}, kFloat32);
  Stmt write(PrimExpr index) { return store(buffer, float_imm(1), {index}); }
  void expect(const Stmt& before, const Stmt& after) {
    const Stmt now = simplify(before);
    EXPECT_TRUE(structural_equal(now, after)) << repr(now);
  }
};

TEST_F(SimplifyProgram, AGuardThatAlwaysHoldsGoes) {
  // for i in 32: for j in 4: if i * 4 + j < 128: A[i * 4 + j] = 1
  Stmt body = write(i * 4 + j);
  expect(loop(i, imm(32), loop(j, imm(4), IfThenElseNode::make(i * 4 + j < 128, body, Stmt()))),
         loop(i, imm(32), loop(j, imm(4), body)));
}

TEST_F(SimplifyProgram, AGuardThatMayFailStays) {
  Stmt program =
      loop(i, imm(32), loop(j, imm(4), IfThenElseNode::make(i * 4 + j < 127, write(i * 4 + j), Stmt())));
  EXPECT_EQ(simplify(program), program);
}

TEST_F(SimplifyProgram, SplitIndicesAreJoined) {
  expect(loop(i, imm(127), write(floordiv(i, 4) * 4 + floormod(i, 4))), loop(i, imm(127), write(i)));
}

TEST_F(SimplifyProgram, ALoopThatNeverRunsGoes) {
  expect(loop(i, imm(5) - 5, write(i)), EvaluateNode::make(imm(0)));
}

TEST_F(SimplifyProgram, ALetOfALiteralIsInlined) {
  expect(LetStmtNode::make(imm(3) + imm(4), x, write(PrimExpr(x) + 1)), write(imm(8)));
}

TEST_F(SimplifyProgram, AConditionOnMemoryIsNotRemembered) {
  // if A[0] > 0: A[0] = 1; if A[0] > 0: A[1] = 1
  PrimExpr condition = load(buffer, {imm(0)}) > float_imm(0);
  Stmt program = IfThenElseNode::make(
      condition, seq({write(imm(0)), IfThenElseNode::make(condition, write(imm(1)), Stmt())}), Stmt());
  EXPECT_EQ(simplify(program), program);
}

TEST_F(SimplifyProgram, AnAssertionHoldsInWhatFollows) {
  Stmt check = AssertStmtNode::make(n < 4, std::string("n is small"));
  expect(seq({check, IfThenElseNode::make(n < 9, write(n), Stmt())}), seq({check, write(n)}));
}

TEST_F(SimplifyProgram, BlockAxesAreKnown) {
  // with block: vi = axis.spatial(128, i * 4 + j);  A[vi // 128 + vi] = 1
  Var vi = make_var("vi");
  IterVar axis = IterVarNode::make(vi, make_range(imm(0), imm(128)), IterType::kSpatial);
  auto program = [&](PrimExpr index, PrimExpr predicate) {
    BufferRegion region = BufferRegionNode::make(buffer, std::vector<Range>{make_range(index, imm(1))});
    Block block = BlockNode::make(std::string("b"), std::vector<IterVar>{axis}, std::vector<Buffer>{},
                                  std::vector<BufferRegion>{}, std::vector<BufferRegion>{region},
                                  std::vector<MatchBufferRegion>{}, AttrMap(), Stmt(), write(index));
    Stmt realize = BlockRealizeNode::make(std::vector<PrimExpr>{i * 4 + j}, predicate, block);
    return loop(i, imm(32), loop(j, imm(4), realize));
  };
  expect(program(floordiv(vi, 128) + vi, i * 4 + j < 128), program(vi, bool_imm(true)));
}

TEST_F(SimplifyProgram, LoadsAndCallsOfWhatIsNotPureReadMemory) {
  EXPECT_TRUE(arith::reads_memory(load(buffer, {i})));
  EXPECT_TRUE(arith::reads_memory(call(kInt32, "call_packed", {string_imm("f")}) + 1));
  EXPECT_FALSE(arith::reads_memory(call(kFloat32, "exp", {float_imm(1)})));
  EXPECT_FALSE(arith::reads_memory(i + 1));
}

}  // namespace tilewright::arith_test
