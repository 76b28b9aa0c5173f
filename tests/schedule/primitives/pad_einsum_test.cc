// pad_einsum: sums of products over lengths that are multiples, on padded copies.
#include "primitive_programs.h"
#include "schedule_testing.h"
#include "tilewright/ir/services.h"

namespace tilewright::schedule {
namespace {

TEST(PadEinsum, OperandsGetZerosAtTheEnds) {
  check_schedule(kMatmul, [](Schedule& sch) { sch.call("pad_einsum", "Y", ArgValue{4, 3, 8}); }, R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7), "float32"), B: T.Buffer((7, 3), "float32"), Y: T.Buffer((5, 3), "float32")):
        Y_pad = T.alloc_buffer((8, 3))
        A_pad = T.alloc_buffer((8, 8))
        B_pad = T.alloc_buffer((8, 3))
        for ax0, ax1 in T.grid(8, 8):
            with T.block("A_pad"):
                v0, v1 = T.axis.remap("SS", [ax0, ax1])
                A_pad[v0, v1] = T.if_then_else(v0 < 5 and v1 < 7, A[v0, v1], T.float32(0))
        for ax0, ax1 in T.grid(8, 3):
            with T.block("B_pad"):
                v0, v1 = T.axis.remap("SS", [ax0, ax1])
                B_pad[v0, v1] = T.if_then_else(v0 < 7, B[v0, v1], T.float32(0))
        for i, j, k in T.grid(8, 3, 8):
            with T.block("Y"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    Y_pad[vi, vj] = T.float32(0)
                Y_pad[vi, vj] = Y_pad[vi, vj] + A_pad[vi, vk] * B_pad[vk, vj]
        for ax0, ax1 in T.grid(5, 3):
            with T.block("Y_pad"):
                v0, v1 = T.axis.remap("SS", [ax0, ax1])
                Y[v0, v1] = Y_pad[v0, v1]
  )");
}

TEST(PadEinsum, OpenExtentsBecomeMultiples) {
  Schedule sch(module_of(R"(
    @T.prim_func
    def main(a: T.handle, b: T.handle, y: T.handle):
        n, m, k = T.int32(), T.int32(), T.int32()
        A = T.match_buffer(a, (n, k))
        B = T.match_buffer(b, (k, m))
        Y = T.match_buffer(y, (n, m))
        for i, j, l in T.grid(n, m, k):
            with T.block("Y"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, l])
                with T.init():
                    Y[vi, vj] = T.float32(0)
                Y[vi, vj] = Y[vi, vj] + A[vi, vk] * B[vk, vj]
  )"));
  sch.call("pad_einsum", "Y", ArgValue{4, 1, 8});
  EXPECT_TRUE(structural_equal(sch.module(), module_of(R"(
    @T.prim_func
    def main(a: T.handle, b: T.handle, y: T.handle):
        n, m, k = T.int32(), T.int32(), T.int32()
        A = T.match_buffer(a, (n, k))
        B = T.match_buffer(b, (k, m))
        Y = T.match_buffer(y, (n, m))
        Y_pad = T.alloc_buffer(((n + 3) // 4 * 4, m))
        A_pad = T.alloc_buffer(((n + 3) // 4 * 4, (k + 7) // 8 * 8))
        B_pad = T.alloc_buffer(((k + 7) // 8 * 8, m))
        for ax0, ax1 in T.grid((n + 3) // 4 * 4, (k + 7) // 8 * 8):
            with T.block("A_pad"):
                v0, v1 = T.axis.remap("SS", [ax0, ax1])
                A_pad[v0, v1] = T.if_then_else(v0 < n and v1 < k, A[v0, v1], T.float32(0))
        for ax0, ax1 in T.grid((k + 7) // 8 * 8, m):
            with T.block("B_pad"):
                v0, v1 = T.axis.remap("SS", [ax0, ax1])
                B_pad[v0, v1] = T.if_then_else(v0 < k, B[v0, v1], T.float32(0))
        for i, j, l in T.grid((n + 3) // 4 * 4, m, (k + 7) // 8 * 8):
            with T.block("Y"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, l])
                with T.init():
                    Y_pad[vi, vj] = T.float32(0)
                Y_pad[vi, vj] = Y_pad[vi, vj] + A_pad[vi, vk] * B_pad[vk, vj]
        for ax0, ax1 in T.grid(n, m):
            with T.block("Y_pad"):
                v0, v1 = T.axis.remap("SS", [ax0, ax1])
                Y[v0, v1] = Y_pad[v0, v1]
  )")))
      << show(sch.module());
  sch.verify();
}

TEST(PadEinsum, OnlyWhatTheBlockWritesIsCopiedBack) {
  check_schedule(
      R"(
    @T.prim_func
    def main(A: T.Buffer((2, 5), "float32"), Y: T.Buffer((2, 5), "float32")):
        for i in range(5):
            with T.block("first"):
                vi = T.axis.spatial(5, i)
                Y[0, vi] = A[0, vi]
        for i in range(5):
            with T.block("second"):
                vi = T.axis.spatial(5, i)
                Y[1, vi] = A[1, vi] * T.float32(2)
  )",
      [](Schedule& sch) { sch.call("pad_einsum", "second", ArgValue::List{4}); }, R"(
    @T.prim_func
    def main(A: T.Buffer((2, 5), "float32"), Y: T.Buffer((2, 5), "float32")):
        Y_pad = T.alloc_buffer((2, 8))
        A_pad = T.alloc_buffer((2, 8))
        for i in range(5):
            with T.block("first"):
                vi = T.axis.spatial(5, i)
                Y[0, vi] = A[0, vi]
        for ax1 in range(8):
            with T.block("A_pad"):
                v1 = T.axis.spatial(8, ax1)
                A_pad[1, v1] = T.if_then_else(v1 < 5, A[1, v1], T.float32(0))
        for i in range(8):
            with T.block("second"):
                vi = T.axis.spatial(8, i)
                Y_pad[1, vi] = A_pad[1, vi] * T.float32(2)
        for ax1 in range(5):
            with T.block("Y_pad"):
                v1 = T.axis.spatial(5, ax1)
                Y[1, v1] = Y_pad[1, v1]
  )");
}

TEST(PadEinsum, OfADiagonalOnlyItsElementsAreCopied) {
  check_schedule(
      R"(
    @T.prim_func
    def main(A: T.Buffer((5, 5), "float32"), Y: T.Buffer((5,), "float32")):
        for i in range(5):
            with T.block("Y"):
                vi = T.axis.spatial(5, i)
                Y[vi] = A[vi, vi]
  )",
      [](Schedule& sch) { sch.call("pad_einsum", "Y", ArgValue::List{4}); }, R"(
    @T.prim_func
    def main(A: T.Buffer((5, 5), "float32"), Y: T.Buffer((5,), "float32")):
        Y_pad = T.alloc_buffer((8,))
        A_pad = T.alloc_buffer((8, 8))
        for ax0 in range(8):
            with T.block("A_pad"):
                v0 = T.axis.spatial(8, ax0)
                A_pad[v0, v0] = T.if_then_else(v0 < 5, A[v0, v0], T.float32(0))
        for i in range(8):
            with T.block("Y"):
                vi = T.axis.spatial(8, i)
                Y_pad[vi] = A_pad[vi, vi]
        for ax0 in range(5):
            with T.block("Y_pad"):
                v0 = T.axis.spatial(5, ax0)
                Y[v0] = Y_pad[v0]
  )");
}

TEST(PadEinsum, AnAxisOfABlockAroundStaysAsItIs) {
  check_schedule(
      R"(
    @T.prim_func
    def main(A: T.Buffer((3, 5), "float32"), Y: T.Buffer((3, 5), "float32")):
        for i in range(3):
            with T.block("row"):
                vi = T.axis.spatial(3, i)
                for j in range(5):
                    with T.block("Y"):
                        vj = T.axis.spatial(5, j)
                        Y[vi, vj] = A[vi, vj]
  )",
      [](Schedule& sch) { sch.call("pad_einsum", "Y", ArgValue::List{4}); }, R"(
    @T.prim_func
    def main(A: T.Buffer((3, 5), "float32"), Y: T.Buffer((3, 5), "float32")):
        for i in range(3):
            with T.block("row"):
                vi = T.axis.spatial(3, i)
                T.reads(A[vi, 0:5])
                T.writes(Y[vi, 0:5])
                Y_pad = T.alloc_buffer((3, 8))
                A_pad = T.alloc_buffer((3, 8))
                for ax1 in range(8):
                    with T.block("A_pad"):
                        v1 = T.axis.spatial(8, ax1)
                        A_pad[vi, v1] = T.if_then_else(v1 < 5, A[vi, v1], T.float32(0))
                for j in range(8):
                    with T.block("Y"):
                        vj = T.axis.spatial(8, j)
                        Y_pad[vi, vj] = A_pad[vi, vj]
                for ax1 in range(5):
                    with T.block("Y_pad"):
                        v1 = T.axis.spatial(5, ax1)
                        Y[vi, v1] = Y_pad[vi, v1]
  )");
}

TEST(PadEinsum, BlocksThatGoOnWithWhatIsThereAreRefused) {
  check_refused(
      R"(
    @T.prim_func
    def main(A: T.Buffer((5,), "float32")):
        for i in range(5):
            with T.block("A"):
                vi = T.axis.spatial(5, i)
                A[vi] = A[vi] * T.float32(2)
  )",
      [](Schedule& sch) { sch.call("pad_einsum", "A", ArgValue::List{4}); }, R"(
    error: pad_einsum: block A reads A, which it also writes
      f.py:4:14
       3 |     for i in range(5):
       4 |         with T.block("A"):
         |              ^^^^^^^^^^^^
       5 |             vi = T.axis.spatial(5, i)
  )");
}

TEST(PadEinsum, MultiplesChangeNothing) {
  const IRModule module = module_of(kMatmul);
  Schedule sch(module);
  sch.call("pad_einsum", "Y", ArgValue{5, 1, 7});
  EXPECT_EQ(sch.module(), module);
}

TEST(PadEinsum, WhatZerosWouldChangeIsRefused) {
  const auto place = [](const std::string& loops, const std::string& axes) {
    return "\n  f.py:4:14\n   3 |     for " + loops +
           ":\n   4 |         with T.block(\"Y\"):\n     |              ^^^^^^^^^^^^\n   5 |             " +
           axes;
  };
  const std::string three =
      place("i, j, k in T.grid(5, 3, 7)", "vi, vj, vk = T.axis.remap(\"SSR\", [i, j, k])");
  check_refused(
      kMatmul, [](Schedule& sch) { sch.call("pad_einsum", "Y", ArgValue{4, 4}); },
      "error: pad_einsum: 2 paddings are given for the 3 axes of block Y" + three);
  check_refused(
      kMatmul, [](Schedule& sch) { sch.call("pad_einsum", "Y", ArgValue{4, 0, 4}); },
      "error: pad_einsum: padding 0 is not between 1 and 1048576" + three);
  check_refused(
      R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7), "float32"), Y: T.Buffer((5,), "float32")):
        for i, k in T.grid(5, 7):
            with T.block("Y"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    Y[vi] = T.float32(-100)
                Y[vi] = T.max(Y[vi], A[vi, vk])
  )",
      [](Schedule& sch) { sch.call("pad_einsum", "Y", ArgValue{1, 4}); },
      "error: pad_einsum: zeros along axis vk would change the result of block Y: T.max(Y[vi], A[vi, vk])" +
          place("i, k in T.grid(5, 7)", "vi, vk = T.axis.remap(\"SR\", [i, k])"));
  check_refused(
      R"(
    @T.prim_func
    def main(A: T.Buffer((8,), "float32"), Y: T.Buffer((5,), "float32")):
        for i in range(5):
            with T.block("Y"):
                vi = T.axis.spatial(5, i)
                Y[vi] = A[vi + 3]
  )",
      [](Schedule& sch) { sch.call("pad_einsum", "Y", ArgValue::List{4}); },
      "error: pad_einsum: index vi + 3 of A is neither an axis nor a constant" +
          place("i in range(5)", "vi = T.axis.spatial(5, i)"));
}

TEST(PadEinsum, WholeNumbersAreNotDividedByThePadding) {
  check_refused(
      R"(
    @T.prim_func
    def main(A: T.Buffer((5,), "int32"), B: T.Buffer((5,), "int32"), Y: T.Buffer((5,), "int32")):
        for i in range(5):
            with T.block("Y"):
                vi = T.axis.spatial(5, i)
                Y[vi] = A[vi] // B[vi]
  )",
      [](Schedule& sch) { sch.call("pad_einsum", "Y", ArgValue::List{4}); }, R"(
    error: pad_einsum: block Y divides by B[vi], which may be 0 in the padding of axis vi
      f.py:4:14
       3 |     for i in range(5):
       4 |         with T.block("Y"):
         |              ^^^^^^^^^^^^
       5 |             vi = T.axis.spatial(5, i)
  )");
}

// 0 * log(0) is no number.
TEST(PadEinsum, FactorsThatAreInfiniteAtZeroAreRefused) {
  check_refused(
      R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7), "float32"), B: T.Buffer((7,), "float32"), Y: T.Buffer((5,), "float32")):
        for i, k in T.grid(5, 7):
            with T.block("Y"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    Y[vi] = T.float32(0)
                Y[vi] = Y[vi] + A[vi, vk] * T.log(B[vk])
  )",
      [](Schedule& sch) { sch.call("pad_einsum", "Y", ArgValue{1, 4}); },
      "error: pad_einsum: zeros along axis vk would change the result of block Y: "
      "Y[vi] + A[vi, vk] * T.log(B[vk])\n  f.py:4:14\n   3 |     for i, k in T.grid(5, 7):\n   4 |         "
      "with T.block(\"Y\"):\n"
      "     |              ^^^^^^^^^^^^\n   5 |             vi, vk = T.axis.remap(\"SR\", [i, k])");
}

}  // namespace
}  // namespace tilewright::schedule
