// Functions that count as scheduled by somebody, and those that do not.
#include "schedule_testing.h"
#include "tilewright/schedule/default/default.h"

namespace tilewright::schedule {
namespace {

constexpr Features kAvx2{.vector_bytes = 32, .num_vector_registers = 16};

PrimFunc main_of(std::string_view text) { return ref_as<PrimFuncNode>(module_of(text)->functions[0]); }

// The reason; "" if the function is plain.
std::string why_not(const PrimFunc& func) {
  const std::optional<Reason> reason = why_not_plain(func);
  return reason ? reason->text : "";
}

void expect_not_plain(std::string_view program, std::string_view reason) {
  const PrimFunc func = main_of(program);
  EXPECT_EQ(why_not(func), reason);
  const DefaultSchedule found = schedule_by_rules("main", func, kAvx2);
  EXPECT_EQ(found.func, func);
  EXPECT_TRUE(found.trace.steps.empty());
}

TEST(WhyNotPlain, PlainFunctions) {
  EXPECT_EQ(why_not(main_of(R"(
    @T.prim_func
    def main(A: T.Buffer((1, 7), "float32"), B: T.Buffer((7,), "float32")):
        Y = T.alloc_buffer((7,), "float32")
        for i in range(7):
            with T.block("Y"):
                vo = T.axis.spatial(1, 0)
                vi = T.axis.spatial(7, i)
                Y[vi] = A[vo, vi]
        for i in range(7):
            with T.block("B"):
                vi = T.axis.spatial(7, i)
                B[vi] = Y[vi]
  )")),
            "");
}

TEST(WhyNotPlain, NoBlocks) {
  expect_not_plain(R"(
    @T.prim_func
    def main(B: T.Buffer((7,), "float32")):
        for i in range(7):
            B[i] = T.float32(1)
  )",
                   "it has no root block");
}

TEST(WhyNotPlain, RootAnnotations) {
  expect_not_plain(R"(
    @T.prim_func
    def main(B: T.Buffer((7,), "float32")):
        with T.block("root"):
            T.block_attr({"key": 1})
            for i in range(7):
                with T.block("B"):
                    vi = T.axis.spatial(7, i)
                    B[vi] = T.float32(1)
  )",
                   "its root block has annotations");
}

TEST(WhyNotPlain, Scopes) {
  expect_not_plain(R"(
    @T.prim_func
    def main(B: T.Buffer((7,), "float32")):
        Y = T.alloc_buffer((7,), "float32", scope="local")
        for i in range(7):
            with T.block("Y"):
                vi = T.axis.spatial(7, i)
                Y[vi] = T.float32(1)
        for i in range(7):
            with T.block("B"):
                vi = T.axis.spatial(7, i)
                B[vi] = Y[vi]
  )",
                   "buffer Y is in scope local");
}

TEST(WhyNotPlain, ViewsOfPartsOfParametersArePlain) {
  EXPECT_EQ(why_not(main_of(R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7), "float32"), begin: T.int64):
        with T.block("root"):
            V = T.match_buffer(A[0:5, begin:begin + 3], (5, 3), "float32", strides=[7, 1])
            for i, j in T.grid(5, 3):
                with T.block("V"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    V[vi, vj] = T.float32(1)
  )")),
            "");
}

TEST(WhyNotPlain, OtherViews) {
  expect_not_plain(R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7), "float32")):
        with T.block("root"):
            V = T.match_buffer(A[0, 0:7], (7,), "float32")
            for i in range(7):
                with T.block("V"):
                    vi = T.axis.spatial(7, i)
                    V[vi] = T.float32(1)
  )",
                   "V is a view, but not of a part of a parameter");
}

TEST(WhyNotPlain, RootWithInit) {
  expect_not_plain(R"(
    @T.prim_func
    def main(A: T.Buffer((7,), "float32")):
        with T.block("root"):
            with T.init():
                A[0] = T.float32(0)
            for i in range(7):
                with T.block("A"):
                    vi = T.axis.spatial(7, i)
                    A[vi] = T.float32(1)
  )",
                   "its root block is more than a list of nests");
}

TEST(WhyNotPlain, Predicate) {
  expect_not_plain(R"(
    @T.prim_func
    def main(B: T.Buffer((7,), "float32")):
        for i in range(7):
            with T.block("B"):
                vi = T.axis.spatial(7, i)
                T.where(i < 5)
                B[vi] = T.float32(1)
  )",
                   "block B has a predicate");
}

TEST(WhyNotPlain, Annotations) {
  expect_not_plain(R"(
    @T.prim_func
    def main(B: T.Buffer((7,), "float32")):
        for i in range(7):
            with T.block("B"):
                T.block_attr({"key": 1})
                vi = T.axis.spatial(7, i)
                B[vi] = T.float32(1)
  )",
                   "block B has annotations");
}

TEST(WhyNotPlain, AxisOfTwoLoops) {
  expect_not_plain(R"(
    @T.prim_func
    def main(B: T.Buffer((8,), "float32")):
        for i, j in T.grid(2, 4):
            with T.block("B"):
                vi = T.axis.spatial(8, i * 4 + j)
                B[vi] = T.float32(1)
  )",
                   "axis vi of block B is not a loop");
}

TEST(WhyNotPlain, BlockInside) {
  expect_not_plain(R"(
    @T.prim_func
    def main(B: T.Buffer((5, 7), "float32")):
        for i in range(5):
            with T.block("rows"):
                vi = T.axis.spatial(5, i)
                for j in range(7):
                    with T.block("B"):
                        vj = T.axis.spatial(7, j)
                        B[vi, vj] = T.float32(1)
  )",
                   "block rows has blocks inside");
}

// How a block computes is its own.
TEST(WhyNotPlain, LoopInsideIsPlain) {
  EXPECT_EQ(why_not(ref_as<PrimFuncNode>(module_of(R"(
    @T.prim_func
    def main(B: T.Buffer((5, 7), "float32")):
        for i in range(5):
            with T.block("B"):
                vi = T.axis.spatial(5, i)
                for j in range(7):
                    B[vi, j] = T.float32(1)
  )")
                                             ->functions[0])),
            "");
}

TEST(WhyNotPlain, TwoBlocksInALoop) {
  expect_not_plain(R"(
    @T.prim_func
    def main(B: T.Buffer((7,), "float32"), C: T.Buffer((7,), "float32")):
        for i in range(7):
            with T.block("B"):
                vi = T.axis.spatial(7, i)
                B[vi] = T.float32(1)
            with T.block("C"):
                vi = T.axis.spatial(7, i)
                C[vi] = T.float32(1)
  )",
                   "loop i has 2 statements inside");
}

TEST(WhyNotPlain, StatementOutside) {
  expect_not_plain(R"(
    @T.prim_func
    def main(B: T.Buffer((7,), "float32")):
        for i in range(7):
            with T.block("B"):
                vi = T.axis.spatial(7, i)
                B[vi] = T.float32(1)
        B[0] = T.float32(2)
  )",
                   "a statement is in no block");
}

TEST(WhyNotPlain, ParallelLoop) {
  expect_not_plain(R"(
    @T.prim_func
    def main(B: T.Buffer((7,), "float32")):
        for i in T.parallel(7):
            with T.block("B"):
                vi = T.axis.spatial(7, i)
                B[vi] = T.float32(1)
  )",
                   "loop i is not a plain serial loop");
}

}  // namespace
}  // namespace tilewright::schedule
