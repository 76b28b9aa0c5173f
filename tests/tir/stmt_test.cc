#include "tilewright/tir/stmt.h"

#include <gtest/gtest.h>

#include "tilewright/ir/services.h"
#include "tilewright/tir/text.h"

namespace tilewright::tir {
namespace {

struct Stmts : testing::Test {
  Var i = make_var("i"), n = make_var("n"), x = make_var("x");
  Buffer buffer = make_buffer("A", {n}, kInt32);
  Stmt first = store(buffer, imm(1), {i}), second = store(buffer, imm(2), {i + 1});

  std::vector<std::string> parts(const Stmt& stmt) const {
    std::vector<std::string> found;
    for_each_part(
        stmt, [&](const PrimExpr& expr) { found.push_back(expr_text(expr)); },
        [&](const Stmt& inner) { found.push_back(inner == first ? "first" : "second"); });
    return found;
  }
};
using Texts = std::vector<std::string>;

TEST_F(Stmts, KindsChooseTheirCases) {
  const auto name = [](const Stmt& stmt) {
    return by_kind(
        stmt, [](const ForNode* loop) { return loop->loop_var->name_hint; },
        [](const BufferStoreNode* store) { return store->buffer->name; },
        [](const auto*) { return std::string("another"); });
  };
  EXPECT_EQ(name(loop(i, imm(7), first)), "i");
  EXPECT_EQ(name(first), "A");
  EXPECT_EQ(name(seq({first, second})), "another");
}

TEST_F(Stmts, PartsStandInFieldOrder) {
  EXPECT_EQ(parts(loop(i, n, first)), (Texts{"0", "n", "first"}));
  EXPECT_EQ(parts(second), (Texts{"2", "i + 1"}));
  EXPECT_EQ(parts(IfThenElseNode::make(i < 5, first, second)), (Texts{"i < 5", "first", "second"}));
  EXPECT_EQ(parts(seq({first, second})), (Texts{"first", "second"}));
  EXPECT_EQ(parts(WhileNode::make(i < 5, first)), (Texts{"i < 5", "first"}));
}

TEST_F(Stmts, WhatIsDefinedAndWhatIsNullAreNoParts) {
  EXPECT_EQ(parts(LetStmtNode::make(n + 1, x, first)), (Texts{"n + 1", "first"}));
  EXPECT_EQ(parts(AllocBufferNode::make(buffer, AttrMap(), first)), (Texts{"first"}));
  EXPECT_EQ(parts(IfThenElseNode::make(i < 5, first)), (Texts{"i < 5", "first"}));
}

TEST_F(Stmts, ABlockIsInItsRealizeAndItsInitBeforeItsBody) {
  const Block block = BlockNode::make("B", std::vector<IterVar>{}, std::vector<Buffer>{},
                                      std::vector<BufferRegion>{}, std::vector<BufferRegion>{},
                                      std::vector<MatchBufferRegion>{}, AttrMap(), first, second);
  EXPECT_EQ(parts(block), (Texts{"first", "second"}));
  const Stmt realize = BlockRealizeNode::make(std::vector<PrimExpr>{}, PrimExpr(i < 5), block);
  std::vector<Stmt> inner;
  for_each_inner(realize, [&](const Stmt& stmt) { inner.push_back(stmt); });
  EXPECT_EQ(inner, std::vector<Stmt>{block});
}

TEST_F(Stmts, WithTheSamePartsItIsTheSameObject) {
  const auto same = [](const auto& part) { return part; };
  for (const Stmt& stmt : {loop(i, n, first), second, seq({first, second})}) {
    EXPECT_EQ(with_parts(stmt, same, same), stmt);
    EXPECT_EQ(with_inner(stmt, same), stmt);
  }
}

TEST_F(Stmts, WhatChangesIsReplaced) {
  const Stmt before = loop(i, n, first);
  const Stmt after = with_parts(
      before, [&](const PrimExpr& part) { return part == PrimExpr(n) ? PrimExpr(imm(7)) : part; },
      [&](const Stmt&) { return second; });
  EXPECT_TRUE(structural_equal(after, loop(i, imm(7), second)));
  EXPECT_EQ(before.as<ForNode>()->body, first);
}

TEST_F(Stmts, ASequenceStaysFlat) {
  const auto twice = [&](const Stmt& stmt) { return stmt == first ? seq({second, second}) : stmt; };
  EXPECT_EQ(with_inner(seq({first, second}), twice).as<SeqStmtNode>()->seq.size(), 3);
  const auto gone = [&](const Stmt& stmt) { return stmt == first ? Stmt() : stmt; };
  EXPECT_EQ(with_inner(seq({first, second}), gone), second);
}

TEST_F(Stmts, OnlyABlockStandsInARealize) {
  const Block block = BlockNode::make("B", std::vector<IterVar>{}, std::vector<Buffer>{},
                                      std::vector<BufferRegion>{}, std::vector<BufferRegion>{},
                                      std::vector<MatchBufferRegion>{}, AttrMap(), Stmt(), first);
  const Stmt realize = BlockRealizeNode::make(std::vector<PrimExpr>{}, PrimExpr(bool_imm(true)), block);
  try {
    with_inner(realize, [&](const Stmt&) { return second; });
    FAIL();
  } catch (const InternalError& error) {
    EXPECT_EQ(error.text(), "a tir.BufferStore cannot stand here");
  }
}

TEST_F(Stmts, HowOftenInnerStatementsRun) {
  EXPECT_EQ(runs_inner(loop(i, n, first)), Runs::kCounted);
  EXPECT_EQ(runs_inner(Stmt(WhileNode::make(i < 5, first))), Runs::kOpen);
  EXPECT_EQ(runs_inner(Stmt(IfThenElseNode::make(i < 5, first))), Runs::kPerhaps);
  EXPECT_EQ(runs_inner(seq({first, second})), Runs::kOnce);
}

}  // namespace
}  // namespace tilewright::tir
