#include "tilewright/analysis/block_info.h"

#include "script_testing.h"
#include "tilewright/ir/walk.h"

namespace tilewright::analysis {
namespace {

// The names of private buffers by the variable of their loop, as in "i: X Y".
std::vector<std::string> private_names(std::string_view program) {
  const PrimFunc func = script::parse_func(program);
  const auto found = private_buffers(func);
  std::vector<std::string> lines;
  ir::walk(func->body, [&](const ForNode* loop) {
    const auto buffers = found.find(loop);
    if (buffers == found.end()) return;
    lines.push_back(loop->loop_var->name_hint + ":");
    for (const Buffer& buffer : buffers->second) lines.back() += " " + buffer->name;
  });
  return lines;
}

TEST(BlockInfo, BuffersUsedInAParallelLoopOnlyAreItsOwn) {
  EXPECT_EQ(private_names(R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7), "float32"), C: T.Buffer((5, 7), "float32")):
        X = T.alloc_buffer((7,))
        Y = T.alloc_buffer((7,))
        for k in range(7):
            with T.block("Y"):
                vk = T.axis.spatial(7, k)
                Y[vk] = T.float32(1)
        for i in T.parallel(5):
            for j in range(7):
                with T.block("X"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    X[vj] = A[vi, vj]
            for j in range(7):
                with T.block("C"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    C[vi, vj] = X[vj] + Y[vj]
  )"),
            std::vector<std::string>{"i: X"});
}

TEST(BlockInfo, BuffersOfSerialLoopsAreShared) {
  EXPECT_EQ(private_names(R"(
    @T.prim_func
    def main(A: T.Buffer((5,), "float32")):
        X = T.alloc_buffer((1,))
        for i in range(5):
            with T.block("X"):
                vi = T.axis.spatial(5, i)
                X[0] = A[vi]
  )"),
            std::vector<std::string>{});
}

PrimFunc with_body(std::string_view line) {
  return script::parse_func(R"(
    @T.prim_func
    def main(A: T.Buffer((5,), "float32"), n: T.int32):
        for i in range(5):
            )" + std::string(line));
}

TEST(BlockInfo, ConditionalStatementsAndValues) {
  EXPECT_FALSE(has_conditional_statements(with_body("A[i] = T.float32(1)")->body));
  EXPECT_TRUE(has_conditional_statements(with_body("if i < n: A[i] = T.float32(1)")->body));
  EXPECT_FALSE(has_conditional_values(with_body("A[i] = T.max(A[i], T.float32(1))")->body));
  EXPECT_TRUE(has_conditional_values(with_body("A[i] = T.Select(i < n, A[i], T.float32(1))")->body));
  EXPECT_TRUE(has_conditional_values(with_body("A[i] = T.if_then_else(i < n, A[i], T.float32(1))")->body));
}

}  // namespace
}  // namespace tilewright::analysis
