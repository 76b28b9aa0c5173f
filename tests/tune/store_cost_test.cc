// Cycles of stores: registers, waiting sums, single lanes, threads.
#include "tilewright/tune/store_cost.h"

#include "nest_testing.h"

namespace tilewright::tune {
namespace {

// A product of 64 x 64 x 64 whose innermost loops make `rows` rows of 16 sums.
std::string product(int rows) {
  return fmt::format(R"(
def main(A: T.Buffer((64, 64), "float32"), B: T.Buffer((64, 64), "float32"), C: T.Buffer((64, 64), "float32")):
    for i0, j0, k in T.grid({}, 4, 64):
        for i1 in T.unroll({}):
            for j1 in T.vectorized(16):
                with T.block("C"):
                    vi = T.axis.spatial(64, i0 * {} + i1)
                    vj = T.axis.spatial(64, j0 * 16 + j1)
                    vk = T.axis.reduce(64, k)
                    C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
)",
                     64 / rows, rows, rows);
}

ProgramCost cost(const std::string& text, target::Features features = round_machine()) {
  const Nest nest = nest_of(module_of(text));
  return cost_of(nest, Footprints(nest, features), features);
}

TEST(StoreCost, sums_stay_in_registers) {
  const StoreCost found = cost(product(8)).stores[0];
  EXPECT_EQ(found.body.lanes, 16);
  EXPECT_EQ(found.body.copies, 8);
  EXPECT_EQ(found.body.iterations, 64 * 64 * 64 / 128);
  EXPECT_EQ(found.body.accumulators, 8);
  EXPECT_EQ(found.body.operands, 2);
  EXPECT_EQ(found.body.spills, 0);
  EXPECT_EQ(found.arithmetic, 64 * 64 * 64 / 16);
  EXPECT_EQ(found.stores, 64 * 64 / 16);  // once, after all terms
}

TEST(StoreCost, more_sums_than_registers_come_and_go) {
  const StoreCost found = cost(product(32)).stores[0];
  EXPECT_EQ(found.body.accumulators, 32);
  EXPECT_EQ(found.body.spills, 32);
  EXPECT_GT(found.cycles(), cost(product(16)).stores[0].cycles());
}

TEST(StoreCost, few_sums_wait_for_each_other) {
  const StoreCost one = cost(product(1)).stores[0], eight = cost(product(8)).stores[0];
  EXPECT_GT(one.latency, one.arithmetic);
  EXPECT_LT(eight.latency, eight.arithmetic);
}

std::string copy(std::string_view index, std::string_view loop) {
  return fmt::format(R"(
def main(A: T.Buffer((256, 256), "float32"), B: T.Buffer((256, 256), "float32")):
    for i in range(256):
        for j in {}:
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[{}] * T.float32(2)
)",
                     loop, index);
}

TEST(StoreCost, lanes_that_are_no_neighbours_are_loaded_one_by_one) {
  const StoreCost rows = cost(copy("vi, vj", "T.vectorized(256)")).stores[0],
                  columns = cost(copy("vj, vi", "T.vectorized(256)")).stores[0];
  EXPECT_EQ(rows.moves[1].stride, 1);
  EXPECT_EQ(columns.moves[1].stride, 256);
  EXPECT_EQ(rows.loads, 256 * 16);
  EXPECT_EQ(columns.loads, 256 * 256);
}

TEST(StoreCost, short_vectors_leave_lanes_idle) {
  const StoreCost found = cost(R"(
def main(A: T.Buffer((64, 5), "float32"), B: T.Buffer((64, 5), "float32")):
    for i in range(64):
        for j in T.vectorized(5):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] * T.float32(2)
)")
                              .stores[0];
  EXPECT_EQ(found.body.vector_use, 5.0 / 16);
  EXPECT_EQ(found.moves[1].instructions, 64 * 2);  // four lanes and one, in loops that LLVM writes out
}

TEST(StoreCost, loops_without_vectors_are_vectorized_by_the_code_generator) {
  const StoreCost rows = cost(copy("vi, vj", "range(256)")).stores[0],
                  columns = cost(copy("vj, vi", "range(256)")).stores[0];
  EXPECT_EQ(rows.body.lanes, 16);
  EXPECT_EQ(columns.body.lanes, 1);
}

TEST(ProgramCost, uneven_loops_over_threads_take_as_long_as_the_last_thread) {
  const auto parallel = [](int extent, int64_t cores) {
    target::Features features = round_machine();
    features.num_cores = cores;
    features.parallel_cycles = 1000;
    return cost(fmt::format(R"(
def main(A: T.Buffer(({0}, 64), "float32"), B: T.Buffer(({0}, 64), "float32")):
    for i in T.parallel({0}):
        for j in T.vectorized(64):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] * T.float32(2)
)",
                            extent),
                features);
  };
  const ProgramCost one = parallel(3, 1), two = parallel(3, 2);
  EXPECT_EQ(two.cycles[0], one.cycles[0] * 2 / 3);
  EXPECT_EQ(one.threads_cycles, 0);
  EXPECT_EQ(two.threads_cycles, 500);
  EXPECT_EQ(two.parallel_extent, 3);
}

}  // namespace
}  // namespace tilewright::tune
