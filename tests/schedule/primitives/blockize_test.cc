// blockize: a nest of loops, or several blocks, become one block.
#include "primitive_programs.h"
#include "schedule_testing.h"

namespace tilewright::schedule {
namespace {

TEST(Blockize, TileOfAnElementwiseBlock) {
  check_schedule(
      R"(
    @T.prim_func
    def main(A: T.Buffer((128,), "float32"), B: T.Buffer((128,), "float32")):
        for i in range(128):
            with T.block("B"):
                vi = T.axis.spatial(128, i)
                B[vi] = A[vi] * T.float32(2)
  )",
      [](Schedule& sch) {
        const auto [i0, i1] = sch.call("split", sch.call("get_loops", "B").loops()[0], by(16)).loops<2>();
        sch.call("blockize", i1);
      },
      R"(
    @T.prim_func
    def main(A: T.Buffer((128,), "float32"), B: T.Buffer((128,), "float32")):
        for i_0 in range(8):
            with T.block("B_o"):
                vi_o = T.axis.spatial(8, i_0)
                T.reads(A[vi_o * 16:vi_o * 16 + 16])
                T.writes(B[vi_o * 16:vi_o * 16 + 16])
                for i_1 in range(16):
                    with T.block("B"):
                        vi_i = T.axis.spatial(16, i_1)
                        T.reads(A[vi_o * 16 + vi_i])
                        T.writes(B[vi_o * 16 + vi_i])
                        B[vi_o * 16 + vi_i] = A[vi_o * 16 + vi_i] * T.float32(2)
  )");
}

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
  check_schedule(kRowSums, [](Schedule& sch) {
    const auto [i, k] = sch.call("get_loops", "Y").loops<2>();
    sch.call("blockize", i, false);
    sch.call("decompose_reduction", "Y", k);
  });
}

TEST(Blockize, TilesThatBeginInTheMiddleOfASumAreRefused) {
  check_refused(
      kSumsOfOuterLoop,
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

}  // namespace
}  // namespace tilewright::schedule
