// common_subexpr_elim: an expression that a statement has several times is computed once.
#include "lower_testing.h"

namespace tilewright::lower {
namespace {

TEST(CommonSubexprElim, IndexOfOneStatement) {
  check_pass("common_subexpr_elim", R"(
    @T.prim_func
    def main(A: T.Buffer((35,), "float32"), B: T.Buffer((35,), "float32")):
        for i, j in T.grid(5, 7):
            A[i * 7 + j] = B[i * 7 + j] + T.float32(1)
  )",
             R"(
    @T.prim_func
    def main(A: T.Buffer((35,), "float32"), B: T.Buffer((35,), "float32")):
        for i, j in T.grid(5, 7):
            cse_var_1: T.int32 = i * 7 + j
            A[cse_var_1] = B[cse_var_1] + T.float32(1)
  )");
}

TEST(CommonSubexprElim, PlacedBeforeTheSmallestStatementAroundAllUses) {
  check_pass("common_subexpr_elim", R"(
    @T.prim_func
    def main(A: T.Buffer((35,), "float32"), B: T.Buffer((35,), "float32"), n: T.int32):
        for i in range(5):
            B[0] = T.float32(0)
            for j in range(7):
                A[i * 7 + j] = T.float32(1)
            for j in range(7):
                A[i * 7 + j] = A[i * 7 + j] + T.float32(2)
  )",
             R"(
    @T.prim_func
    def main(A: T.Buffer((35,), "float32"), B: T.Buffer((35,), "float32"), n: T.int32):
        for i in range(5):
            cse_var_1: T.int32 = i * 7
            B[0] = T.float32(0)
            for j in range(7):
                A[cse_var_1 + j] = T.float32(1)
            for j in range(7):
                cse_var_2: T.int32 = cse_var_1 + j
                A[cse_var_2] = A[cse_var_2] + T.float32(2)
  )");
}

TEST(CommonSubexprElim, PartOfALargerValueGetsANameOfItsOwnOnlyWhereItIsUsedAgain) {
  check_pass("common_subexpr_elim", R"(
    @T.prim_func
    def main(A: T.Buffer((5,), "int32"), m: T.int32, n: T.int32):
        A[0] = (m + n) * 3
        A[1] = (m + n) * 3
        A[2] = m + n
        A[3] = (m - n) * 5
        A[4] = (m - n) * 5
  )",
             R"(
    @T.prim_func
    def main(A: T.Buffer((5,), "int32"), m: T.int32, n: T.int32):
        cse_var_1: T.int32 = m + n
        cse_var_2: T.int32 = cse_var_1 * 3
        cse_var_3: T.int32 = (m - n) * 5
        A[0] = cse_var_2
        A[1] = cse_var_2
        A[2] = cse_var_1
        A[3] = cse_var_3
        A[4] = cse_var_3
  )");
}

TEST(CommonSubexprElim, ValueThatMayNotBeNeededStays) {
  check_unchanged("common_subexpr_elim", R"(
    @T.prim_func
    def main(A: T.Buffer((5,), "int32"), n: T.int32):
        if n > 1:
            A[0] = n * 1000
        if n > 2:
            A[1] = n * 1000
  )");
}

// Found by random expressions: the variable is known inside of the value alone.
TEST(CommonSubexprElim, WhatDependsOnAVariableOfAnExpressionStays) {
  check_unchanged("common_subexpr_elim", R"(
    @T.prim_func
    def main(A: T.Buffer((5,), "int32"), n: T.int32):
        v = T.int32()
        A[0] = T.Let((v + 1) * (v + 1), where={v: n * 3})
  )");
}

TEST(CommonSubexprElim, ConditionIsSureToBeComputed) {
  check_pass("common_subexpr_elim", R"(
    @T.prim_func
    def main(A: T.Buffer((5,), "int32"), n: T.int32):
        if n * 3 > 1:
            A[0] = n * 3
  )",
             R"(
    @T.prim_func
    def main(A: T.Buffer((5,), "int32"), n: T.int32):
        cse_var_1: T.int32 = n * 3
        if cse_var_1 > 1:
            A[0] = cse_var_1
  )");
}

TEST(CommonSubexprElim, LoadsAndDivisionsByWhatMayBeZeroStay) {
  check_unchanged("common_subexpr_elim", R"(
    @T.prim_func
    def main(A: T.Buffer((5,), "int32"), m: T.int32, n: T.int32):
        A[0] = A[1] * A[2] + m // n
        A[1] = A[1] * A[2] + m // n
  )");
}

TEST(CommonSubexprElim, ArgumentsOfCallsAreShared) {
  check_pass("common_subexpr_elim", R"(
    @T.prim_func
    def main(A: T.Buffer((5,), "float32"), x: T.float32):
        A[0] = T.exp(x * T.float32(2)) + x * T.float32(2)
  )",
             R"(
    @T.prim_func
    def main(A: T.Buffer((5,), "float32"), x: T.float32):
        cse_var_1: T.float32 = x * T.float32(2)
        A[0] = T.exp(cse_var_1) + cse_var_1
  )");
}

TEST(CommonSubexprElim, OrderOfOperandsAndTypesCount) {
  check_unchanged("common_subexpr_elim", R"(
    @T.prim_func
    def main(A: T.Buffer((5,), "int32"), m: T.int32, n: T.int32):
        A[0] = m - n
        A[1] = n - m
        A[2] = T.Cast("int32", T.Cast("int64", m) - T.Cast("int64", n))
  )");
}

TEST(CommonSubexprElim, FunctionWithBlocksStaysAsItIs) {
  check_unchanged("common_subexpr_elim", R"(
    @T.prim_func
    def main(A: T.Buffer((35,), "float32"), B: T.Buffer((35,), "float32")):
        for i, j in T.grid(5, 7):
            with T.block("A"):
                vi, vj = T.axis.remap("SS", [i, j])
                A[vi * 7 + vj] = B[vi * 7 + vj]
  )");
}

}  // namespace
}  // namespace tilewright::lower
