// Default schedules of sums that tile registers multiply.
#include "matrix_tiles_testing.h"
#include "tilewright/schedule/default/default.h"

namespace tilewright::driver {
namespace {

using MatrixTileRules = MatrixTiles;

constexpr target::Features kSapphireRapids{.vector_bytes = 64,
                                           .num_vector_registers = 32,
                                           .dots = {.mixed_bytes = true,
                                                    .signed_bytes = true,
                                                    .bfloats = true,
                                                    .byte_tiles = true,
                                                    .bfloat_tiles = true}};

std::string matmul_text(int64_t rows, int64_t columns, int64_t terms, std::string_view row,
                        std::string_view column, std::string_view sum) {
  return fmt::format(R"(
@T.prim_func
def main(A: T.Buffer(({0}, {2}), "{3}"), B: T.Buffer(({2}, {1}), "{4}"), C: T.Buffer(({0}, {1}), "{5}")):
    T.func_attr({{"tir.noalias": True}})
    for i, j, k in T.grid({0}, {1}, {2}):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.{5}(0)
            C[vi, vj] = C[vi, vj] + T.Cast("{5}", A[vi, vk]) * T.Cast("{5}", B[vk, vj])
)",
                     rows, columns, terms, row, column, sum);
}

bool has_tiles(const std::string& trace) { return trace.find("matrix_tiles") != std::string::npos; }

void expect_matmul_of_tiles(int64_t rows, int64_t columns, int64_t terms, const char* row, const char* column,
                            const target::Features& features = kSapphireRapids) {
  SCOPED_TRACE(fmt::format("{} x {} x {} of {} and {}", rows, columns, terms, row, column));
  const DataType a_type = DataType::parse(row), b_type = DataType::parse(column);
  const std::string sum = a_type.is_bfloat16() ? "float32" : "int32";
  const schedule::DefaultSchedule scheduled = schedule::schedule_by_rules(
      "main", parsed(matmul_text(rows, columns, terms, row, column, sum)), features);
  EXPECT_TRUE(has_tiles(scheduled.trace.str())) << scheduled.trace.str();
  const Tensor a = random({rows, terms}, a_type, 3), b = random({terms, columns}, b_type, 4),
               c = Tensor::empty(runtime::Shape{rows, columns}, DataType::parse(sum));
  testing::reset_amx_counts();
  compiled(scheduled.func)(a, b, c);
  expect_product(a, b, c);
  if (testing::is_amx_emulated()) EXPECT_GT(testing::amx_counts().products, 0);
}

TEST_F(MatrixTileRules, MatrixProducts) {
  expect_matmul_of_tiles(64, 64, 64, "bfloat16", "bfloat16");
  expect_matmul_of_tiles(112, 48, 96, "bfloat16", "bfloat16");
  expect_matmul_of_tiles(126, 48, 72, "bfloat16", "bfloat16");  // tiles of 14 rows, 12 groups
  expect_matmul_of_tiles(55, 32, 40, "int8", "int8");           // of 11 rows, 10 groups
  expect_matmul_of_tiles(128, 256, 64, "uint8", "int8");
}

// Panels that do not fit into L1 are read in parts, by 128 rows at a time.
TEST_F(MatrixTileRules, BlocksOfLongSums) {
  target::Features features = kSapphireRapids;
  features.l1_bytes = 24 << 10;  // of which 256 terms of 32 columns take two thirds
  features.l2_bytes = 128 << 10;
  expect_matmul_of_tiles(256, 128, 768, "bfloat16", "bfloat16", features);
  if (testing::is_amx_emulated()) {
    const AmxCounts counts = testing::amx_counts();
    const int64_t tiles = 256 / 16 * 128 / 16, parts = 3, steps = 768 / 32;
    EXPECT_EQ(counts.configurations, 1);
    EXPECT_EQ(counts.products, tiles * steps);
    EXPECT_EQ(counts.stores, tiles * parts);
    EXPECT_EQ(counts.zeros, tiles);
    EXPECT_EQ(counts.loads, tiles * (parts - 1) + tiles * steps);  // sums, and a factor for each product
  }
  expect_matmul_of_tiles(126, 96, 1280, "int8", "int8", features);
  features.num_cores = 2;
  expect_matmul_of_tiles(128, 192, 768, "bfloat16", "bfloat16", features);
  features.l2_bytes = 32 << 10;  // no room for rows of all terms: sums of several panels wait for each part
  expect_matmul_of_tiles(128, 192, 768, "bfloat16", "bfloat16", features);
}

TEST_F(MatrixTileRules, RandomShapesAndCaches) {
  uint32_t state = 7;
  const auto below = [&](uint32_t most) {
    state = state * 1664525 + 1013904223;
    return int64_t{(state >> 16) % most};
  };
  for (int n = 0; n < 30; ++n) {
    target::Features features = kSapphireRapids;
    features.l1_bytes = 2048 << below(5);
    features.l2_bytes = features.l1_bytes << below(6);
    features.num_cores = 1 + below(2);
    const bool is_bytes = below(2) == 0;
    const int64_t rows = (8 + below(9)) * (8 + below(5)), columns = 16 * (1 + below(9)),
                  terms = (is_bytes ? 4 : 2) * (4 + below(13)) * (2 + below(6));
    expect_matmul_of_tiles(rows, columns, terms, is_bytes ? "uint8" : "bfloat16",
                           is_bytes ? "int8" : "bfloat16", features);
    if (HasFailure()) break;
  }
}

// Every part of a parallel loop gives its thread's registers their shapes, and lets them go.
TEST_F(MatrixTileRules, InParallelLoopsWithAnEpilogue) {
  const std::string text = R"(
@T.prim_func
def main(A: T.Buffer((96, 64), "bfloat16"), B: T.Buffer((64, 96), "bfloat16"), D: T.Buffer((96, 96), "float32")):
    T.func_attr({"tir.noalias": True})
    C = T.alloc_buffer((96, 96), "float32")
    for i, j, k in T.grid(96, 96, 64):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + T.Cast("float32", A[vi, vk]) * T.Cast("float32", B[vk, vj])
    for i, j in T.grid(96, 96):
        with T.block("D"):
            vi, vj = T.axis.remap("SS", [i, j])
            D[vi, vj] = T.max(C[vi, vj], T.float32(0))
)";
  target::Features features = kSapphireRapids;
  features.num_cores = 2;
  const schedule::DefaultSchedule scheduled = schedule::schedule_by_rules("main", parsed(text), features);
  EXPECT_TRUE(has_tiles(scheduled.trace.str())) << scheduled.trace.str();
  EXPECT_NE(scheduled.trace.str().find("sch.parallel"), std::string::npos);
  const Tensor a = random({96, 64}, DataType::bfloat16(), 3), b = random({64, 96}, DataType::bfloat16(), 4),
               c = Tensor::empty(runtime::Shape{96, 96}, kFloat32),
               expected = Tensor::empty(runtime::Shape{96, 96}, kFloat32);
  compiled(scheduled.func)(a, b, c);
  compiled(parsed(text), "llvm")(a, b, expected);
  for (int64_t n = 0; n < c.num_elements(); ++n) ASSERT_EQ(element(c, n), element(expected, n)) << n;
  if (!testing::is_amx_emulated()) return;
  const AmxCounts counts = testing::amx_counts();
  EXPECT_GT(counts.configurations, 0);
  if (testing::are_releases_counted()) EXPECT_EQ(counts.configurations, counts.releases);
  EXPECT_EQ(counts.products, 6 * 6 * 2);
}

TEST_F(MatrixTileRules, Convolutions) {
  // rows 2 apart, of 32 channels, that are summed with the 3 x 3 places of a window
  const std::string text = R"(
@T.prim_func
def main(A: T.Buffer((1, 33, 33, 32), "uint8"), B: T.Buffer((3, 3, 8, 32, 4), "int8"), C: T.Buffer((1, 16, 16, 32), "int32")):
    T.func_attr({"tir.noalias": True})
    for n, h, w, c, y, x, k in T.grid(1, 16, 16, 32, 3, 3, 32):
        with T.block("C"):
            vn, vh, vw, vc, vy, vx, vk = T.axis.remap("SSSSRRR", [n, h, w, c, y, x, k])
            with T.init():
                C[vn, vh, vw, vc] = 0
            C[vn, vh, vw, vc] = C[vn, vh, vw, vc] + T.Cast("int32", A[vn, vh * 2 + vy, vw * 2 + vx, vk]) * T.Cast("int32", B[vy, vx, vk // 4, vc, vk % 4])
)";
  const schedule::DefaultSchedule scheduled =
      schedule::schedule_by_rules("main", parsed(text), kSapphireRapids);
  EXPECT_TRUE(has_tiles(scheduled.trace.str())) << scheduled.trace.str();
  const Tensor a = random({1, 33, 33, 32}, DataType::uint(8), 3),
               b = random({3, 3, 8, 32, 4}, DataType::int_(8), 4),
               c = Tensor::empty(runtime::Shape{1, 16, 16, 32}, kInt32),
               expected = Tensor::empty(runtime::Shape{1, 16, 16, 32}, kInt32);
  compiled(scheduled.func)(a, b, c);
  compiled(parsed(text), "llvm")(a, b, expected);
  for (int64_t n = 0; n < c.num_elements(); ++n) ASSERT_EQ(element(c, n), element(expected, n)) << n;
  if (!testing::is_amx_emulated()) return;
  EXPECT_EQ(testing::amx_counts().products, 16 * 2 * 9);
  EXPECT_EQ(testing::amx_counts().loads, 16 * 2 * 9);  // two rows of the image share columns
}

// Rows of several parts are made as tiles where these are multiplied: of matrices, and of images, of which
// two rows share columns.
void expect_parts_as_tiles(const std::string& text, const Tensor& data, const Tensor& weight,
                           runtime::Shape shape, const target::Features& features, bool is_parallel) {
  const schedule::DefaultSchedule scheduled = schedule::schedule_by_rules("main", parsed(text), features);
  const std::string trace = scheduled.trace.str();
  EXPECT_TRUE(has_tiles(trace)) << trace;
  EXPECT_NE(trace.find("sch.transform_layout(block=b1, buffer=[\"write\", 0]"), std::string::npos) << trace;
  EXPECT_EQ(trace.find("cache_read"), std::string::npos) << trace;
  EXPECT_EQ(trace.find("sch.parallel") != std::string::npos, is_parallel) << trace;
  const Tensor found = Tensor::empty(shape, kFloat32), expected = Tensor::empty(shape, kFloat32);
  compiled(scheduled.func)(data, weight, found);
  compiled(parsed(text), "llvm")(data, weight, expected);
  for (int64_t n = 0; n < found.num_elements(); ++n) ASSERT_EQ(element(found, n), element(expected, n)) << n;
}

// Numbers with two parts, the second of which is a 512th.
Tensor floats(runtime::Shape shape) {
  const Tensor tensor = Tensor::empty(shape, kFloat32);
  uint32_t state = 5;
  for (int64_t n = 0; n < tensor.num_elements(); ++n)
    tensor.data_as<float>()[n] = static_cast<float>(static_cast<int>(number(kInt32, &state)) % 3) +
                                 static_cast<float>(static_cast<int>(number(kInt32, &state)) % 2) / 512;
  return tensor;
}

constexpr const char* kParts =
    R"(T.Select(vp == 0, T.Cast("bfloat16", {0}), T.Cast("bfloat16", {0} - T.Cast("float32", T.Cast("bfloat16", {0})))))";

TEST_F(MatrixTileRules, PartsOfMatrices) {
  const std::string text = fmt::format(R"(
@T.prim_func
def main(A: T.Buffer((192, 96), "float32"), B: T.Buffer((2, 48, 64, 2), "bfloat16"), C: T.Buffer((192, 64), "float32")):
    T.func_attr({{"tir.noalias": True}})
    P = T.alloc_buffer((2, 192, 96), "bfloat16")
    for p, i, k in T.grid(2, 192, 96):
        with T.block("P"):
            vp, vi, vk = T.axis.remap("SSS", [p, i, k])
            P[vp, vi, vk] = {}
    for i, j, q, k in T.grid(192, 64, 3, 96):
        with T.block("C"):
            vi, vj, vq, vk = T.axis.remap("SSRR", [i, j, q, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + T.Cast("float32", P[T.Select(vq == 0, 1, 0), vi, vk]) * T.Cast("float32", B[T.Select(vq == 1, 1, 0), vk // 2, vj, vk % 2])
)",
                                       fmt::format(fmt::runtime(kParts), "A[vi, vk]"));
  target::Features features = kSapphireRapids;
  for (const int64_t l2_bytes : {2 << 20, 48 << 10}) {  // parts of all rows at once, or of some
    for (const int64_t cores : {1, 2}) {
      SCOPED_TRACE(fmt::format("{} bytes, {} cores", l2_bytes, cores));
      features.l2_bytes = l2_bytes;
      features.num_cores = cores;
      expect_parts_as_tiles(text, floats({192, 96}), random({2, 48, 64, 2}, DataType::bfloat16(), 4),
                            {192, 64}, features, cores > 1);
    }
  }
}

// Windows of 3 x 3 over images whose rows have few places, of which every second one is the first of a
// window.
std::string image_text(int64_t places) {
  return fmt::format(R"(
@T.prim_func
def main(A: T.Buffer((1, {1}, {1}, 32), "float32"), B: T.Buffer((2, 3, 3, 16, 32, 2), "bfloat16"), C: T.Buffer((1, {0}, {0}, 32), "float32")):
    T.func_attr({{"tir.noalias": True}})
    P = T.alloc_buffer((2, 1, {1}, {1}, 32), "bfloat16")
    for p, n, h, w, k in T.grid(2, 1, {1}, {1}, 32):
        with T.block("P"):
            vp, vn, vh, vw, vk = T.axis.remap("SSSSS", [p, n, h, w, k])
            P[vp, vn, vh, vw, vk] = {2}
    for n, h, w, c, q, y, x, k in T.grid(1, {0}, {0}, 32, 3, 3, 3, 32):
        with T.block("C"):
            vn, vh, vw, vc, vq, vy, vx, vk = T.axis.remap("SSSSRRRR", [n, h, w, c, q, y, x, k])
            with T.init():
                C[vn, vh, vw, vc] = T.float32(0)
            C[vn, vh, vw, vc] = C[vn, vh, vw, vc] + T.Cast("float32", P[T.Select(vq == 0, 1, 0), vn, vh * 2 + vy, vw * 2 + vx, vk]) * T.Cast("float32", B[T.Select(vq == 1, 1, 0), vy, vx, vk // 2, vc, vk % 2])
)",
                     places, 2 * places + 2, fmt::format(fmt::runtime(kParts), "A[vn, vh, vw, vk]"));
}

TEST_F(MatrixTileRules, PartsOfImages) {
  target::Features features = kSapphireRapids;
  for (const int64_t places : {14, 7}) {
    for (const int64_t cores : {1, 2}) {
      SCOPED_TRACE(fmt::format("{} places, {} cores", places, cores));
      features.num_cores = cores;
      const int64_t size = 2 * places + 2;
      expect_parts_as_tiles(image_text(places), floats({1, size, size, 32}),
                            random({2, 3, 3, 16, 32, 2}, DataType::bfloat16(), 4), {1, places, places, 32},
                            features, cores > 1);
    }
  }
}

// Found: panels that L1 does not keep came from L2 for each row of an image.
TEST_F(MatrixTileRules, RowsOfImagesTakePanelsInParts) {
  for (const int64_t places : {14, 7}) {
    const std::string text = fmt::format(R"(
@T.prim_func
def main(A: T.Buffer((1, {1}, {1}, 256), "uint8"), B: T.Buffer((3, 3, 64, 32, 4), "int8"), C: T.Buffer((1, {0}, {0}, 32), "int32")):
    T.func_attr({{"tir.noalias": True}})
    for n, h, w, c, y, x, k in T.grid(1, {0}, {0}, 32, 3, 3, 256):
        with T.block("C"):
            vn, vh, vw, vc, vy, vx, vk = T.axis.remap("SSSSRRR", [n, h, w, c, y, x, k])
            with T.init():
                C[vn, vh, vw, vc] = 0
            C[vn, vh, vw, vc] = C[vn, vh, vw, vc] + T.Cast("int32", A[vn, vh + vy, vw + vx, vk]) * T.Cast("int32", B[vy, vx, vk // 4, vc, vk % 4])
)",
                                         places, places + 2);
    const int64_t size = places + 2;
    const Tensor a = random({1, size, size, 256}, DataType::uint(8), 3),
                 b = random({3, 3, 64, 32, 4}, DataType::int_(8), 4),
                 c = Tensor::empty(runtime::Shape{1, places, places, 32}, kInt32),
                 expected = Tensor::empty(runtime::Shape{1, places, places, 32}, kInt32);
    for (const int64_t cores : {1, 2}) {
      SCOPED_TRACE(fmt::format("{} places, {} cores", places, cores));
      target::Features features = kSapphireRapids;
      features.l1_bytes = 48 << 10;  // of which 128 terms of 3 x 3 places take three quarters
      features.num_cores = cores;
      const schedule::DefaultSchedule scheduled = schedule::schedule_by_rules("main", parsed(text), features);
      const std::string trace = scheduled.trace.str();
      // two threads share out rows of images instead, if they have several
      const bool is_block = trace.find("factors=[None, 2, 16, 4]") != std::string::npos;
      EXPECT_EQ(is_block, cores == 1) << trace;
      EXPECT_TRUE(!is_block || trace.find(fmt::format("factors=[None, {}]", places)) != std::string::npos)
          << trace;
      testing::reset_amx_counts();
      compiled(scheduled.func)(a, b, c);
      compiled(parsed(text), "llvm")(a, b, expected);
      for (int64_t n = 0; n < c.num_elements(); ++n) ASSERT_EQ(element(c, n), element(expected, n)) << n;
      if (testing::is_amx_emulated()) EXPECT_EQ(testing::amx_counts().products, places * 2 * 9 * 4);
    }
  }
}

TEST(MatrixTilesChosen, OnlyWhereTheyFit) {
  const auto is_chosen = [](int64_t rows, int64_t columns, int64_t terms, const char* row, const char* column,
                            target::Features features = kSapphireRapids) {
    const std::string sum = std::string(row) == "bfloat16" ? "float32" : "int32";
    return has_tiles(schedule::schedule_by_rules(
                         "main", parsed(matmul_text(rows, columns, terms, row, column, sum)), features)
                         .trace.str());
  };
  EXPECT_TRUE(is_chosen(128, 64, 64, "int8", "int8"));
  EXPECT_FALSE(is_chosen(127, 64, 64, "int8", "int8"));  // a prime number of rows
  EXPECT_FALSE(is_chosen(128, 72, 64, "int8", "int8"));  // columns do not fill registers
  EXPECT_FALSE(is_chosen(128, 64, 12, "int8", "int8"));  // 3 groups
  EXPECT_FALSE(is_chosen(64, 16, 16, "int8", "int8"));   // too little work
  EXPECT_FALSE(is_chosen(128, 64, 64, "float32", "float32"));
  target::Features without = kSapphireRapids;
  without.dots.byte_tiles = false;
  EXPECT_FALSE(is_chosen(128, 64, 64, "int8", "int8", without));
}

}  // namespace
}  // namespace tilewright::driver
