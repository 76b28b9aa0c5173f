// Blocks of blocks, padding, windows that roll, sums that start with what is added to them.
#include "schedule_testing.h"

namespace tilewright::schedule {
namespace {

constexpr std::string_view kTwoInLoop = R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7), "float32"), C: T.Buffer((5, 7), "float32")):
        B = T.alloc_buffer((5, 7))
        for i in range(5):
            for j in range(7):
                with T.block("B"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    B[vi, vj] = A[vi, vj] * T.float32(2)
            for j in range(7):
                with T.block("C"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    C[vi, vj] = B[vi, vj] + T.float32(1)
            for j in range(7):
                with T.block("D"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    C[vi, vj] = C[vi, vj] * C[vi, vj]
)";

constexpr std::string_view kWindowless = R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7), "float32"), C: T.Buffer((5, 7), "float32")):
        B = T.alloc_buffer((5, 7))
        for i in range(5):
            for j in range(7):
                with T.block("B"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    B[vi, vj] = A[vi, vj] * T.float32(2)
            for j in range(7):
                with T.block("C"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    C[vi, vj] = B[vi, vj] + T.float32(1)
)";

TEST(Blockize, SeveralBlocksGetOneAroundThem) {
  check_schedule(
      kTwoInLoop,
      [](Schedule& sch) {
        const BlockRef b = sch.call("get_block", "B").block(), c = sch.call("get_block", "C").block();
        sch.call("blockize", ArgValue{b, c});
        EXPECT_EQ(sch.call("get_loops", c).loops().size(), 1U);
      },
      R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7), "float32"), C: T.Buffer((5, 7), "float32")):
        B = T.alloc_buffer((5, 7))
        for i in range(5):
            with T.block("B_C_o"):
                vi_o = T.axis.spatial(5, i)
                T.reads(A[vi_o, 0:7], B[vi_o, 0:7])
                T.writes(B[vi_o, 0:7], C[vi_o, 0:7])
                for j in range(7):
                    with T.block("B"):
                        vi = T.axis.spatial(5, vi_o)
                        vj = T.axis.spatial(7, j)
                        B[vi, vj] = A[vi, vj] * T.float32(2)
                for j in range(7):
                    with T.block("C"):
                        vi = T.axis.spatial(5, vi_o)
                        vj = T.axis.spatial(7, j)
                        C[vi, vj] = B[vi, vj] + T.float32(1)
            for j in range(7):
                with T.block("D"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    C[vi, vj] = C[vi, vj] * C[vi, vj]
  )");
}

TEST(Blockize, ASumInsideMayBeDecomposed) {
  check_schedule(R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7), "float32"), Y: T.Buffer((5,), "float32")):
        for i, k in T.grid(5, 7):
            with T.block("Y"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    Y[vi] = T.float32(0)
                Y[vi] = Y[vi] + A[vi, vk]
  )",
                 [](Schedule& sch) {
                   const auto [i, k] = sch.call("get_loops", "Y").loops<2>();
                   sch.call("blockize", i, false);
                   sch.call("decompose_reduction", "Y", k);
                 });
}

TEST(Blockize, TilesThatBeginInTheMiddleOfASumAreRefused) {
  check_refused(
      R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7), "float32"), Y: T.Buffer((5,), "float32")):
        for k, i in T.grid(7, 5):
            with T.block("Y"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    Y[vi] = T.float32(0)
                Y[vi] = Y[vi] + A[vi, vk]
  )",
      [](Schedule& sch) {
        const BlockRef block = sch.call("get_block", "Y").block();
        sch.call("blockize", ArgValue::List{block});
        sch.call("blockize", sch.call("add_unit_loop", block).loop());
      },
      R"(
    error: blockize: reduce axis vk of block Y begins at vk there, not at 0, where its init runs
      f.py:4:14
       3 |     for k, i in T.grid(7, 5):
       4 |         with T.block("Y"):
         |              ^^^^^^^^^^^^
       5 |             vi, vk = T.axis.remap("SR", [i, k])
  )");
}

TEST(Blockize, AfterALoopThatBeginsLater) {
  check_schedule(R"(
    @T.prim_func
    def main(A: T.Buffer((4, 7), "float32"), Y: T.Buffer((4,), "float32")):
        for i, k in T.grid(4, 7):
            with T.block("Y"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    Y[vi] = T.float32(0)
                Y[vi] = Y[vi] + A[vi, vk]
  )",
                 [](Schedule& sch) {
                   const LoopRef i = sch.call("get_loops", "Y").loops()[0];
                   const auto [first, second] =
                       sch.call("loop_partition", i, Factors{int64_t{2}, None{}}).loops<2>();
                   sch.call("blockize", second);
                 });
}

TEST(Blockize, BuffersInsideMayGo) {
  check_schedule(kWindowless, [&](Schedule& sch) {
    const BlockRef b = sch.call("get_block", "B").block(), c = sch.call("get_block", "C").block();
    sch.call("blockize", ArgValue{b, c});
    sch.call("reverse_compute_inline", c);
  });
}

TEST(Blockize, BlocksWithAnotherAmongThemAreRefused) {
  check_refused(kTwoInLoop, [](Schedule& sch) { sch.call("blockize", ArgValue{"B", "D"}); }, R"(
    error: blockize: block C stands among the blocks, but is not in the list
      f.py:10:18
       9 |         for j in range(7):
      10 |             with T.block("C"):
         |                  ^^^^^^^^^^^^
      11 |                 vi, vj = T.axis.remap("SS", [i, j])
  )");
  check_refused(
      kTwoInLoop, [](Schedule& sch) { sch.call("blockize", ArgValue(ArgValue::List{})); },
      "error: blockize: no blocks are given");
  check_refused(
      kTwoInLoop, [](Schedule& sch) { sch.call("blockize", 3); },
      "error: blockize: argument target must be a loop or a list of blocks, but is 3");
}

constexpr std::string_view kPad = R"(
    @T.prim_func
    def main(X: T.Buffer((5, 7), "float32"), Y: T.Buffer((9, 7), "float32")):
        for i, j in T.grid(9, 7):
            with T.block("Y"):
                vi, vj = T.axis.remap("SS", [i, j])
                Y[vi, vj] = T.if_then_else(2 <= vi and vi < 7, X[vi - 2, vj], T.float32(0))
)";

TEST(DecomposePadding, LoopsBecomeAsLongAsWhatIsThere) {
  check_schedule(
      kPad,
      [](Schedule& sch) {
        const BlockRef fill =
            sch.call("decompose_padding", "Y", sch.call("get_loops", "Y").loops()[0]).block();
        EXPECT_EQ(sch.get(fill)->name_hint, "Y_pad_const");
      },
      R"(
    @T.prim_func
    def main(X: T.Buffer((5, 7), "float32"), Y: T.Buffer((9, 7), "float32")):
        for i, j in T.grid(9, 7):
            with T.block("Y_pad_const"):
                vi, vj = T.axis.remap("SS", [i, j])
                Y[vi, vj] = T.float32(0)
        for i, j in T.grid(5, 7):
            with T.block("Y"):
                vi, vj = T.axis.remap("SS", [i, j])
                Y[vi + 2, vj] = X[vi, vj]
  )");
}

TEST(DecomposePadding, OutsideOfTheLoopAPredicateIsLeft) {
  check_schedule(
      kPad, [](Schedule& sch) { sch.call("decompose_padding", "Y", sch.call("get_loops", "Y").loops()[1]); },
      R"(
    @T.prim_func
    def main(X: T.Buffer((5, 7), "float32"), Y: T.Buffer((9, 7), "float32")):
        for i in range(9):
            for j in range(7):
                with T.block("Y_pad_const"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    Y[vi, vj] = T.float32(0)
            for j in range(7):
                with T.block("Y"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    T.where(i >= 2 and i < 7)
                    Y[vi, vj] = X[vi - 2, vj]
  )");
}

TEST(DecomposePadding, OtherBlocksAreRefused) {
  check_refused(
      kTwoInLoop,
      [](Schedule& sch) { sch.call("decompose_padding", "B", sch.call("get_loops", "B").loops()[0]); }, R"(
    error: decompose_padding: block B does not store T.if_then_else(condition, value, constant), but A[vi, vj] * T.float32(2)
      f.py:6:18
       5 |         for j in range(7):
       6 |             with T.block("B"):
         |                  ^^^^^^^^^^^^
       7 |                 vi, vj = T.axis.remap("SS", [i, j])
  )");
}

constexpr std::string_view kMatmul = R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7), "float32"), B: T.Buffer((7, 3), "float32"), Y: T.Buffer((5, 3), "float32")):
        for i, j, k in T.grid(5, 3, 7):
            with T.block("Y"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    Y[vi, vj] = T.float32(0)
                Y[vi, vj] = Y[vi, vj] + A[vi, vk] * B[vk, vj]
)";

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

constexpr std::string_view kWindow = R"(
    @T.prim_func
    def main(A: T.Buffer((9, 7), "float32"), C: T.Buffer((7, 7), "float32")):
        B = T.alloc_buffer((9, 7))
        for i, j in T.grid(9, 7):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] * T.float32(2)
        for i, j in T.grid(7, 7):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = B[vi, vj] + B[vi + 2, vj]
)";

TEST(RollingBuffer, WhatTheNextIterationNeedsIsKept) {
  check_schedule(
      kWindow,
      [](Schedule& sch) {
        sch.call("compute_at", "B", sch.call("get_loops", "C").loops()[0]);
        sch.call("rolling_buffer", "B", 0);
      },
      R"(
    @T.prim_func
    def main(A: T.Buffer((9, 7), "float32"), C: T.Buffer((7, 7), "float32")):
        B = T.alloc_buffer((3, 7))
        for i in range(7):
            for ax0, ax1 in T.grid(3, 7):
                with T.block("B"):
                    vi = T.axis.opaque(9, i + ax0)
                    vj = T.axis.spatial(7, ax1)
                    T.where(i < 1 or ax0 >= 2)
                    B[vi % 3, vj] = A[vi, vj] * T.float32(2)
            for j in range(7):
                with T.block("C"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    C[vi, vj] = B[vi % 3, vj] + B[(vi + 2) % 3, vj]
  )");
}

TEST(RollingBuffer, WithoutASharedLoopIsRefused) {
  check_refused(kWindow, [](Schedule& sch) { sch.call("rolling_buffer", "B", 0); }, R"(
    error: rolling_buffer: no loop is around block B and all that reads B
      f.py:5:14
       4 |     for i, j in T.grid(9, 7):
       5 |         with T.block("B"):
         |              ^^^^^^^^^^^^
       6 |             vi, vj = T.axis.remap("SS", [i, j])
    help: move the block to its consumers with compute_at first
  )");
  check_refused(kTwoInLoop, [](Schedule& sch) { sch.call("rolling_buffer", "B", 0); }, R"(
    error: rolling_buffer: no two iterations of a loop around block B need the same elements of B
      f.py:6:18
       5 |         for j in range(7):
       6 |             with T.block("B"):
         |                  ^^^^^^^^^^^^
       7 |                 vi, vj = T.axis.remap("SS", [i, j])
  )");
}

constexpr std::string_view kBias = R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7), "float32"), C: T.Buffer((5,), "float32"), D: T.Buffer((5,), "float32")):
        Y = T.alloc_buffer((5,))
        for i, k in T.grid(5, 7):
            with T.block("Y"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    Y[vi] = T.float32(0)
                Y[vi] = Y[vi] + A[vi, vk]
        for i in range(5):
            with T.block("D"):
                vi = T.axis.spatial(5, i)
                D[4 - vi] = Y[vi] + C[vi]
)";

TEST(FuseReductionEpilogue, TheSumStartsWithTheBias) {
  check_schedule(kBias, [](Schedule& sch) { sch.call("fuse_reduction_epilogue", "Y", "D"); }, R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7), "float32"), C: T.Buffer((5,), "float32"), D: T.Buffer((5,), "float32")):
        for i, k in T.grid(5, 7):
            with T.block("Y"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    D[4 - vi] = C[vi]
                D[4 - vi] = D[4 - vi] + A[vi, vk]
  )");
}

TEST(FuseReductionEpilogue, OtherEpiloguesAreRefused) {
  std::string relu(kBias);
  relu.replace(relu.find("Y[vi] + C[vi]"), 13, "T.max(Y[vi], C[vi])");
  check_refused(relu, [](Schedule& sch) { sch.call("fuse_reduction_epilogue", "Y", "D"); }, R"(
    error: fuse_reduction_epilogue: block D does not add to Y, but computes T.max(Y[vi], C[vi])
      f.py:11:14
      10 |     for i in range(5):
      11 |         with T.block("D"):
         |              ^^^^^^^^^^^^
      12 |             vi = T.axis.spatial(5, i)
    help: reverse_compute_at computes any epilogue where the sum is finished
  )");
  check_refused(kWindow, [](Schedule& sch) { sch.call("fuse_reduction_epilogue", "B", "C"); }, R"(
    error: fuse_reduction_epilogue: block B is not a single sum with an init
      f.py:5:14
       4 |     for i, j in T.grid(9, 7):
       5 |         with T.block("B"):
         |              ^^^^^^^^^^^^
       6 |             vi, vj = T.axis.remap("SS", [i, j])
  )");
  std::string part(kBias);
  part.replace(part.find("for i in range(5)"), 17, "for i in range(4)");
  part.replace(part.find("T.axis.spatial(5, i)"), 20, "T.axis.spatial(4, i)");
  check_refused(part, [](Schedule& sch) { sch.call("fuse_reduction_epilogue", "Y", "D"); }, R"(
    error: fuse_reduction_epilogue: block D does not write an element for each sum of block Y: not always vi < 4
      f.py:11:14
      10 |     for i in range(4):
      11 |         with T.block("D"):
         |              ^^^^^^^^^^^^
      12 |             vi = T.axis.spatial(4, i)
  )");
}

}  // namespace
}  // namespace tilewright::schedule
