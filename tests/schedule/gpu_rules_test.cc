// The rules for GPUs: every program gets threads, and computes the same numbers with them.
#include <algorithm>

#include "default_programs.h"
#include "default_testing.h"
#include "tilewright/schedule/default/gpu/tile_plan.h"
#include "tilewright/schedule/steps.h"

namespace tilewright::schedule {
namespace {

constexpr GpuFeatures kCommon{};
// threads and memory are short: tiles are small, and rows do not fit
constexpr GpuFeatures kSmall{.warp_size = 8,
                             .max_threads_per_block = 16,
                             .max_threads_per_sm = 32,
                             .shared_bytes_per_block = 512,
                             .shared_bytes_per_sm = 1024,
                             .num_sms = 2};

// Adds the blocks of `stmt` that no loop over threads is around.
void find_without_threads(const Stmt& stmt, bool has_threads, std::string* found) {
  if (const auto* loop = stmt.as<ForNode>())
    return find_without_threads(loop->body, has_threads || loop->thread_tag.starts_with("threadIdx"), found);
  if (const auto* list = stmt.as<SeqStmtNode>()) {
    for (const Stmt& each : list->seq) find_without_threads(each, has_threads, found);
    return;
  }
  const auto* realize = stmt.as<BlockRealizeNode>();
  if (!realize) return;
  if (realize->block->name_hint == "root")
    return find_without_threads(realize->block->body, has_threads, found);
  if (!has_threads) *found += realize->block->name_hint + " ";
}

std::string blocks_without_threads(const IRModule& module) {
  std::string found;
  for (const ir::BaseFunc& func : module->functions)
    find_without_threads(ref_as<PrimFuncNode>(func)->body, false, &found);
  return found;
}

// Schedules the program; checks that all has threads, the numbers, and that the trace makes the same program.
std::vector<Attempt> scheduled_for_gpu(std::string_view text, const GpuFeatures& features = kCommon) {
  const IRModule module = module_of(text);
  Schedule sch(module, {.seed = 1, .verify_steps = true});
  std::vector<Attempt> attempts = schedule_for_gpu(sch, "main", features);
  EXPECT_EQ(blocks_without_threads(sch.module()), "") << show(sch.module());
  try {
    expect_same_numbers(module, sch.module());
  } catch (const Error& error) {
    ADD_FAILURE() << error.render() << "\n" << show(sch.module());
  }
  Schedule again(module), loaded(module);
  sch.trace().apply_to(again);
  EXPECT_FALSE(first_mismatch(again.module(), sch.module()));
  Trace::load_json(sch.trace().save_json()).simplified().apply_to(loaded);
  EXPECT_FALSE(first_mismatch(loaded.module(), sch.module()));
  return attempts;
}

class GpuNumbers : public testing::TestWithParam<Program> {};

TEST_P(GpuNumbers, StayTheSame) {
  for (const GpuFeatures& features : {kCommon, kSmall}) scheduled_for_gpu(GetParam().text, features);
}

INSTANTIATE_TEST_SUITE_P(GpuRules, GpuNumbers, testing::ValuesIn(kPrograms),
                         [](const auto& info) { return std::string(info.param.name); });

std::string rules_of(std::string_view text, const GpuFeatures& features = kCommon) {
  return text_of(scheduled_for_gpu(text, features));
}

std::string elements(std::string_view shape, std::string_view loops, std::string_view value,
                     std::string_view dtype = "float32") {
  return fmt::format(R"(
    @T.prim_func
    def main(A: T.Buffer({0}, "{3}"), B: T.Buffer({0}, "{3}")):
        for i, j in T.grid({1}):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = {2}
)",
                     shape, loops, value, dtype);
}

// The extents of the loops of a block, with what they are bound to: "blockIdx.x 2, threadIdx.x 32, vectorized 4".
std::string loops_of(std::string_view text, const std::string& block, const GpuFeatures& features = kCommon) {
  Schedule sch(module_of(text));
  schedule_for_gpu(sch, "main", features);
  std::string found;
  for (LoopRef loop : steps::get_loops(sch, steps::get_block(sch, block, "main"))) {
    const For node = sch.get(loop);
    int64_t extent = 0;
    as_const_int(node->extent, &extent);
    const bool is_vector = node->for_kind == ForKind::kVectorized;
    found += fmt::format("{}{} {}", found.empty() ? "" : ", ",
                         is_vector                  ? "vectorized"
                         : node->thread_tag.empty() ? "serial"
                                                    : node->thread_tag,
                         extent);
  }
  return found;
}

TEST(GpuRules, NeighbouringThreadsHaveNeighbours) {
  EXPECT_EQ(loops_of(elements("(5, 7)", "5, 7", "A[vi, vj] * T.float32(2)"), "B"),
            "blockIdx.x 2, threadIdx.x 32");
  // vectors of 16 bytes where rows are made of them
  EXPECT_EQ(loops_of(elements("(50, 128)", "50, 128", "A[vi, vj] * T.float32(2)"), "B"),
            "blockIdx.x 13, threadIdx.x 128, vectorized 4");
  EXPECT_EQ(loops_of(elements("(5, 16)", "5, 16", "A[vi, vj] * T.float16(2)", "float16"), "B"),
            "blockIdx.x 1, threadIdx.x 10, vectorized 8");
  // neighbours that begin at no vector, and a condition
  EXPECT_EQ(loops_of(elements("(5, 16)", "5, 12", "A[vi, vj + 1] * T.float32(2)"), "B"),
            "blockIdx.y 5, blockIdx.x 1, threadIdx.x 12");
  EXPECT_EQ(loops_of(elements("(5, 16)", "5, 16", "T.if_then_else(vj < 7, A[vi, vj], T.float32(0))"), "B"),
            "blockIdx.x 3, threadIdx.x 32");
}

TEST(GpuRules, ShortRowsHaveAWarpAndLongOnesABlock) {
  const auto rows = [](int rows, int terms) {
    return fmt::format(R"(
    @T.prim_func
    def main(A: T.Buffer(({0}, {1}), "float32"), B: T.Buffer(({0},), "float32")):
        for i, k in T.grid({0}, {1}):
            with T.block("B"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    B[vi] = T.float32(0)
                B[vi] = B[vi] + A[vi, vk]
)",
                       rows, terms);
  };
  EXPECT_EQ(loops_of(rows(40, 96), "B"), "blockIdx.x 5, threadIdx.y 8, serial 3, threadIdx.x 32");
  EXPECT_EQ(loops_of(rows(3, 1000), "B"), "blockIdx.x 3, serial 8, threadIdx.x 128");
  EXPECT_EQ(rules_of(rows(5, 7)),
            "B | rows | rows of 7 terms are shorter than the 32 threads of a warp\n"
            "B | columns | block B adds up 7 terms, too few for two threads\n"
            "B | threads\n");
}

TEST(GpuRules, BlocksOfARowAreOneKernel) {
  const auto* program = std::ranges::find(kPrograms, "normalised_rows", &Program::name);
  EXPECT_NE(rules_of(program->text).find("| rows\n"), std::string::npos);
}

TEST(GpuRules, TermsThatLieApartAreSharedAmongThreadsAlongY) {
  EXPECT_EQ(loops_of(R"(
    @T.prim_func
    def main(A: T.Buffer((96, 5), "float32"), B: T.Buffer((5,), "float32")):
        for j, k in T.grid(5, 96):
            with T.block("B"):
                vj, vk = T.axis.remap("SR", [j, k])
                with T.init():
                    B[vj] = T.float32(0)
                B[vj] = B[vj] + A[vk, vj]
)",
                     "B"),
            "blockIdx.x 1, threadIdx.x 32, serial 12, threadIdx.y 8");
}

TEST(GpuRules, TranspositionsGoThroughSharedMemory) {
  const std::string text = R"(
    @T.prim_func
    def main(A: T.Buffer((45, 37), "float32"), B: T.Buffer((37, 45), "float32")):
        for i, j in T.grid(37, 45):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vj, vi]
)";
  EXPECT_EQ(rules_of(text), "B | transpose\n");
  EXPECT_EQ(loops_of(text, "A_shared"), "blockIdx.x 4, serial 4, threadIdx.x 256");
}

TEST(GpuRules, ProductsAreTilesOfSharedMemoryAndRegisters) {
  const std::string text = product_text(37, 45, 21);
  EXPECT_EQ(rules_of(text), "C | tiles\n");
  EXPECT_EQ(rules_of(product_text(5, 45, 21)),
            "C | tiles | block C has 5 rows, fewer than the 8 of a tile\n"
            "C | rows | no axis along which block C adds is contiguous in all that it reads\n"
            "C | columns\n");
}

TilePlan plan_of(int rows, int columns, int terms, const GpuFeatures& features) {
  Schedule sch(module_of(product_text(rows, columns, terms)));
  const OrReason<BlockShape> shape = shape_of(sch, steps::get_block(sch, "C", "main"));
  const OrReason<TilePlan> plan = plan_tiles(*shape, features);
  EXPECT_TRUE(plan) << plan.reason().text;
  return plan ? *plan : TilePlan();
}

TEST(GpuTiles, GrowWithTheProductAndFitTheMachine) {
  constexpr GpuFeatures kLarge{.max_threads_per_block = 1024,
                               .max_threads_per_sm = 2048,
                               .max_registers_per_thread = 255,
                               .shared_bytes_per_block = 48 << 10,
                               .most_shared_bytes_per_block = 160 << 10,
                               .shared_bytes_per_sm = 160 << 10,
                               .num_sms = 100,
                               .l2_bytes_per_cycle = 5120};
  const TilePlan small = plan_of(64, 64, 64, kLarge), large = plan_of(4096, 4096, 4096, kLarge);
  EXPECT_LT(small.rows * small.columns, large.rows * large.columns);
  EXPECT_EQ(large.thread_columns, 4);  // a vector
  GpuFeatures tight = kSmall;
  tight.shared_bytes_per_block = tight.shared_bytes_per_sm = tight.most_shared_bytes_per_block = 2048;
  for (const TilePlan& plan : {small, large, plan_of(4096, 4096, 4096, tight), plan_of(9, 9, 3, tight)}) {
    EXPECT_LE(plan.threads(), 256);
    EXPECT_EQ(plan.rows % plan.thread_rows, 0);
    EXPECT_EQ(plan.columns % plan.thread_columns, 0);
  }
}

TEST(GpuTiles, ThatDoNotFitAreRefused) {
  GpuFeatures features = kCommon;
  features.shared_bytes_per_block = 16;
  Schedule sch(module_of(product_text(37, 45, 21)));
  const OrReason<TilePlan> plan = plan_tiles(*shape_of(sch, steps::get_block(sch, "C", "main")), features);
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.reason().text,
            "no tile of block C fits into 16 bytes of shared memory and 65536 registers of a block");
}

// The blocks of a product of batches, an open number of them being 0.
std::string blocks_of_product(std::string_view batches, const GpuFeatures& features = kCommon) {
  const std::string text = fmt::format(R"(
    @T.prim_func
    def main(a: T.handle, B: T.Buffer(({0}, 16, 16)), c: T.handle, n: T.int64):
        A = T.match_buffer(a, ({0}, 16, 16))
        C = T.match_buffer(c, ({0}, 16, 16))
        for b, i, j, k in T.grid({0}, 16, 16, 16):
            with T.block("C"):
                vn, vi, vj, vk = T.axis.remap("SSSR", [b, i, j, k])
                with T.init():
                    C[vn, vi, vj] = T.float32(0)
                C[vn, vi, vj] = C[vn, vi, vj] + A[vn, vi, vk] * B[vn, vk, vj]
)",
                                       batches);
  const std::string loops = loops_of(text, "C_update", features);
  return loops.substr(0, loops.find(", threadIdx"));
}

// y and z take fewer blocks than x.
TEST(GpuRules, WhatMayBeManyBlocksIsOnX) {
  EXPECT_EQ(blocks_of_product("5"), "blockIdx.z 5, blockIdx.x 2, blockIdx.y 1");
  EXPECT_EQ(blocks_of_product("5", {.max_grid_z = 4}), "blockIdx.x 5, blockIdx.y 2, blockIdx.z 1");
  EXPECT_EQ(blocks_of_product("n"), "blockIdx.x 0, blockIdx.y 1, blockIdx.z 1");
}

TEST(GpuRules, WhatCannotBeSharedRunsInOneThread) {
  const std::string text = R"(
    @T.prim_func
    def main(A: T.Buffer((7,), "float32"), B: T.Buffer((7,), "float32")):
        for i in range(7):
            with T.block("B"):
                vi = T.axis.opaque(7, i)
                T.reads(A[vi], B[0:7])
                T.writes(B[vi])
                B[vi] = A[vi] + T.if_then_else(vi > 0, B[vi - 1], T.float32(0))
)";
  EXPECT_EQ(rules_of(text),
            "B | threads | no axis of block B has values that are computed apart from each other\n"
            "B | one_thread\n");
  EXPECT_EQ(loops_of(text, "B"), "threadIdx.x 1, serial 7");
}

TEST(GpuRules, ScheduledProgramsRunInOneThread) {
  EXPECT_EQ(rules_of(R"(
    @T.prim_func
    def main(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
        for i in T.parallel(2):
            for j in range(4):
                with T.block("B"):
                    vi = T.axis.spatial(8, i * 4 + j)
                    B[vi] = A[vi] * T.float32(2)
)"),
            "B | threads | loop i is not a plain serial loop\n"
            "B | one_thread\n");
}

TEST(GpuRules, BoundProgramsStay) {
  constexpr std::string_view kText = R"(
    @T.prim_func
    def main(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
        for i in T.thread_binding(8, thread="threadIdx.x"):
            with T.block("B"):
                vi = T.axis.spatial(8, i)
                B[vi] = A[vi] * T.float32(2)
)";
  const IRModule module = module_of(kText);
  Schedule sch(module);
  EXPECT_EQ(text_of(schedule_for_gpu(sch, "main", kCommon)), "main | any | its loops are bound to threads\n");
  EXPECT_EQ(sch.module(), module);
  EXPECT_TRUE(schedule_for_gpu(sch, "other", kCommon).empty());
}

TEST(GpuRules, OfAFunctionAloneGiveItsTrace) {
  const PrimFunc func = ref_as<PrimFuncNode>(module_of(product_text(37, 45, 21))->functions[0]);
  const DefaultSchedule found = schedule_for_gpu("main", func, kCommon);
  EXPECT_NE(found.trace.str().find("pad_einsum"), std::string::npos);
  EXPECT_NE(found.func, func);
}

}  // namespace
}  // namespace tilewright::schedule
