// Nests of matrix tiles as AMX instructions, which are emulated where the processor has none.
#include "matrix_tiles_testing.h"

namespace tilewright::driver {
namespace {

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
            refused("the statement is not a sum of products"));
  EXPECT_EQ(refusal_of(nest_of(grid, "C[i, j] = C[i, j] + C[i + 16, j] * C[j + 32, i]")),
            refused("the factors are not converted elements"));
  EXPECT_EQ(refusal_of(nest_of(
                grid,
                "F[i, j] = F[i, j] + T.Cast(\"float32\", A[i, x * 32 + k * 4 + g]) * T.Cast(\"float32\", "
                "B[x * 8 + k, j, g])")),
            refused("it adds products of int8 or uint8 in int32, or of bfloat16 in float32"));
  EXPECT_EQ(refusal_of(nest_of(grid, sum("i, j", "i, k * 4 + g", "x + k, j * 2, g"))),
            refused("columns are not stored in groups"));
  EXPECT_EQ(
      refusal_of(nest_of("i, j, k, g in T.grid(16, 32, 8, 4)", sum("i, j", "i, k * 4 + g", "x + k, j, g"))),
      refused("there is no loop over columns"));
  EXPECT_EQ(
      refusal_of(nest_of("i, j, k, g in T.grid(32, 16, 8, 4)", sum("i, j", "i, k * 4 + g", "x + k, j, g"))),
      refused("there is no loop over rows"));
  EXPECT_EQ(refusal_of(nest_of("i, j, g in T.grid(16, 16, 4)", sum("i, j", "i, x + g", "x, j, g"))),
            refused("there is no loop over groups"));
  EXPECT_EQ(refusal_of(
                nest_of("i, j, k in T.grid(16, 16, 8)", sum("i, j", "i, x * 32 + k * 4", "x * 8 + k, j, 0"))),
            refused("there is no loop over the elements of a group"));
  EXPECT_EQ(refusal_of(nest_of(grid, sum("i * x, j", "i, k * 4 + g", "x + k, j, g"))),
            refused("the iterations of loop x are not a constant number of elements apart"));
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
            refused("a loop contains other statements than the sum"));
  EXPECT_EQ(refusal_of(nest_of(grid,
                               "C[i, j] = C[i, j] + T.Cast(\"int32\", D[i, k * 4 + g]) * "
                               "T.Cast(\"int32\", B[x * 8 + k, j, g])")),
            refused("a factor lies in the memory of the sums"));
  EXPECT_EQ(refusal_of(nest_of(grid, sum("i, j", "i, C[0, 0] + k * 4 + g", "x * 8 + k, j, g"))),
            refused("the position of a factor depends on the sums"));
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
// iterations share is loaded once: here the products of parts 1 0, 0 0 and 0 1.
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

// Runs the instructions of a program, checks that its sums, of `shape`, are those of its loops, and returns the counts.
AmxCounts counts_of(const std::string& text, const Tensor& a, const Tensor& b, runtime::Shape shape) {
  const Tensor c = Tensor::empty(shape, kInt32), expected = Tensor::empty(shape, kInt32);
  for (int64_t n = 0; n < c.num_elements(); ++n)
    c.data_as<int32_t>()[n] = expected.data_as<int32_t>()[n] = static_cast<int32_t>(n);
  testing::reset_amx_counts();
  compiled(parsed(text))(a, b, c);
  compiled(parsed(text), "llvm -mattr=-amx-tile")(a, b, expected);
  for (int64_t n = 0; n < c.num_elements(); ++n) EXPECT_EQ(element(c, n), element(expected, n)) << n;
  return testing::amx_counts();
}

AmxCounts counts_of(const std::string& text, int steps) {
  return counts_of(text, random({16, steps * 64}, DataType::int_(8), 1),
                   random({steps * 16, 16, 4}, DataType::int_(8), 2), {16, 16});
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

// Two tiles below each other in two blocks of terms, after a statement.
std::string blocks_after(const std::string& statement, const std::string& around = "for kb in range(2):") {
  return fmt::format(R"(
@T.prim_func
def main(A: T.Buffer((32, 256), "int8"), B: T.Buffer((64, 16, 4), "int8"), C: T.Buffer((33, 16), "int32")):
    T.func_attr({{"tir.noalias": True}})
    {}
    {}
        for io in range(2):
            for ko in T.serial(2, annotations={{"matrix_tiles": True}}):
                for i, j, k, g in T.grid(16, 16, 16, 4):
                    C[io * 16 + i, j] = C[io * 16 + i, j] + T.Cast("int32", A[io * 16 + i, (kb * 2 + ko) * 64 + k * 4 + g]) * T.Cast("int32", B[(kb * 2 + ko) * 16 + k, j, g])
)",
                     statement, around);
}

TEST_F(MatrixTiles, BlocksBeginWithZeroInTheirFirstIteration) {
  const auto zeros_of = [](const std::string& text) {
    SCOPED_TRACE(text);
    const AmxCounts counts = counts_of(text, random({32, 256}, DataType::int_(8), 1),
                                       random({64, 16, 4}, DataType::int_(8), 2), {33, 16});
    if (testing::is_amx_emulated())
      EXPECT_EQ(counts.loads, 2 * counts.products + counts.products / 2 - counts.zeros);
    return counts.zeros;
  };
  const int64_t two = testing::is_amx_emulated() ? 2 : 0;
  const std::string all = "for i, j in T.grid(32, 16):\n        C[i, j] = 0";
  EXPECT_EQ(zeros_of(blocks_after(all)), two);
  EXPECT_EQ(zeros_of(blocks_after(all, "for kb in range(1, 2):")), two);
  EXPECT_EQ(zeros_of(blocks_after("for io, i, j in T.grid(2, 16, 16):\n        C[io * 16 + i, j] = 0")), two);
  EXPECT_EQ(zeros_of(blocks_after("for i, j in T.grid(33, 16):\n        C[i, j] = 0")), 0);  // a row more
  EXPECT_EQ(zeros_of(blocks_after("for i, j in T.grid(16, 16):\n        C[i, j] = 0")), 0);  // a tile less
  EXPECT_EQ(zeros_of(blocks_after("for i, j in T.grid(32, 16):\n        C[i, j] = 1")), 0);
  EXPECT_EQ(zeros_of(blocks_after(all, "for kb in range(0):")), 0);  // no first iteration
  EXPECT_EQ(zeros_of(blocks_after(all, "for kb in range(C[32, 0] - 510):")), 0);
}

// A store that comes late takes long: in between a register is stored for nothing.
TEST_F(MatrixTiles, LongSumsStoreInBetween) {
  for (const auto& [steps, idle] : {std::pair{96, 0}, {97, 1}, {200, 3}}) {
    const AmxCounts counts = counts_of(nest_after("C[0, 0] = 0", steps), steps);
    if (testing::is_amx_emulated()) EXPECT_EQ(counts.stores, 1 + idle) << steps;
  }
}

}  // namespace
}  // namespace tilewright::driver
