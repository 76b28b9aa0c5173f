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

// relu of a maximum: the bound comes first, and the numbers are the same to the bit
TEST(FuseReductionEpilogue, AMaximumStartsWithTheBound) {
  constexpr std::string_view kMaxima = R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7), "float32"), D: T.Buffer((5,), "float32")):
        Y = T.alloc_buffer((5,), "float32")
        for i, k in T.grid(5, 7):
            with T.block("Y"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    Y[vi] = T.float32(-100)
                Y[vi] = T.max(Y[vi], A[vi, vk])
        for i in range(5):
            with T.block("D"):
                vi = T.axis.spatial(5, i)
                D[vi] = T.max(Y[vi], T.float32(0))
  )";
  check_schedule(kMaxima, [](Schedule& sch) { sch.call("fuse_reduction_epilogue", "Y", "D"); }, R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7), "float32"), D: T.Buffer((5,), "float32")):
        for i, k in T.grid(5, 7):
            with T.block("Y"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    D[vi] = T.float32(0)
                D[vi] = T.max(D[vi], A[vi, vk])
  )");
  std::string minimum(kMaxima);
  minimum.replace(minimum.find("T.max(Y[vi], T.float32(0))"), 5, "T.min");
  check_refused(minimum, [](Schedule& sch) { sch.call("fuse_reduction_epilogue", "Y", "D"); }, R"(
    error: fuse_reduction_epilogue: block D does not take the maximum of something and Y, but computes T.min(Y[vi], T.float32(0))
      f.py:11:14
      10 |     for i in range(5):
      11 |         with T.block("D"):
         |              ^^^^^^^^^^^^
      12 |             vi = T.axis.spatial(5, i)
    help: reverse_compute_at computes any epilogue where the sum is finished
  )");
}

TEST(FuseReductionEpilogue, AProductStartsWithAFactor) {
  std::string product(kBias);
  for (size_t at = 0; (at = product.find("Y[vi] + ", at)) != std::string::npos;) product[at + 6] = '*';
  product.replace(product.find("Y[vi] = T.float32(0)"), 20, "Y[vi] = T.float32(1)");
  check_schedule(product, [](Schedule& sch) { sch.call("fuse_reduction_epilogue", "Y", "D"); }, R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7), "float32"), C: T.Buffer((5,), "float32"), D: T.Buffer((5,), "float32")):
        for i, k in T.grid(5, 7):
            with T.block("Y"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    D[4 - vi] = C[vi]
                D[4 - vi] = D[4 - vi] * A[vi, vk]
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
    error: fuse_reduction_epilogue: block B is not a single sum, product, maximum or minimum with an init
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
