// Integers of less than 8 bits become parts of bytes.
#include "lower_testing.h"
#include "tilewright/ir/walk.h"
#include "tilewright/script/print.h"
#include "tilewright/support/error.h"

namespace tilewright::lower {
namespace {

TEST(PackElements, TwoLieInAByte) {
  const PrimFunc func = run_step("pack_elements", func_of(R"(
    @T.prim_func
    def main(Y: T.Buffer((5,), "int32")):
        C = T.alloc_buffer((5,), "uint4")
        C[3] = T.Cast("uint4", Y[0])
        Y[1] = T.Cast("int32", C[3])
  )"));
  EXPECT_EQ(script::print(func), R"(# from tilewright.script import tir as T

@T.prim_func
def main(Y: T.Buffer((5,), "int32")):
    C = T.decl_buffer((3,), "uint8")
    for byte in range(3):
        C[byte] = T.uint8(0)
    C[1] = T.bitwise_or(
        T.bitwise_and(C[1], T.bitwise_not(T.shift_left(T.uint8(15), T.uint8(4)))),
        T.shift_left(
            T.bitwise_and(T.bitwise_and(T.Cast("uint8", Y[0]), T.uint8(15)), T.uint8(15)), T.uint8(4)
        ),
    )
    Y[1] = T.Cast("int32", T.bitwise_and(T.shift_right(C[1], T.uint8(4)), T.uint8(15)))
)");
}

TEST(PackElements, ValuesWrapAndKeepTheirSign) {
  check_numbers("pack_elements", R"(
    @T.prim_func
    def main(A: T.Buffer((7,), "int4"), B: T.Buffer((7,), "uint4"), Y: T.Buffer((14,), "int32")):
        for i in range(7):
            a: T.int4 = A[i] * A[i] * A[i] - T.int4(5)
            Y[i] = T.Cast("int32", T.max(a, T.abs(A[i])) // (a + T.int4(7) * T.int4(0) - a + T.int4(2)))
            Y[i + 7] = T.Cast("int32", T.shift_left(B[i], T.uint4(3)) + T.Select(B[i] < T.uint4(2), B[i], ~B[i]))
  )");
}

TEST(PackElements, NumbersOfOneAndTwoBits) {
  check_numbers("pack_elements", R"(
    @T.prim_func
    def main(A: T.Buffer((11,), "int2"), B: T.Buffer((11,), "uint1"), C: T.Buffer((11,), "int2")):
        for i in range(11):
            C[10 - i] = A[i] + T.Cast("int2", B[i])
  )");
}

TEST(PackElements, OtherProgramsAreLeftAlone) {
  check_unchanged("pack_elements", R"(
    @T.prim_func
    def main(A: T.Buffer((8,), "int8")):
        for i in T.parallel(8):
            A[i] = A[i] + T.int8(1)
  )");
}

// The kinds of the loops after the pass, outermost first.
std::vector<ForKind> loop_kinds(std::string_view program) {
  std::vector<ForKind> kinds;
  ir::walk(run_step("pack_elements", func_of(program))->body,
           [&](const ForNode* loop) { kinds.push_back(loop->for_kind); });
  return kinds;
}

TEST(PackElements, IterationsThatMeetInAByteRunSerially) {
  EXPECT_EQ(loop_kinds(R"(
    @T.prim_func
    def main(A: T.Buffer((15,), "int4")):
        for i in T.parallel(3):
            for j in range(5):
                A[i * 5 + j] = T.int4(1)
  )"),
            (std::vector{ForKind::kSerial, ForKind::kSerial}));
}

TEST(PackElements, IterationsOfWholeBytesStayParallel) {
  EXPECT_EQ(loop_kinds(R"(
    @T.prim_func
    def main(A: T.Buffer((18,), "int4"), B: T.Buffer((18,), "int4")):
        for i in T.parallel(3):
            for j in range(6):
                A[i * 6 + j] = B[i * 6 + 5 - j] + A[i * 6 + j]
  )"),
            (std::vector{ForKind::kParallel, ForKind::kSerial}));
}

TEST(PackElements, LoopsThatOnlyReadThemStayVectorized) {
  EXPECT_EQ(loop_kinds(R"(
    @T.prim_func
    def main(A: T.Buffer((8,), "int4"), B: T.Buffer((8,), "float32")):
        for i in T.vectorized(8):
            B[i] = T.Cast("float32", A[i])
        for i in T.vectorized(8):
            A[i] = T.Cast("int4", B[i])
  )"),
            (std::vector{ForKind::kVectorized, ForKind::kSerial}));
}

std::string refusal_of(std::string_view program) {
  try {
    run_step("pack_elements", func_of(program));
  } catch (const Unsupported& error) {
    return error.render();
  }
  return "accepted";
}

TEST(PackElements, WhatHasNoFormInBytesIsRefused) {
  EXPECT_EQ(refusal_of(R"(
    @T.prim_func
    def main(A: T.Buffer((8,), "int4")):
        A[0:4] = T.Broadcast(T.int4(1), 4)
  )"),
            "unsupported: buffer A: a vector of int4 is stored, whose elements share bytes\n"
            "  f.py:3:5\n"
            "   3 |     A[0:4] = T.Broadcast(T.int4(1), 4)\n"
            "     |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^\n"
            "help: write a loop over the elements");
  EXPECT_EQ(refusal_of(R"(
    @T.prim_func
    def main(A: T.Buffer((8,), "int4x8")):
        A[0] = A[1]
  )"),
            "unsupported: buffer A has elements of dtype int4x8, vectors of elements narrower than a byte\n"
            "help: make it one of int4 with another dimension");
  EXPECT_EQ(refusal_of(R"(
    @T.prim_func
    def main(A: T.Buffer((8,), "int4"), B: T.Buffer((8,), "int4")):
        A[0] = T.popcount(B[0])
  )"),
            "unsupported: popcount is not supported for int4\n"
            "  f.py:3:12\n"
            "   3 |     A[0] = T.popcount(B[0])\n"
            "     |            ^^^^^^^^^^^^^^^^\n"
            "help: cast to int8 or uint8 first");
  EXPECT_EQ(refusal_of(R"(
    @T.prim_func
    def main(A: T.Buffer((8,), "int4"), x: T.int4):
        A[0] = x
  )"),
            "unsupported: parameter x is a scalar of dtype int4, which is not supported\n"
            "  f.py:2:37\n"
            "   2 | def main(A: T.Buffer((8,), \"int4\"), x: T.int4):\n"
            "     |                                     ^\n"
            "help: take it as int8 and cast it");
}

}  // namespace
}  // namespace tilewright::lower
