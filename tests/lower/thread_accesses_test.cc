// Which accesses of the threads of a block may meet: the proofs, one by one.
#include "tilewright/lower/common/thread_accesses.h"

#include <fmt/format.h>

#include "lower_testing.h"
#include "tilewright/ir/walk.h"
#include "tilewright/lower/common/thread_axes.h"
#include "tilewright/tir/builder.h"

namespace tilewright::lower {
namespace {

// The accesses of a kernel, and its threads.
struct Kernel {
  std::vector<ThreadAccess> accesses;
  Threads threads;

  /// Whether the stores number a and b to one buffer may meet, in the order in which they happen.
  bool may_meet(size_t a, size_t b) const {
    std::vector<ThreadAccess> stores;
    for (const ThreadAccess& access : accesses) {
      if (access.is_write) stores.push_back(access);
    }
    return lower::may_meet(stores.at(a), stores.at(b), threads);
  }
};

// A kernel with two blocks of 32 threads; `body` may use bx, tx, n, A and S, which is shared.
Kernel kernel_of(std::string_view body) {
  std::string indented;
  for (const char c : body) {
    indented += c;
    if (c == '\n') indented += "                ";
  }
  const PrimFunc func = func_of(fmt::format(R"(
    @T.prim_func
    def main(n: T.int32, A: T.Buffer((4096,), "float32")):
        for bx in T.thread_binding(2, "blockIdx.x"):
            for tx in T.thread_binding(32, "threadIdx.x"):
                S = T.alloc_buffer((4096,), "float32", scope="shared")
                {}
  )",
                                            indented));
  Kernel found;
  const Stmt* stmt = &func->body;
  while (const auto* loop = stmt->as<ForNode>()) {
    const auto axis = kernel_axis(loop);
    if (!axis) break;
    (is_thread_axis(kKernelAxes[*axis]) ? found.threads.axes : found.threads.blocks)
        .emplace_back(loop->loop_var, make_range(loop->min, loop->extent));
    stmt = &loop->body;
  }
  found.accesses = thread_accesses(*stmt, {}, {});
  return found;
}

// Whether the only store may meet itself in another thread.
bool store_meets_itself(std::string_view body) { return kernel_of(body).may_meet(0, 0); }

TEST(ThreadAccesses, AreFoundInOrderWithWhatIsAroundThem) {
  const Kernel kernel = kernel_of(R"(for i in range(3):
    if tx < 7:
        S[tx * 3 + i] = A[i])");
  ASSERT_EQ(kernel.accesses.size(), 2u);
  EXPECT_EQ(kernel.accesses[0].buffer->name, "A");
  EXPECT_FALSE(kernel.accesses[0].is_write);
  EXPECT_EQ(kernel.accesses[1].buffer->name, "S");
  EXPECT_TRUE(kernel.accesses[1].is_write);
  EXPECT_EQ(kernel.accesses[1].loops.size(), 1u);
  EXPECT_TRUE(kernel.accesses[1].condition);
}

TEST(ThreadAccesses, RegistersAreNoMemoryOfOthers) {
  EXPECT_TRUE(kernel_of(R"(P = T.alloc_buffer((4,), "float32", scope="local")
P[0] = T.float32(1))")
                  .accesses.empty());
}

TEST(ThreadAccesses, IndicesHaveTheValuesOfVariables) {
  EXPECT_FALSE(store_meets_itself(R"(x: T.int32 = tx * 2
S[x + 1] = T.float32(1))"));
  EXPECT_TRUE(store_meets_itself(R"(x: T.int32 = 0 - tx
S[tx + x] = T.float32(1))"));
}

TEST(ThreadAccesses, OfOneThreadAlone) {
  EXPECT_FALSE(store_meets_itself("if tx == 3:\n    S[0] = T.float32(1)"));
  EXPECT_FALSE(store_meets_itself("if tx < 1:\n    S[0] = T.float32(1)"));
  EXPECT_TRUE(store_meets_itself("if tx < 2:\n    S[0] = T.float32(1)"));
  EXPECT_TRUE(store_meets_itself("if n < 1:\n    S[0] = T.float32(1)"));
}

TEST(ThreadAccesses, ElementsOfEachThread) {
  EXPECT_FALSE(store_meets_itself("S[bx * 32 + tx] = T.float32(1)"));
  EXPECT_FALSE(store_meets_itself("for i in range(4):\n    S[tx * 4 + i] = T.float32(1)"));
  EXPECT_TRUE(store_meets_itself("for i in range(5):\n    S[tx * 4 + i] = T.float32(1)"));
  EXPECT_FALSE(store_meets_itself("S[tx * 4:tx * 4 + 4] = T.Broadcast(T.float32(1), 4)"));
  EXPECT_TRUE(store_meets_itself("S[tx * 2:tx * 2 + 4] = T.Broadcast(T.float32(1), 4)"));
}

TEST(ThreadAccesses, PartsThatLieApart) {
  const Kernel apart = kernel_of("S[tx] = T.float32(1)\nS[63 - tx] = T.float32(1)");
  EXPECT_FALSE(apart.may_meet(0, 1));
  const Kernel touching = kernel_of("S[tx] = T.float32(1)\nS[62 - tx] = T.float32(1)");
  EXPECT_TRUE(touching.may_meet(0, 1));
}

// A condition that both have leaves elements out; one that only one has does not count.
TEST(ThreadAccesses, OnlyCommonConditionsCount) {
  constexpr std::string_view kStore = "S[tx // 3 * 2 + tx % 3] = T.float32(1)";
  EXPECT_TRUE(store_meets_itself(kStore));
  EXPECT_FALSE(store_meets_itself(fmt::format("if tx % 3 < 2:\n    {}", kStore)));
  const Kernel one = kernel_of(fmt::format("if tx % 3 < 2:\n    {0}\n{0}", kStore));
  EXPECT_FALSE(one.may_meet(0, 0));
  EXPECT_TRUE(one.may_meet(0, 1));
  const Kernel both = kernel_of(fmt::format("if tx % 3 < 2:\n    {0}\nif tx % 3 < 2:\n    {0}", kStore));
  EXPECT_FALSE(both.may_meet(0, 1));
  // in loops of their own, which have other names
  const Kernel loops = kernel_of(R"(for i in range(2):
    if tx % 3 < 2 and i < n:
        S[tx // 3 * 4 + tx % 3 * 2 + i] = T.float32(1)
for j in range(2):
    if tx % 3 < 2 and j < n and tx < n:
        S[tx // 3 * 4 + tx % 3 * 2 + j] = T.float32(1))");
  EXPECT_FALSE(loops.may_meet(0, 1));
}

// i * n + j with 0 <= j < n has both i and j of its own.
TEST(ThreadAccesses, RowsOfAnOpenNumberOfColumns) {
  EXPECT_FALSE(store_meets_itself("if tx % 8 < n:\n    S[tx // 8 * n + tx % 8] = T.float32(1)"));
  EXPECT_FALSE(
      store_meets_itself("for i in range(4):\n    if tx < n:\n        S[i * n + tx] = T.float32(1)"));
  // no condition: columns may go on in the next row
  EXPECT_TRUE(store_meets_itself("S[tx // 8 * n + tx % 8] = T.float32(1)"));
  // a column of another row length
  EXPECT_TRUE(store_meets_itself("if tx % 8 < n:\n    S[tx // 8 * (n - 1) + tx % 8] = T.float32(1)"));
  // columns that may be negative
  EXPECT_TRUE(
      store_meets_itself("if tx % 8 - 4 < n:\n    S[tx // 8 * n + tx % 8 - 4 + 4 * n] = T.float32(1)"));
}

}  // namespace
}  // namespace tilewright::lower
