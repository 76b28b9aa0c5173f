#include "tilewright/analysis/block_info.h"

#include "script_testing.h"
#include "tilewright/tir/builder.h"

namespace tilewright::analysis {
namespace {

PrimFunc mm_relu() {
  return script::parse_func(R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7), "float32"), B: T.Buffer((7, 3), "float32"), C: T.Buffer((5, 3), "float32")):
        Y = T.alloc_buffer((5, 3))
        for i, j, k in T.grid(5, 3, 7):
            with T.block("Y"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    Y[vi, vj] = T.float32(0)
                Y[vi, vj] = Y[vi, vj] + A[vi, vk] * B[vk, vj]
        for i, j in T.grid(5, 3):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = T.max(Y[vi, vj], T.float32(0))
  )");
}

TEST(BlockInfo, BlocksAreFoundWithLoopsAndParents) {
  const PrimFunc func = mm_relu();
  const std::vector<BlockPlace> blocks = find_blocks(func->body);
  ASSERT_EQ(blocks.size(), 3u);
  EXPECT_EQ(blocks[0].block()->name_hint, "root");
  EXPECT_EQ(blocks[1].block()->name_hint, "Y");
  EXPECT_EQ(blocks[1].loops.size(), 3u);
  EXPECT_EQ(blocks[1].loops[2]->loop_var->name_hint, "k");
  EXPECT_EQ(blocks[2].parents.size(), 1u);
  EXPECT_EQ(find_block(func->body, "C").block(), blocks[2].block());
  try {
    find_block(func->body, "CC");
    FAIL();
  } catch (const UserError& error) {
    EXPECT_EQ(error.render(), "error: there is no block called \"CC\"\nhelp: did you mean C or Y?");
  }
}

TEST(BlockInfo, NamesOfSeveralBlocksAreRefused) {
  const PrimFunc func = mm_relu();
  try {
    find_block(seq({func->body, func->body}), "Y");
    FAIL();
  } catch (const UserError& error) {
    EXPECT_EQ(error.render(), "error: there are 2 blocks called \"Y\"");
  }
}

TEST(BlockInfo, SumsAndElementwiseBlocks) {
  const PrimFunc func = mm_relu();
  const BlockPlace root = find_blocks(func->body)[0], sum = find_block(func->body, "Y"),
                   relu = find_block(func->body, "C");
  EXPECT_TRUE(is_reduction_block(sum.block()));
  EXPECT_FALSE(is_reduction_block(relu.block()));
  EXPECT_EQ(why_not_complete(sum.block(), root.block()), "axis vk is a reduce axis");
  EXPECT_EQ(why_not_reduction(sum.block(), root.block()), "");
  EXPECT_TRUE(is_complete_block(relu.block(), root.block()));
  EXPECT_EQ(why_not_reduction(relu.block(), root.block()), "it has no T.init");
}

TEST(BlockInfo, ProducersAndConsumers) {
  const PrimFunc func = mm_relu();
  const BlockPlace root = find_blocks(func->body)[0], sum = find_block(func->body, "Y"),
                   relu = find_block(func->body, "C");
  ASSERT_EQ(producers_of(relu.block(), root.block()).size(), 1u);
  EXPECT_EQ(producers_of(relu.block(), root.block())[0].get(), sum.block());
  EXPECT_EQ(consumers_of(sum.block(), root.block())[0].get(), relu.block());
  EXPECT_TRUE(producers_of(sum.block(), root.block()).empty());
}

TEST(BlockInfo, SmallestStatementAroundAllAccesses) {
  const PrimFunc func = script::parse_func(R"(
    @T.prim_func
    def main(A: T.Buffer((5,), "float32")):
        B = T.decl_buffer((5,))
        C = T.decl_buffer((1,))
        for i in range(5):
            C[0] = A[i]
            B[i] = C[0]
        for i in range(5):
            A[i] = B[i]
  )");
  const auto* outer = func->body.as<AllocBufferNode>();
  const auto* inner = outer->body.as<AllocBufferNode>();
  const auto* both = inner->body.as<SeqStmtNode>();
  const auto lcas = buffer_lcas(func);
  EXPECT_EQ(lcas.at(outer->buffer.get()), both);
  EXPECT_EQ(lcas.at(inner->buffer.get()), both->seq[0].as<ForNode>()->body.get());
  EXPECT_EQ(lcas.at(func->buffers[0].get()), func->body.get());
}

TEST(BlockInfo, Effects) {
  const Var i = make_var("i");
  EXPECT_FALSE(has_side_effect(call(kFloat32, "exp", {float_imm(1)}) + cast(kFloat32, i)));
  EXPECT_TRUE(has_side_effect(call(kInt32, "call_packed", {string_imm("f")})));
}

}  // namespace
}  // namespace tilewright::analysis
