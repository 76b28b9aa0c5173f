// A tile at the edge of an open extent becomes smaller ones that are whole.
#include "lower_testing.h"

#include <fmt/format.h>

#include "tilewright/ir/walk.h"

namespace tilewright::lower {
namespace {

// As in the pipeline: the guards go where they hold.
PrimFunc partition(const PrimFunc& func) { return run_step("simplify", run_step("partition_loops", func)); }

// As of padding: with smaller tiles most rows need none of it.
TEST(SmallerTiles, TilesWithConditionsOnRowsHaveSmallerOnesAtTheEnd) {
  check_pass(partition, R"(
    @T.prim_func
    def main(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32"), n: T.int32):
        for i in range((n + 6) // 7):
            S = T.decl_buffer((7,), "float32", scope="local")
            for m in T.unroll(7):
                if i * 7 + m < n:
                    S[m] = T.float32(0)
            for k in range(2):
                for j in T.unroll(7):
                    if i * 7 + j < n:
                        S[j] = S[j] + T.if_then_else(i * 7 + j + k < n, A[i * 7 + j + k], T.float32(0))
            for l in T.unroll(7):
                if i * 7 + l < n:
                    B[i * 7 + l] = S[l]
  )",
             R"(
    @T.prim_func
    def main(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32"), n: T.int32):
        for i in range((n + 6) // 7):
            if i * 7 + 6 < n:
                S = T.decl_buffer((7,), scope="local")
                for m in T.unroll(7):
                    S[m] = T.float32(0)
                for k in range(2):
                    for j in T.unroll(7):
                        S[j] = S[j] + T.if_then_else(i * 7 + k + j < n, A[i * 7 + k + j], T.float32(0))
                for l in T.unroll(7):
                    B[i * 7 + l] = S[l]
            else:
                if i * 7 + 3 < n:
                    S = T.decl_buffer((7,), scope="local")
                    for m in T.unroll(4):
                        S[m] = T.float32(0)
                    for k in range(2):
                        for j in T.unroll(4):
                            S[j] = S[j] + T.if_then_else(i * 7 + k + j < n, A[i * 7 + k + j], T.float32(0))
                    for l in T.unroll(4):
                        B[i * 7 + l] = S[l]
                start: T.int32 = T.Select(i * 7 + 3 < n, 4, 0)
                if i * 7 + start + 1 < n:
                    S = T.decl_buffer((7,), scope="local")
                    for m in T.unroll(2):
                        S[m] = T.float32(0)
                    for k in range(2):
                        for j in T.unroll(2):
                            S[j] = S[j] + T.if_then_else(
                                i * 7 + start + k + j < n, A[i * 7 + start + k + j], T.float32(0)
                            )
                    for l in T.unroll(2):
                        B[i * 7 + start + l] = S[l]
                start_1: T.int32 = start + T.Select(i * 7 + start + 1 < n, 2, 0)
                if i * 7 + start_1 < n:
                    S = T.decl_buffer((7,), scope="local")
                    for m in T.unroll(1):
                        S[0] = T.float32(0)
                    for k in range(2):
                        for j in T.unroll(1):
                            S[0] = S[0] + T.if_then_else(
                                i * 7 + start_1 + k < n, A[i * 7 + start_1 + k], T.float32(0)
                            )
                    for l in T.unroll(1):
                        B[i * 7 + start_1] = S[0]
  )");
}

// Rows that could see what another one has stored stay in their order, with their guards.
TEST(SmallerTiles, RowsThatDependOnEachOtherHaveNoSmallerTiles) {
  const std::string condition = "T.if_then_else(i * 5 + j + k < n, A[i * 5 + j + k], T.float32(0))";
  const std::vector<std::string> stores = {
      "B[i * 5 + j] = B[i * 5 + j] + {}",  // the sum is in memory that may be another row's
      "B[i * 5 + j + k] = {}",             // a later k stores again what an earlier row has stored
      "B[63 - k] = {}",                    // all rows store in one place
      "S[0] = {}",                         // as in a temporary
      "B[i * 5 + j] = {} + T.call_extern(\"float32\", \"next\")",
  };
  const auto num_tiles = [&](std::string_view store) {
    const std::string text = fmt::format(
        R"(
    @T.prim_func
    def main(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32"), n: T.int32):
        for i in range((n + 9) // 10):
            S = T.decl_buffer((5,), "float32", scope="local")
            for k in range(2):
                for j in T.unroll(5):
                    if i * 10 + j * 2 < n:
                        {}
  )",
        fmt::format(fmt::runtime(store), condition));
    int64_t count = 0;
    ir::walk(partition(func_of(text)),
             [&](const ForNode* loop) { count += loop->for_kind == ForKind::kUnrolled; });
    return count;
  };
  EXPECT_EQ(num_tiles("B[i * 5 + j] = {}"), 1 + 3);  // a whole tile, and those of 4, 2 and 1
  for (const std::string& store : stores)
    EXPECT_EQ(num_tiles(store), 2) << store;  // a whole tile, and one with guards
}

// A row that is not there may have a place of its own all the same.
TEST(SmallerTiles, WhatIsStoredWithoutAGuardStays) {
  check_numbers(partition, R"(
    @T.prim_func
    def main(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32"), n: T.int32):
        for i in range((n * 2 + 13) // 14):
            for j in T.unroll(7):
                if i * 14 + j * 2 < n * 2:
                    B[i * 7 + j] = T.if_then_else(i * 7 + j + 1 < n, A[i * 7 + j + 1], T.float32(0))
                B[i * 7 + j + 32] = A[i * 7 + j]
  )");
}

}  // namespace
}  // namespace tilewright::lower
