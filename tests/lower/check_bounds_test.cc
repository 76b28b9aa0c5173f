// Accesses are checked where they are not proved, in functions that ask for it.
#include <gmock/gmock.h>

#include "lower_testing.h"
#include "tilewright/ir/walk.h"
#include "tilewright/tir/builder.h"
#include "tilewright/tir/text.h"

namespace tilewright::lower {
namespace {

PrimFunc asking(std::string_view text) {
  return with(func_of(text),
              [](PrimFuncNode& changed) { changed.attrs.set(std::string(kCheckBounds), string_imm("f")); });
}

// The conditions under which the checked program reports an error, as text.
std::vector<std::string> conditions(std::string_view text) {
  std::vector<std::string> found;
  walk(run_step("check_bounds", asking(text))->body, [&](const IfThenElseNode* node) {
    const auto* evaluate = node->then_case.as<EvaluateNode>();
    const auto* call = evaluate ? evaluate->value.as<CallNode>() : nullptr;
    const auto* op = call ? call->op.as<OpNode>() : nullptr;
    if (op && op->name == "tir.raise_error") found.push_back(expr_text(node->condition));
  });
  return found;
}

TEST(CheckBounds, FunctionThatDoesNotAskStaysTheSame) {
  check_unchanged("check_bounds", R"(
    @T.prim_func
    def main(A: T.Buffer((8,), "float32"), J: T.Buffer((4,), "int32")):
        for i in range(4):
            A[J[i]] = T.float32(0)
  )");
}

TEST(CheckBounds, WhatIsProvedIsNotChecked) {
  constexpr std::string_view kText = R"(
    @T.prim_func
    def main(a: T.handle, B: T.Buffer((19,), "float32")):
        n = T.int32()
        A = T.match_buffer(a, (n, 4))
        for i in range(n):
            for j in T.vectorized(4):
                A[i, j] = B[j * 2 + 1]
        for i, j in T.grid(5, 4):
            if i * 4 + j < 19:
                B[i * 4 + j] = T.float32(1)
  )";
  EXPECT_THAT(conditions(kText), ::testing::IsEmpty());
  const PrimFunc func = asking(kText);
  EXPECT_EQ(run_step("check_bounds", func)->body, func->body);
}

TEST(CheckBounds, OnlyTheSideThatIsNotProvedIsChecked) {
  EXPECT_THAT(conditions(R"(
    @T.prim_func
    def main(A: T.Buffer((8,), "float32"), n: T.int32):
        for i in range(n):
            A[i] = T.float32(0)
  )"),
              ::testing::ElementsAre("i >= 8"));
}

TEST(CheckBounds, InnerLoadsAreCheckedFirst) {
  EXPECT_THAT(conditions(R"(
    @T.prim_func
    def main(A: T.Buffer((8,), "float32"), J: T.Buffer((4,), "int32"), n: T.int32):
        A[J[n]] = T.float32(0)
  )"),
              ::testing::ElementsAre("n < 0 or n >= 4", "J[n] < 0 or J[n] >= 8"));
}

TEST(CheckBounds, ChosenValuesAreCheckedWhereTheyAreChosen) {
  EXPECT_THAT(conditions(R"(
    @T.prim_func
    def main(A: T.Buffer((8,), "float32"), B: T.Buffer((9,), "float32")):
        for i in range(9):
            B[i] = T.if_then_else(i < 7, A[i + 1], A[i])
  )"),
              ::testing::ElementsAre("not i < 7 and i >= 8"));
}

TEST(CheckBounds, NestOfTileInstructionsThatIsCheckedIsALoop) {
  const PrimFunc func = run_step("check_bounds", asking(R"(
    @T.prim_func
    def main(A: T.Buffer((8,), "float32"), n: T.int32):
        for i in T.serial(n, annotations={"matrix_tiles": True}):
            A[i] = T.float32(0)
        for i in T.serial(8, annotations={"matrix_tiles": True}):
            A[i] = T.float32(0)
  )"));
  int num_nests = 0;
  walk(func->body, [&](const ForNode* loop) { num_nests += loop->annotations.contains("matrix_tiles"); });
  EXPECT_EQ(num_nests, 1);
}

}  // namespace
}  // namespace tilewright::lower
