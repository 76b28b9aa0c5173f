// Nests of matrix tiles as AMX instructions, which are emulated where the processor has none.
#include <gtest/gtest.h>

#include <bit>

#include "amx_emulator.h"
#include "tilewright/codegen/llvm/native.h"
#include "tilewright/lower/pipeline.h"
#include "tilewright/schedule/default/default.h"
#include "tilewright/script/parse.h"
#include "tilewright/support/error.h"

namespace tilewright::driver {
namespace {
using runtime::Tensor;
using testing::AmxCounts;

constexpr const char* kAmx = "llvm -mattr=+amx-tile,+amx-int8,+amx-bf16";

tir::PrimFunc parsed(const std::string& text) {
  return ir::ref_as<tir::PrimFuncNode>(script::parse(Ref<Source>(new Source("test", text))));
}

runtime::Function compiled(const tir::PrimFunc& func, const char* target_text = kAmx) {
  const codegen::NativeTarget target = codegen::native_target(ir::parse_target(target_text));
  const std::string names[] = {"main"};
  const std::string objects[] = {codegen::emit_object(lower::lower_for_cpu("main", func), target),
                                 codegen::emit_library_object(names, "", target)};
  return codegen::load_objects("test", objects).get_function("main");
}

// Numbers from -8 to 8 (bytes: -100 to 100, or 0 to 200), by a linear congruence.
double number(DataType dtype, uint32_t* state) {
  *state = *state * 1664525 + 1013904223;
  const int value = static_cast<int>(*state >> 16) % 201;
  return dtype.is_bfloat16() ? (value - 100) / 16.0 : dtype.is_uint() ? value : value - 100;
}

double element(const Tensor& tensor, int64_t n) {
  const DataType dtype = tensor.dtype();
  if (dtype.is_bfloat16()) return std::bit_cast<float>(uint32_t{tensor.data_as<uint16_t>()[n]} << 16);
  if (dtype.is_uint()) return tensor.data_as<uint8_t>()[n];
  if (dtype.bits == 8) return tensor.data_as<int8_t>()[n];
  return dtype.is_float() ? tensor.data_as<float>()[n] : tensor.data_as<int32_t>()[n];
}

Tensor random(runtime::Shape shape, DataType dtype, uint32_t seed) {
  const Tensor tensor = Tensor::empty(shape, dtype);
  for (int64_t n = 0; n < tensor.num_elements(); ++n) {
    const double value = number(dtype, &seed);
    if (dtype.is_bfloat16())
      tensor.data_as<uint16_t>()[n] =
          static_cast<uint16_t>(std::bit_cast<uint32_t>(static_cast<float>(value)) >> 16);
    else
      tensor.data_as<int8_t>()[n] = static_cast<int8_t>(static_cast<int>(value));
  }
  return tensor;
}

// c[i, j] = sum of a[i, k] * b[k, j]; exact for such numbers, up to 2**24.
void expect_product(const Tensor& a, const Tensor& b, const Tensor& c) {
  const int64_t rows = a.shape()[0], terms = a.shape()[1], columns = b.shape()[1];
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) {
      double sum = 0;
      for (int64_t k = 0; k < terms; ++k) sum += element(a, i * terms + k) * element(b, k * columns + j);
      ASSERT_EQ(element(c, i * columns + j), sum) << "at " << i << ", " << j;
    }
  }
}

// 14 x 32 by two tiles of 14 x 16, in two steps of 24 groups... of `group` terms.
std::string nest_text(const std::string& row, const std::string& column, const std::string& sum, int group) {
  return fmt::format(R"(
@T.prim_func
def main(A: T.Buffer((14, {terms}), "{row}"), B: T.Buffer(({groups}, 32, {group}), "{column}"), C: T.Buffer((14, 32), "{sum}")):
    T.func_attr({{"tir.noalias": True}})
    for i, j in T.grid(14, 32):
        C[i, j] = T.{sum}(0)
    for ko in T.serial(2, annotations={{"matrix_tiles": True}}):
        for jo, i, j, k, g in T.grid(2, 14, 16, 12, {group}):
            C[i, jo * 16 + j] = C[i, jo * 16 + j] + T.Cast("{sum}", A[i, (ko * 12 + k) * {group} + g]) * T.Cast("{sum}", B[ko * 12 + k, jo * 16 + j, g])
)",
                     fmt::arg("terms", 24 * group), fmt::arg("groups", 24), fmt::arg("group", group),
                     fmt::arg("row", row), fmt::arg("column", column), fmt::arg("sum", sum));
}

// B[k // group, j, k % group] as B[k, j]
Tensor ungrouped(const Tensor& b, int64_t group) {
  const int64_t groups = b.shape()[0], columns = b.shape()[1], bytes = b.dtype().num_bytes();
  const Tensor result = Tensor::empty(runtime::Shape{groups * group, columns}, b.dtype());
  for (int64_t k = 0; k < groups * group; ++k) {
    for (int64_t j = 0; j < columns; ++j)
      std::memcpy(result.data_as<char>() + (k * columns + j) * bytes,
                  b.data_as<char>() + ((k / group * columns + j) * group + k % group) * bytes,
                  static_cast<size_t>(bytes));
  }
  return result;
}

class MatrixTiles : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!testing::emulate_amx()) GTEST_SKIP() << "AMX cannot be emulated here";
    testing::reset_amx_counts();
  }
};

TEST_F(MatrixTiles, MultiplyEachDtype) {
  for (const auto& [row, column] : {std::pair{"int8", "int8"},
                                    {"int8", "uint8"},
                                    {"uint8", "int8"},
                                    {"uint8", "uint8"},
                                    {"bfloat16", "bfloat16"}}) {
    SCOPED_TRACE(fmt::format("{} {}", row, column));
    const DataType a_type = DataType::parse(row), b_type = DataType::parse(column);
    const int group = 32 / a_type.bits;
    const std::string sum = a_type.is_bfloat16() ? "float32" : "int32";
    const Tensor a = random({14, 24 * group}, a_type, 1), b = random({24, 32, group}, b_type, 2),
                 c = Tensor::empty(runtime::Shape{14, 32}, DataType::parse(sum));
    testing::reset_amx_counts();
    compiled(parsed(nest_text(row, column, sum, group)))(a, b, c);
    expect_product(a, ungrouped(b, group), c);
    if (!testing::is_amx_emulated()) continue;
    const AmxCounts counts = testing::amx_counts();
    EXPECT_EQ(counts.configurations, 1);
    EXPECT_EQ(counts.zeros, 2);      // the sums, which the loops before set to zero
    EXPECT_EQ(counts.loads, 2 * 3);  // in each step one tile of rows, two of columns
    EXPECT_EQ(counts.products, 2 * 2);
    EXPECT_EQ(counts.stores, 2);
    if (testing::are_releases_counted()) EXPECT_EQ(counts.releases, 1);
  }
}

TEST_F(MatrixTiles, AreLoopsOnOtherMachines) {
  const Tensor a = random({14, 96}, DataType::int_(8), 1), b = random({24, 32, 4}, DataType::int_(8), 2),
               c = Tensor::empty(runtime::Shape{14, 32}, kInt32);
  compiled(parsed(nest_text("int8", "int8", "int32", 4)), "llvm -mattr=-amx-tile")(a, b, c);
  expect_product(a, ungrouped(b, 4), c);
  EXPECT_EQ(testing::amx_counts().products, 0);
}

// A nest in the function's form, with `loops` and a statement of them.
std::string nest_of(const std::string& loops, const std::string& statement) {
  return fmt::format(R"(
@T.prim_func
def main(A: T.Buffer((64, 64), "int8"), B: T.Buffer((16, 64, 4), "int8"), C: T.Buffer((64, 64), "int32"), F: T.Buffer((64, 64), "float32"), n: T.int64):
    D = T.decl_buffer((64, 256), "int8", data=C.data)
    for x in T.serial(2, annotations={{"matrix_tiles": True}}):
        for {}:
            {}
)",
                     loops, statement);
}

std::string refusal_of(const std::string& text) {
  try {
    compiled(parsed(text));
  } catch (const UserError& error) {
    return error.text().substr(0, error.text().find('\n'));
  }
  return "no error";
}

TEST(MatrixTilesRefused, NestsOfOtherForms) {
  const std::string grid = "i, j, k, g in T.grid(16, 16, 8, 4)";
  const auto sum = [](const std::string& c, const std::string& a, const std::string& b) {
    return fmt::format("C[{0}] = C[{0}] + T.Cast(\"int32\", A[{1}]) * T.Cast(\"int32\", B[{2}])", c, a, b);
  };
  const auto refused = [](std::string_view reason) { return fmt::format("matrix_tiles: {}", reason); };
  EXPECT_EQ(refusal_of(nest_of(grid, "C[i, j] = C[i, j] + 1")),
            refused("the statement is no sum of products"));
  EXPECT_EQ(refusal_of(nest_of(grid, "C[i, j] = C[i, j] + C[i + 16, j] * C[j + 32, i]")),
            refused("the factors are no converted elements"));
  EXPECT_EQ(refusal_of(nest_of(
                grid,
                "F[i, j] = F[i, j] + T.Cast(\"float32\", A[i, x * 32 + k * 4 + g]) * T.Cast(\"float32\", "
                "B[x * 8 + k, j, g])")),
            refused("it adds products of int8 or uint8 in int32, or of bfloat16 in float32"));
  EXPECT_EQ(refusal_of(nest_of(grid, sum("i, j", "i, k * 4 + g", "x + k, j * 2, g"))),
            refused("columns are not stored in groups"));
  EXPECT_EQ(
      refusal_of(nest_of("i, j, k, g in T.grid(16, 32, 8, 4)", sum("i, j", "i, k * 4 + g", "x + k, j, g"))),
      refused("no loop is one over columns"));
  EXPECT_EQ(
      refusal_of(nest_of("i, j, k, g in T.grid(32, 16, 8, 4)", sum("i, j", "i, k * 4 + g", "x + k, j, g"))),
      refused("no loop is one over rows"));
  EXPECT_EQ(refusal_of(nest_of("i, j, g in T.grid(16, 16, 4)", sum("i, j", "i, x + g", "x, j, g"))),
            refused("no loop is one over groups"));
  EXPECT_EQ(refusal_of(
                nest_of("i, j, k in T.grid(16, 16, 8)", sum("i, j", "i, x * 32 + k * 4", "x * 8 + k, j, 0"))),
            refused("no loop is one over the elements of a group"));
  EXPECT_EQ(refusal_of(nest_of(grid, sum("i * x, j", "i, k * 4 + g", "x + k, j, g"))),
            refused("the turns of loop x are no constant number of elements apart"));
  EXPECT_EQ(refusal_of(nest_of("y, i, j, k, g in T.grid(4, 16, 16, 8, 4)",
                               sum("y * 16 + i, x * 16 + j", "y * 16 + i, k * 4 + g", "k, x * 16 + j, g"))),
            refused("it needs more than 8 tile registers"));
  EXPECT_EQ(refusal_of(nest_of("y, i, j, k, g in T.grid(2, 16, 16, 8, 4)",
                               sum("y * 8 + i, j", "y * 8 + i, x * 32 + k * 4 + g", "x * 8 + k, j, g"))),
            refused("results overlap"));
  EXPECT_EQ(refusal_of(nest_of("y in range(n)", "for i, j, k, g in T.grid(16, 16, 8, 4): " +
                                                    sum("y + i, j", "y + i, k * 4 + g", "k, j, g"))),
            refused("loop y over results has no constant range from 0"));
  EXPECT_EQ(refusal_of(
                nest_of(grid, sum("i, j", "i, k * 4 + g", "k, j, g") + "; F[i, j] = F[i, j] + T.float32(1)")),
            refused("a loop has other statements than the sum"));
  EXPECT_EQ(refusal_of(nest_of(grid,
                               "C[i, j] = C[i, j] + T.Cast(\"int32\", D[i, k * 4 + g]) * "
                               "T.Cast(\"int32\", B[x * 8 + k, j, g])")),
            refused("a factor lies in the memory of the sums"));
}

// The loops over terms may take any way through memory: here lines of 8 groups, 64 rows apart.
TEST_F(MatrixTiles, OfTermsInLines) {
  const std::string text = R"(
@T.prim_func
def main(A: T.Buffer((2, 16, 32), "int8"), B: T.Buffer((16, 16, 4), "int8"), C: T.Buffer((16, 16), "int32")):
    for i, j in T.grid(16, 16):
        C[i, j] = 0
    for ko in T.serial(4, annotations={"matrix_tiles": True}):
        for i, j, k, g in T.grid(16, 16, 4, 4):
            C[i, j] = C[i, j] + T.Cast("int32", A[ko // 2, i, ko % 2 * 16 + k * 4 + g]) * T.Cast("int32", B[ko * 4 + k, j, g])
)";
  const Tensor a = random({2, 16, 32}, DataType::int_(8), 1), b = random({16, 16, 4}, DataType::int_(8), 2),
               c = Tensor::empty(runtime::Shape{16, 16}, kInt32),
               expected = Tensor::empty(runtime::Shape{16, 16}, kInt32);
  compiled(parsed(text))(a, b, c);
  compiled(parsed(text), "llvm -mattr=-amx-tile")(a, b, expected);
  for (int64_t n = 0; n < c.num_elements(); ++n) ASSERT_EQ(element(c, n), element(expected, n)) << n;
  if (testing::is_amx_emulated()) EXPECT_EQ(testing::amx_counts().products, 4);
}

// Several shapes in one function: the registers are given their shapes before each nest.
TEST_F(MatrixTiles, OfSeveralShapes) {
  const auto nest = [](int rows, int begin) {
    return fmt::format(R"(
    for ko in T.serial(2, annotations={{"matrix_tiles": True}}):
        for i, j, k, g in T.grid({0}, 16, 16, 4):
            C[{1} + i, j] = C[{1} + i, j] + T.Cast("int32", A[{1} + i, ko * 64 + k * 4 + g]) * T.Cast("int32", B[ko * 16 + k, j, g]))",
                       rows, begin);
  };
  const std::string text = R"(
@T.prim_func
def main(A: T.Buffer((23, 128), "int8"), B: T.Buffer((32, 16, 4), "int8"), C: T.Buffer((23, 16), "int32")):
    for i, j in T.grid(23, 16):
        C[i, j] = 0)" + nest(16, 0) +
                           nest(7, 16);
  const Tensor a = random({23, 128}, DataType::int_(8), 1), b = random({32, 16, 4}, DataType::int_(8), 2),
               c = Tensor::empty(runtime::Shape{23, 16}, kInt32);
  compiled(parsed(text))(a, b, c);
  expect_product(a, ungrouped(b, 4), c);
  if (testing::is_amx_emulated()) {
    EXPECT_EQ(testing::amx_counts().configurations, 2);
    if (testing::are_releases_counted()) EXPECT_EQ(testing::amx_counts().releases, 1);
  }
}

// A loop over terms that moves in no constant steps is written out, inside of all others, and what two of its
// turns share is loaded once: here the products of parts 1 0, 0 0 and 0 1.
TEST_F(MatrixTiles, OfTermsThatShareTiles) {
  const std::string text = R"(
@T.prim_func
def main(A: T.Buffer((16, 128), "bfloat16"), B: T.Buffer((2, 32, 16, 2), "bfloat16"), C: T.Buffer((16, 16), "float32")):
    for i, j in T.grid(16, 16):
        C[i, j] = T.float32(0)
    for ko in T.serial(2, annotations={"matrix_tiles": True, "stream_rows": True}):
        for p, i, j, k, g in T.grid(3, 16, 16, 16, 2):
            C[i, j] = C[i, j] + T.Cast("float32", A[i, T.Select(p == 0, 1, 0) * 64 + ko * 32 + k * 2 + g]) * T.Cast("float32", B[T.Select(p == 2, 1, 0), ko * 16 + k, j, g])
)";
  const Tensor a = random({16, 128}, DataType::bfloat16(), 1),
               b = random({2, 32, 16, 2}, DataType::bfloat16(), 2),
               c = Tensor::empty(runtime::Shape{16, 16}, kFloat32),
               expected = Tensor::empty(runtime::Shape{16, 16}, kFloat32);
  compiled(parsed(text))(a, b, c);
  compiled(parsed(text), "llvm -mattr=-amx-tile")(a, b, expected);
  for (int64_t n = 0; n < c.num_elements(); ++n) ASSERT_EQ(element(c, n), element(expected, n)) << n;
  if (!testing::is_amx_emulated()) return;
  EXPECT_EQ(testing::amx_counts().products, 2 * 3);
  EXPECT_EQ(testing::amx_counts().loads, 2 * (2 + 2));
  EXPECT_EQ(testing::amx_counts().zeros, 1);
}

// One tile of so many steps, after a statement.
std::string nest_after(const std::string& statement, int steps) {
  return fmt::format(R"(
@T.prim_func
def main(A: T.Buffer((16, {0} * 64), "int8"), B: T.Buffer(({0} * 16, 16, 4), "int8"), C: T.Buffer((16, 16), "int32")):
    T.func_attr({{"tir.noalias": True}})
    {1}
    for ko in T.serial({0}, annotations={{"matrix_tiles": True}}):
        for i, j, k, g in T.grid(16, 16, 16, 4):
            C[i, j] = C[i, j] + T.Cast("int32", A[i, ko * 64 + k * 4 + g]) * T.Cast("int32", B[ko * 16 + k, j, g])
)",
                     steps, statement);
}

AmxCounts counts_of(const std::string& text, int steps) {
  const Tensor a = random({16, steps * 64}, DataType::int_(8), 1),
               b = random({steps * 16, 16, 4}, DataType::int_(8), 2),
               c = Tensor::empty(runtime::Shape{16, 16}, kInt32),
               expected = Tensor::empty(runtime::Shape{16, 16}, kInt32);
  for (int64_t n = 0; n < c.num_elements(); ++n)
    c.data_as<int32_t>()[n] = expected.data_as<int32_t>()[n] = static_cast<int32_t>(n);
  testing::reset_amx_counts();
  compiled(parsed(text))(a, b, c);
  compiled(parsed(text), "llvm -mattr=-amx-tile")(a, b, expected);
  for (int64_t n = 0; n < c.num_elements(); ++n) EXPECT_EQ(element(c, n), element(expected, n)) << n;
  return testing::amx_counts();
}

TEST_F(MatrixTiles, BeginWithZeroWhereTheStatementBeforeSaysSo) {
  const auto zeros_after = [](const std::string& statement) {
    SCOPED_TRACE(statement);
    const AmxCounts counts = counts_of(nest_after(statement, 2), 2);
    if (testing::is_amx_emulated()) EXPECT_EQ(counts.loads, 2 * 2 + (counts.zeros == 0 ? 1 : 0));
    return counts.zeros;
  };
  const int64_t one = testing::is_amx_emulated() ? 1 : 0;
  EXPECT_EQ(zeros_after("for i, j in T.grid(16, 16):\n        C[i, j] = 0"), one);
  EXPECT_EQ(zeros_after("for j, i in T.grid(16, 16):\n        C[i, j] = 0"), one);
  EXPECT_EQ(zeros_after("for i, j in T.grid(16, 8):\n        C[i, j] = 0"), 0);
  EXPECT_EQ(zeros_after("for i, j in T.grid(16, 16):\n        C[i, j] = 1"), 0);
  EXPECT_EQ(zeros_after("for i, j in T.grid(16, 16):\n        C[i, j] = i"), 0);
  EXPECT_EQ(zeros_after("for i in range(16):\n        C[i, i] = 0"), 0);
  EXPECT_EQ(zeros_after("C[0, 0] = 0"), 0);
}

// A store that comes late takes long: in between a register is stored for nothing.
TEST_F(MatrixTiles, LongSumsStoreInBetween) {
  for (const auto& [steps, idle] : {std::pair{96, 0}, {97, 1}, {200, 3}}) {
    const AmxCounts counts = counts_of(nest_after("C[0, 0] = 0", steps), steps);
    if (testing::is_amx_emulated()) EXPECT_EQ(counts.stores, 1 + idle) << steps;
  }
}

// ---- what the rules make of sums

constexpr schedule::Machine kSapphireRapids{.vector_bytes = 64,
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
                            const schedule::Machine& machine = kSapphireRapids) {
  SCOPED_TRACE(fmt::format("{} x {} x {} of {} and {}", rows, columns, terms, row, column));
  const DataType a_type = DataType::parse(row), b_type = DataType::parse(column);
  const std::string sum = a_type.is_bfloat16() ? "float32" : "int32";
  const schedule::DefaultSchedule scheduled = schedule::schedule_by_rules(
      "main", parsed(matmul_text(rows, columns, terms, row, column, sum)), machine);
  EXPECT_TRUE(has_tiles(scheduled.trace.str())) << scheduled.trace.str();
  const Tensor a = random({rows, terms}, a_type, 3), b = random({terms, columns}, b_type, 4),
               c = Tensor::empty(runtime::Shape{rows, columns}, DataType::parse(sum));
  testing::reset_amx_counts();
  compiled(scheduled.func)(a, b, c);
  expect_product(a, b, c);
  if (testing::is_amx_emulated()) EXPECT_GT(testing::amx_counts().products, 0);
}

TEST_F(MatrixTiles, MatrixProducts) {
  expect_matmul_of_tiles(64, 64, 64, "bfloat16", "bfloat16");
  expect_matmul_of_tiles(112, 48, 96, "bfloat16", "bfloat16");
  expect_matmul_of_tiles(126, 48, 72, "bfloat16", "bfloat16");  // tiles of 14 rows, 12 groups
  expect_matmul_of_tiles(55, 32, 40, "int8", "int8");           // of 11 rows, 10 groups
  expect_matmul_of_tiles(128, 256, 64, "uint8", "int8");
}

// Panels that the first cache does not hold are read in parts, by 128 rows at a time.
TEST_F(MatrixTiles, BlocksOfLongSums) {
  schedule::Machine machine = kSapphireRapids;
  machine.l1_bytes = 24 << 10;  // of which 256 terms of 32 columns take two thirds
  machine.l2_bytes = 128 << 10;
  expect_matmul_of_tiles(256, 128, 768, "bfloat16", "bfloat16", machine);
  if (testing::is_amx_emulated()) {
    const AmxCounts counts = testing::amx_counts();
    const int64_t tiles = 256 / 16 * 128 / 16, parts = 3, steps = 768 / 32;
    EXPECT_EQ(counts.configurations, 1);
    EXPECT_EQ(counts.products, tiles * steps);
    EXPECT_EQ(counts.stores, tiles * parts);
    EXPECT_EQ(counts.loads, tiles * parts + tiles * steps);  // sums, and a factor for each product
  }
  expect_matmul_of_tiles(126, 96, 1280, "int8", "int8", machine);
  machine.num_cores = 2;
  expect_matmul_of_tiles(128, 192, 768, "bfloat16", "bfloat16", machine);
  machine.l2_bytes = 32 << 10;  // no room for rows of all terms: sums of several panels wait for each part
  expect_matmul_of_tiles(128, 192, 768, "bfloat16", "bfloat16", machine);
}

TEST_F(MatrixTiles, RandomShapesAndCaches) {
  uint32_t state = 7;
  const auto below = [&](uint32_t most) {
    state = state * 1664525 + 1013904223;
    return int64_t{(state >> 16) % most};
  };
  for (int n = 0; n < 30; ++n) {
    schedule::Machine machine = kSapphireRapids;
    machine.l1_bytes = 2048 << below(5);
    machine.l2_bytes = machine.l1_bytes << below(6);
    machine.num_cores = 1 + below(2);
    const bool is_bytes = below(2) == 0;
    const int64_t rows = (8 + below(9)) * (8 + below(5)), columns = 16 * (1 + below(9)),
                  terms = (is_bytes ? 4 : 2) * (4 + below(13)) * (2 + below(6));
    expect_matmul_of_tiles(rows, columns, terms, is_bytes ? "uint8" : "bfloat16",
                           is_bytes ? "int8" : "bfloat16", machine);
    if (HasFailure()) break;
  }
}

// Every part of a parallel loop gives its thread's registers their shapes, and lets them go.
TEST_F(MatrixTiles, InParallelLoopsWithAnEpilogue) {
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
  schedule::Machine machine = kSapphireRapids;
  machine.num_cores = 2;
  const schedule::DefaultSchedule scheduled = schedule::schedule_by_rules("main", parsed(text), machine);
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

TEST_F(MatrixTiles, Convolutions) {
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

TEST(MatrixTilesChosen, OnlyWhereTheyFit) {
  const auto is_chosen = [](int64_t rows, int64_t columns, int64_t terms, const char* row, const char* column,
                            schedule::Machine machine = kSapphireRapids) {
    const std::string sum = std::string(row) == "bfloat16" ? "float32" : "int32";
    return has_tiles(schedule::schedule_by_rules(
                         "main", parsed(matmul_text(rows, columns, terms, row, column, sum)), machine)
                         .trace.str());
  };
  EXPECT_TRUE(is_chosen(128, 64, 64, "int8", "int8"));
  EXPECT_FALSE(is_chosen(127, 64, 64, "int8", "int8"));  // a prime number of rows
  EXPECT_FALSE(is_chosen(128, 72, 64, "int8", "int8"));  // columns do not fill registers
  EXPECT_FALSE(is_chosen(128, 64, 12, "int8", "int8"));  // 3 groups
  EXPECT_FALSE(is_chosen(64, 16, 16, "int8", "int8"));   // too little work
  EXPECT_FALSE(is_chosen(128, 64, 64, "float32", "float32"));
  schedule::Machine without = kSapphireRapids;
  without.dots.byte_tiles = false;
  EXPECT_FALSE(is_chosen(128, 64, 64, "int8", "int8", without));
}

}  // namespace
}  // namespace tilewright::driver
