// The rules that schedule plain functions.
#include "tilewright/schedule/default/default.h"
#include "default_programs.h"
#include "default_testing.h"
#include "tilewright/ir/services.h"
#include "tilewright/schedule/default/cpu/register_tile.h"

namespace tilewright::schedule {
namespace {

constexpr Features kAvx512{.vector_bytes = 64, .num_vector_registers = 32};
constexpr Features kAvx2{.vector_bytes = 32, .num_vector_registers = 16};
constexpr Features kSse{.vector_bytes = 16, .num_vector_registers = 16};
constexpr Features kTiny{
    .vector_bytes = 32, .num_vector_registers = 16, .l2_bytes = 256};  // packs all it can
constexpr Features kNeon{.vector_bytes = 16, .num_vector_registers = 32};

PrimFunc main_of(std::string_view text) { return ref_as<PrimFuncNode>(module_of(text)->functions[0]); }

// ---- the tile of a sum

constexpr TileLoads kLoads{.vectors = 1, .rows = 1}, kFarLoads{.vectors = 1, .rows = 1, .is_far = true};

struct TileCase {
  int64_t rows, columns, bytes;
  Features features;
  int64_t expected_rows, expected_vectors, expected_lanes;
};

TEST(RegisterTile, OfMatrixProducts) {
  const TileCase cases[] = {
      {512, 512, 4, kAvx512, 4, 4, 16}, {512, 512, 4, kAvx2, 4, 2, 8},   {512, 512, 4, kSse, 4, 2, 4},
      {512, 512, 4, kNeon, 4, 4, 4},    {512, 512, 8, kAvx512, 4, 4, 8}, {512, 512, 1, kAvx512, 4, 4, 64},
      {5, 127, 4, kAvx512, 5, 4, 16},   {7, 127, 4, kAvx2, 4, 2, 8},     {127, 5, 4, kAvx512, 16, 1, 8},
      {127, 7, 4, kAvx2, 13, 1, 8},     {127, 5, 4, kSse, 4, 2, 4},      {1, 127, 4, kAvx512, 1, 8, 16},
      {127, 127, 4, kNeon, 4, 4, 4},    {127, 1, 4, kAvx512, 16, 1, 1},
  };
  for (const TileCase& each : cases) {
    const RegisterTile tile =
        choose_register_tile(each.rows, each.columns, each.bytes, kLoads, each.features);
    SCOPED_TRACE(fmt::format("{} x {} of {} bytes, {}-byte vectors, {} registers", each.rows, each.columns,
                             each.bytes, each.features.vector_bytes, each.features.num_vector_registers));
    EXPECT_EQ(tile.rows, each.expected_rows);
    EXPECT_EQ(tile.vectors, each.expected_vectors);
    EXPECT_EQ(tile.lanes, each.expected_lanes);
    // the sums, the vectors of a step and a scalar all have a register
    EXPECT_LE(tile.rows * tile.vectors + tile.vectors + 1, each.features.num_vector_registers);
  }
}

TEST(RegisterTile, OfFarVectorsIsAsTallAsRegistersAllow) {
  const auto tile = [](int64_t rows, const TileLoads& loads, int64_t row_step = 1) {
    const RegisterTile chosen = choose_register_tile(rows, 256, 4, loads, kAvx512, false, row_step);
    return std::pair(chosen.rows, chosen.vectors);
  };
  using Tile = std::pair<int64_t, int64_t>;
  EXPECT_EQ(tile(16, kLoads, 4), Tile(4, 4));
  EXPECT_EQ(tile(16, kFarLoads, 4), Tile(8, 2));  // twice, as 12 and four would be
  EXPECT_EQ(tile(49, kLoads, 7), Tile(7, 2));
  EXPECT_EQ(tile(49, kFarLoads, 7), Tile(14, 2));
  EXPECT_EQ(tile(4, kFarLoads), tile(4, kLoads));  // read once in any case
}

// ---- whole programs

void expect_scheduled(std::string_view before, const Features& features, std::string_view after) {
  const IRModule found = scheduled(before, features), expected = module_of(after);
  const auto difference = first_mismatch(found->functions[0], expected->functions[0]);
  EXPECT_FALSE(difference) << difference->path << ": " << difference->reason << "\n" << show(found);
}

constexpr std::string_view kMatmul = R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7), "float32"), B: T.Buffer((7, 19), "float32"), C: T.Buffer((5, 19), "float32")):
        for i, j, k in T.grid(5, 19, 7):
            with T.block("C"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    C[vi, vj] = T.float32(0)
                C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
)";

constexpr std::string_view kMatmulBiasRelu = R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7), "float32"), B: T.Buffer((7, 19), "float32"), bias: T.Buffer((19,), "float32"), C: T.Buffer((5, 19), "float32")):
        Y = T.alloc_buffer((5, 19), "float32")
        Z = T.alloc_buffer((5, 19), "float32")
        for i, j, k in T.grid(5, 19, 7):
            with T.block("Y"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    Y[vi, vj] = T.float32(0)
                Y[vi, vj] = Y[vi, vj] + A[vi, vk] * B[vk, vj]
        for i, j in T.grid(5, 19):
            with T.block("Z"):
                vi, vj = T.axis.remap("SS", [i, j])
                Z[vi, vj] = Y[vi, vj] + bias[vj]
        for i, j in T.grid(5, 19):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = T.max(Z[vi, vj], T.float32(0))
)";

TEST(DefaultSchedule, SmallMatmul) {
  expect_scheduled(kMatmul, kSse, R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7), "float32"), B: T.Buffer((7, 19), "float32"), C: T.Buffer((5, 19), "float32")):
        C_local = T.alloc_buffer((5, 19), scope="local")
        for jo, io in T.grid(3, 1):
            for i in T.unroll(5):
                for jn in T.unroll(2):
                    for jv in T.vectorized(4):
                        with T.block("C_init"):
                            vi = T.axis.spatial(5, i)
                            vj = T.axis.spatial(19, jo * 8 + jn * 4 + jv)
                            T.where(jo * 8 + jn * 4 + jv < 19)
                            C_local[vi, vj] = T.float32(0)
            for k in range(7):
                for i in T.unroll(5):
                    for jn in T.unroll(2):
                        for jv in T.vectorized(4):
                            with T.block("C_update"):
                                vi = T.axis.spatial(5, i)
                                vj = T.axis.spatial(19, jo * 8 + jn * 4 + jv)
                                vk = T.axis.reduce(7, k)
                                T.where(jo * 8 + jn * 4 + jv < 19)
                                C_local[vi, vj] = C_local[vi, vj] + A[vi, vk] * B[vk, vj]
            for i in T.unroll(5):
                for jn in T.unroll(2):
                    for jv in T.vectorized(4):
                        with T.block("C"):
                            vi = T.axis.spatial(5, io * 5 + i)
                            vj = T.axis.spatial(19, jo * 8 + jn * 4 + jv)
                            T.where(jo * 8 + jn * 4 + jv < 19)
                            C[vi, vj] = C_local[vi, vj]
)");
}

TEST(DefaultSchedule, SmallMatmulWithBiasAndRelu) {
  expect_scheduled(kMatmulBiasRelu, kSse, R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7), "float32"), B: T.Buffer((7, 19), "float32"), bias: T.Buffer((19,), "float32"), C: T.Buffer((5, 19), "float32")):
        Y = T.alloc_buffer((5, 19), scope="local")
        for jo, io in T.grid(3, 1):
            for i in T.unroll(5):
                for jn in T.unroll(2):
                    for jv in T.vectorized(4):
                        with T.block("Y_init"):
                            vi = T.axis.spatial(5, i)
                            vj = T.axis.spatial(19, jo * 8 + jn * 4 + jv)
                            T.where(jo * 8 + jn * 4 + jv < 19)
                            Y[vi, vj] = T.float32(0)
            for k in range(7):
                for i in T.unroll(5):
                    for jn in T.unroll(2):
                        for jv in T.vectorized(4):
                            with T.block("Y_update"):
                                vi = T.axis.spatial(5, i)
                                vj = T.axis.spatial(19, jo * 8 + jn * 4 + jv)
                                vk = T.axis.reduce(7, k)
                                T.where(jo * 8 + jn * 4 + jv < 19)
                                Y[vi, vj] = Y[vi, vj] + A[vi, vk] * B[vk, vj]
            for i in T.unroll(5):
                for jn in T.unroll(2):
                    for jv in T.vectorized(4):
                        with T.block("C"):
                            vi = T.axis.spatial(5, io * 5 + i)
                            vj = T.axis.spatial(19, jo * 8 + jn * 4 + jv)
                            T.where(jo * 8 + jn * 4 + jv < 19)
                            C[vi, vj] = T.max(Y[vi, vj] + bias[vj], T.float32(0))
)");
}

TEST(DefaultSchedule, TraceIsPython) {
  const DefaultSchedule found = schedule_by_rules("main", main_of(R"(
    @T.prim_func
    def main(A: T.Buffer((64, 64), "float32"), B: T.Buffer((64, 127), "float32"), C: T.Buffer((64, 127), "float32")):
        for i, j, k in T.grid(64, 127, 64):
            with T.block("C"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    C[vi, vj] = T.float32(0)
                C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
  )"),
                                                  kTiny);
  const std::string text = found.trace.str();
  EXPECT_EQ(text.substr(text.rfind('\n', text.size() - 2) + 1),
            "sch.transform_layout(block=b23, buffer=[\"write\", 0], "
            "index_map=lambda i0, i1: (i1 // 16, i0, i1 % 16))\n");
}

// ---- numbers before and after, on every machine

class Numbers : public testing::TestWithParam<Program> {};

TEST_P(Numbers, StayTheSame) {
  for (const Features& features : {kAvx512, kAvx2, kSse, kNeon, kTiny}) {
    scheduled(GetParam().text, features);
    Features two_cores = features;
    two_cores.num_cores = 2;
    scheduled(GetParam().text, two_cores);
  }
}

INSTANTIATE_TEST_SUITE_P(DefaultSchedule, Numbers, testing::ValuesIn(kPrograms),
                         [](const auto& each) { return std::string(each.param.name); });

// Seven columns of vectors of eight are one vector with a mask, four of them are a vector.
TEST(TileSum, MasksVectorsThatColumnsDoNotFill) {
  const auto sums = [](int columns, bool has_masks = true) {
    const Features features{.vector_bytes = 32, .num_vector_registers = 16, .has_masks = has_masks};
    return show(scheduled(product_text(5, columns, 3), features));
  };
  EXPECT_THAT(sums(7), testing::AllOf(testing::HasSubstr("in T.vectorized(8):"), testing::HasSubstr("< 7)"),
                                      testing::Not(testing::HasSubstr("T.vectorized(7)"))));
  EXPECT_THAT(sums(7, false), testing::HasSubstr("T.vectorized(7)"));
  EXPECT_THAT(sums(4), testing::Not(testing::HasSubstr("T.where")));
}

// A sum of so many terms that L1 does not keep a panel for the next tile: few loads for each
// multiply-add, and no more rows than the cache keeps beside it.
TEST(RegisterTile, OfPanelsThatPassBy) {
  const auto tile = [](int64_t steps, int64_t kept_rows = TileLoads::kAllRows) {
    const TileLoads loads{.vectors = 1, .rows = 1, .steps = steps, .kept_rows = kept_rows};
    const RegisterTile chosen = choose_register_tile(128, 768, 4, loads, kAvx512);
    return std::pair(chosen.rows, chosen.vectors);
  };
  using Tile = std::pair<int64_t, int64_t>;
  EXPECT_EQ(tile(32), Tile(4, 6));  // L1 keeps panels
  EXPECT_EQ(tile(768), Tile(8, 3));
  EXPECT_EQ(tile(768, 7), Tile(6, 4));
  EXPECT_EQ(tile(768, 2), Tile(2, 8));
  // 7 vectors of 112 terms are half of L1, which is less than 2 rows of them need
  const TileLoads whole_rows{.vectors = 1, .rows = 1, .steps = 112};
  EXPECT_EQ(choose_register_tile(112, 112, 4, whole_rows, kAvx512).vectors, 2);
  const auto of_few_rows = [](bool is_read_again) {
    const TileLoads loads{
        .vectors = 1, .rows = 1, .steps = 768, .kept_rows = 8, .is_read_again = is_read_again};
    return choose_register_tile(14, 256, 4, loads, kAvx512).rows;
  };
  EXPECT_EQ(of_few_rows(false), 14);  // one tile takes all rows: nothing is read again
  EXPECT_EQ(of_few_rows(true), 7);
}

TEST(TileSum, CopiesOperandsOfMoreThanHalfTheSecondCache) {
  const auto is_copied = [](int64_t l2_bytes) {
    Schedule sch(module_of(product_text(64, 64, 16)), {.seed = 1});
    schedule_by_rules(sch, "main", {.vector_bytes = 32, .num_vector_registers = 16, .l2_bytes = l2_bytes});
    return sch.trace().str().find("cache_read") != std::string::npos;
  };
  EXPECT_TRUE(is_copied(8191));
  EXPECT_FALSE(is_copied(8192));  // B has 4096 bytes
}

// Panels that L2 holds are copied, too, if L1 does not hold them and many tiles read each.
TEST(TileSum, CopiesOperandsThatTheFirstCacheDoesNotHold) {
  const auto is_copied = [](int rows, int64_t l1_bytes) {
    Schedule sch(module_of(product_text(rows, 64, 16)), {.seed = 1});
    schedule_by_rules(
        sch, "main",
        {.vector_bytes = 32, .num_vector_registers = 16, .l1_bytes = l1_bytes, .l2_bytes = 1 << 20});
    return sch.trace().str().find("cache_read") != std::string::npos;
  };
  EXPECT_TRUE(is_copied(127, 4095));
  EXPECT_FALSE(is_copied(127, 4096));  // B has 4096 bytes
  EXPECT_FALSE(is_copied(7, 4095));    // two tiles read each panel
}

// Rows that L2 does not hold are read once: a tile of them takes all panels.
TEST(TileSum, TakesAllPanelsForRowsThatDoNotStay) {
  const auto outer_loops = [](int64_t l2_bytes) {
    const Features features{
        .vector_bytes = 32, .num_vector_registers = 16, .l1_bytes = 32 << 10, .l2_bytes = l2_bytes};
    const std::string text = show(scheduled(product_text(120, 36, 128), features));
    const size_t begin = text.find("for ");
    return text.substr(begin, text.find('\n', begin) - begin);
  };
  constexpr int64_t kBytes = int64_t{120} * 128 * 4;  // of rows
  EXPECT_EQ(outer_loops(2 * kBytes), "for ax1_0, ax0_0 in T.grid(2, 30):");
  EXPECT_EQ(outer_loops(2 * kBytes - 1), "for ax0_0, ax1_0 in T.grid(30, 2):");
}

TEST(DefaultSchedule, PanelsOfALargeProductAreSharedOut) {
  Features features = kTiny;
  features.num_cores = 2;
  const std::string text = show(scheduled(product_text(65, 127, 33), features));
  EXPECT_NE(text.find("T.parallel(8)"), std::string::npos) << text;
}

// With few iterations, one core gets one more than others, which wait: those of the next loop are shared out,
// too.
TEST(DefaultSchedule, CoresGetAboutTheSame) {
  const auto iterations = [](int rows, int num_cores) {
    const std::string sums = fmt::format(R"(
    @T.prim_func
    def main(A: T.Buffer(({0}, 7, 2048), "float32"), S: T.Buffer(({0}, 7), "float32")):
        for i, j, k in T.grid({0}, 7, 2048):
            with T.block("S"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    S[vi, vj] = T.float32(0)
                S[vi, vj] = S[vi, vj] + A[vi, vj, vk]
)",
                                         rows);
    const Features features{.vector_bytes = 32, .num_vector_registers = 16, .num_cores = num_cores};
    const std::string text = show(scheduled(sums, features));
    const size_t begin = text.find("T.parallel(");
    return text.substr(begin, text.find(')', begin) + 1 - begin);
  };
  EXPECT_EQ(iterations(10, 2), "T.parallel(10)");
  EXPECT_EQ(iterations(11, 2), "T.parallel(77)");
  EXPECT_EQ(iterations(19, 2), "T.parallel(133)");
  EXPECT_EQ(iterations(21, 2), "T.parallel(21)");  // 11 and 10: a twentieth more
  EXPECT_EQ(iterations(12, 3), "T.parallel(12)");
  EXPECT_EQ(iterations(13, 3), "T.parallel(91)");
}

// ---- what the rules leave alone

TEST(DefaultSchedule, AttemptsSayWhyNot) {
  std::vector<Attempt> attempts;
  scheduled(R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7), "float32"), B: T.Buffer((5, 7), "float32"), C: T.Buffer((5,), "float32"), D: T.Buffer((5, 7), "float32")):
        for i, j in T.grid(5, 7):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] * T.float32(2)
        for i, k in T.grid(5, 7):
            with T.block("C"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    C[vi] = T.float32(0)
                C[vi] = C[vi] + A[vi, vk]
        for i, j in T.grid(5, 7):
            with T.block("D"):
                vi, vj = T.axis.remap("SS", [i, j])
                D[vi, vj] = B[vi, vj] + T.float32(1)
  )",
            kAvx2, &attempts);
  EXPECT_EQ(text_of(attempts),
            "B | inline | compute_inline: block B cannot be inlined: block B writes B, a parameter of the "
            "function\n"
            "C | tile_sum | a copy of A for its vectors pays from 4 uses on, and would have 1\n"
            "C | reduce_rows | axis vk of block C has 7 terms, fewer than two vectors of 4\n"
            "B | vectorize\n"
            "D | vectorize\n");
}

TEST(DefaultSchedule, RowsAreReducedTogether) {
  const IRModule rows = scheduled(R"(
    @T.prim_func
    def main(A: T.Buffer((5, 96), "float32"), B: T.Buffer((5, 96), "float32")):
        S = T.alloc_buffer((5,))
        for i, k in T.grid(5, 96):
            with T.block("S"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    S[vi] = T.float32(0)
                S[vi] = S[vi] + A[vi, vk]
        for i, k in T.grid(5, 96):
            with T.block("B"):
                vi, vk = T.axis.remap("SS", [i, k])
                B[vi, vk] = A[vi, vk] - S[vi]
  )",
                                  kAvx2);
  const auto* root = rows->functions[0].as<PrimFuncNode>()->body.as<BlockRealizeNode>();
  EXPECT_TRUE(is<ForNode>(root->block->body)) << show(rows);  // one loop over rows
  std::vector<Attempt> attempts;
  scheduled(R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7), "float32"), B: T.Buffer((5,), "float32")):
        for i, k in T.grid(5, 7):
            with T.block("B"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    B[vi] = T.float32(0)
                B[vi] = B[vi] + A[vi, vk]
  )",
            kAvx2, &attempts);
  EXPECT_EQ(text_of(attempts),
            "B | tile_sum | a copy of A for its vectors pays from 4 uses on, and would have 1\n"
            "B | reduce_rows | axis vk of block B has 7 terms, fewer than two vectors of 4\n");
}

TEST(DefaultSchedule, WinogradIsTiledAllAtOnceOrInStrips) {
  const auto program = std::find_if(std::begin(kPrograms), std::end(kPrograms),
                                    [](const Program& each) { return each.name == "winograd"; });
  const auto loop_of_tiles = [&](const Features& features) {
    Schedule sch(module_of(program->text));
    const std::string attempts = text_of(schedule_by_rules(sch, "main", features));
    EXPECT_NE(attempts.find("products | tile_winograd\n"), std::string::npos) << attempts;
    // the loops that the transform of the data and the sum have in common
    const LoopRef data = sch.call("get_loops", sch.call("get_block", "patches", "main").block()).loops()[0];
    const LoopRef sum =
        sch.call("get_loops", sch.call("get_block", "products_update", "main").block()).loops()[0];
    return sch.state()[data] == sch.state()[sum];
  };
  EXPECT_FALSE(loop_of_tiles(kSse));
  EXPECT_TRUE(loop_of_tiles(kTiny));
}

// Roles are not guessed from what blocks compute: programs written by hand that look alike stay what they
// are.
TEST(DefaultSchedule, WinogradIsKnownByTheRolesOfItsBlocks) {
  const auto program = std::find_if(std::begin(kPrograms), std::end(kPrograms),
                                    [](const Program& each) { return each.name == "winograd"; });
  std::string text(program->text);
  const std::string role = "T.block_attr({\"role\": \"winograd.patches\"})";
  text.replace(text.find(role), role.size(), "pass");
  Schedule sch(module_of(text));
  const std::vector<Attempt> attempts = schedule_by_rules(sch, "main", kSse);
  EXPECT_TRUE(std::none_of(attempts.begin(), attempts.end(), [](const Attempt& attempt) {
    return attempt.rule == "tile_winograd" && attempt.is_applied();
  }));
  expect_same_numbers(module_of(text), sch.module());
}

TEST(DefaultSchedule, SumsOfGroupsAreComputedInTheTilesOfTheirSum) {
  const auto program = std::find_if(std::begin(kPrograms), std::end(kPrograms),
                                    [](const Program& each) { return each.name == "sums_of_groups"; });
  Schedule sch(module_of(program->text));
  EXPECT_EQ(text_of(schedule_by_rules(sch, "main", kAvx2)), "parts | tile_groups\n");
  const auto loops = [&](std::string_view block) {
    return sch.call("get_loops", sch.call("get_block", std::string(block), "main").block()).loops();
  };
  // tiles of columns, of rows, and groups; what is inside of them stays in registers
  const std::vector<LoopRef> parts = loops("parts_update"), sums = loops("sums_update");
  for (size_t depth = 0; depth < 3; ++depth) EXPECT_EQ(sch.state()[parts[depth]], sch.state()[sums[depth]]);
  EXPECT_NE(sch.state()[parts[3]], sch.state()[sums[3]]);
}

TEST(DefaultSchedule, DoubledSumsStaySmall) {
  std::string text = "@T.prim_func\ndef main(A: T.Buffer((7,), \"int32\"), B: T.Buffer((7,), \"int32\")):\n";
  for (int n = 0; n < 39; ++n) text += fmt::format("    Y{} = T.alloc_buffer((7,), \"int32\")\n", n);
  for (int n = 0; n < 40; ++n) {
    const std::string from = n == 0 ? "A" : fmt::format("Y{}", n - 1),
                      to = n == 39 ? "B" : fmt::format("Y{}", n);
    text += fmt::format(
        "    for i in range(7):\n        with T.block(\"{0}\"):\n            vi = T.axis.spatial(7, i)\n"
        "            {0}[vi] = {1}[vi] + {1}[vi]\n",
        to, from);
  }
  scheduled(text, kAvx2);
}

TEST(DefaultSchedule, OtherFunctionsOfTheModuleStay) {
  Schedule sch(module_of(kMatmul));
  const IRModule before = sch.module();
  EXPECT_TRUE(schedule_by_rules(sch, "other", kAvx2).empty());
  EXPECT_EQ(sch.module(), before);
}

}  // namespace
}  // namespace tilewright::schedule
