// hoist_expression: conditions that no iteration of a loop changes are decided before the loop.
#include "lower_testing.h"

namespace tilewright::lower {
namespace {

TEST(HoistExpression, ConditionLeavesTheLoopsThatDoNotChangeIt) {
  check_pass("hoist_expression", R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7, 3), "float32")):
        for i in range(5):
            for j in range(7):
                for k in range(3):
                    if i < 4:
                        A[i, j, k] = T.float32(1)
  )",
             R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7, 3), "float32")):
        for i in range(5):
            if i < 4:
                for j in range(7):
                    for k in range(3):
                        A[i, j, k] = T.float32(1)
  )");
}

TEST(HoistExpression, BothBranchesGetTheLoop) {
  check_pass("hoist_expression", R"(
    @T.prim_func
    def main(A: T.Buffer((5,), "float32"), n: T.int32):
        for i in range(5):
            if n > 3:
                A[i] = T.float32(1)
            else:
                A[i] = T.float32(2)
  )",
             R"(
    @T.prim_func
    def main(A: T.Buffer((5,), "float32"), n: T.int32):
        if n > 3:
            for i in range(5):
                A[i] = T.float32(1)
        else:
            for i in range(5):
                A[i] = T.float32(2)
  )");
}

TEST(HoistExpression, DefinitionLeavesTheLoopAndTheConditionBehindIt) {
  check_pass("hoist_expression", R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7), "float32"), n: T.int32):
        for i in range(5):
            for j in range(7):
                x: T.int32 = i * 2
                if x < n:
                    A[i, j] = T.float32(x)
  )",
             R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7), "float32"), n: T.int32):
        for i in range(5):
            x: T.int32 = i * 2
            if x < n:
                for j in range(7):
                    A[i, j] = T.float32(x)
  )");
}

TEST(HoistExpression, LoadLeavesTheLoopThatDoesNotWriteIt) {
  check_pass("hoist_expression", R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7), "float32"), B: T.Buffer((5,), "float32")):
        for i in range(5):
            for j in range(7):
                if B[i] > T.float32(1):
                    A[i, j] = T.float32(1)
  )",
             R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7), "float32"), B: T.Buffer((5,), "float32")):
        for i in range(5):
            if B[i] > T.float32(1):
                for j in range(7):
                    A[i, j] = T.float32(1)
  )");
}

TEST(HoistExpression, WhatTheLoopWritesStays) {
  check_unchanged("hoist_expression", R"(
    @T.prim_func
    def main(A: T.Buffer((5,), "float32")):
        for i in range(4):
            if A[0] < T.float32(3):
                A[i + 1] = A[i] + T.float32(1)
                A[0] = A[0] + T.float32(1)
  )");
}

TEST(HoistExpression, StatementBeforeTheConditionKeepsItInside) {
  check_unchanged("hoist_expression", R"(
    @T.prim_func
    def main(A: T.Buffer((5,), "float32"), B: T.Buffer((5,), "float32"), n: T.int32):
        for i in range(5):
            B[i] = T.float32(0)
            if n > 3:
                A[i] = T.float32(1)
  )");
}

TEST(HoistExpression, LoopThatMayHaveNoIterationKeepsWhatCouldFail) {
  // with n = 0 there is no A[n - 1]
  check_unchanged("hoist_expression", R"(
    @T.prim_func
    def main(A: T.Buffer((5,), "float32"), B: T.Buffer((5,), "float32"), n: T.int32):
        for i in range(n):
            if A[n - 1] > T.float32(1):
                B[i] = T.float32(1)
  )");
}

TEST(HoistExpression, LoopThatMayHaveNoIterationGivesAComparison) {
  check_pass("hoist_expression", R"(
    @T.prim_func
    def main(B: T.Buffer((5,), "float32"), m: T.int32, n: T.int32):
        for i in range(m):
            if n > 3:
                B[i] = T.float32(1)
  )",
             R"(
    @T.prim_func
    def main(B: T.Buffer((5,), "float32"), m: T.int32, n: T.int32):
        if n > 3:
            for i in range(m):
                B[i] = T.float32(1)
  )");
}

TEST(HoistExpression, CallWithAnEffectStays) {
  check_unchanged("hoist_expression", R"(
    @T.prim_func
    def main(B: T.Buffer((5,), "float32")):
        for i in range(5):
            if T.call_extern("int32", "next") > 3:
                B[i] = T.float32(1)
  )");
}

TEST(HoistExpression, DivisionThatOnlySomeIterationsMakeLeavesTheLoop) {
  check_pass("hoist_expression", R"(
    @T.prim_func
    def main(A: T.Buffer((14, 5), "float32"), B: T.Buffer((7,), "float32"), n: T.int32):
        for i in range(14):
            for j in range(5):
                A[i, j] = T.if_then_else(j < 3, T.float32(0), B[i % n] + B[i % n // n])
  )",
             R"(
    @T.prim_func
    def main(A: T.Buffer((14, 5), "float32"), B: T.Buffer((7,), "float32"), n: T.int32):
        for i in range(14):
            q: T.int32 = i % n
            q_1: T.int32 = i % n // n
            for j in range(5):
                A[i, j] = T.if_then_else(j < 3, T.float32(0), B[q] + B[q_1])
  )");
}

TEST(HoistExpression, DivisionThatEveryIterationMakesOrThatIterationsChangeStays) {
  check_unchanged("hoist_expression", R"(
    @T.prim_func
    def main(A: T.Buffer((14, 5), "float32"), B: T.Buffer((7,), "float32"), n: T.int32):
        for i in range(14):
            for j in range(5):
                A[i, j] = B[i % n] + T.if_then_else(j < 3, B[j % n], B[i % 7])
  )");
}

}  // namespace
}  // namespace tilewright::lower
