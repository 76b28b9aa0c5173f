// The reasons of rules that do not apply: the values and the thresholds that decided.
#include "default_programs.h"
#include "default_testing.h"

namespace tilewright::schedule {
namespace {

constexpr Features kAvx2{.vector_bytes = 32, .num_vector_registers = 16};
constexpr Features kTwoCores{.vector_bytes = 32, .num_vector_registers = 16, .num_cores = 2};
constexpr Features kAmx{.vector_bytes = 64,
                        .num_vector_registers = 32,
                        .dots = {.mixed_bytes = true, .bfloats = true, .byte_tiles = true}};

std::vector<Attempt> attempts_of(std::string_view text, const Features& features) {
  Schedule sch(module_of(text));
  return schedule_by_rules(sch, "main", features);
}
std::string rules_of(std::string_view text, const Features& features = kAvx2) {
  return text_of(attempts_of(text, features));
}
// The reason of `rule` on `block`.
Reason reason_of(std::string_view text, std::string_view block, std::string_view rule,
                 const Features& features = kAvx2) {
  for (const Attempt& each : attempts_of(text, features)) {
    if (each.block == block && each.rule == rule) return each.reason.value_or(Reason());
  }
  return {Reason::kOther, "there is no such attempt"};
}
std::string_view program_of(std::string_view name) {
  return std::find_if(std::begin(kPrograms), std::end(kPrograms),
                      [&](const Program& each) { return each.name == name; })
      ->text;
}

// One block that stores `value` in B[`element`] of `shape`, whose axes vi and vj have so many values.
std::string elements(int rows, int columns, std::string_view value, std::string_view element = "vi, vj",
                     std::string_view shape = "(5, 7)") {
  return fmt::format(R"(
    @T.prim_func
    def main(A: T.Buffer((64, 64), "float32"), B: T.Buffer({4}, "float32")):
        for i, j in T.grid({0}, {1}):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[{3}] = {2}
)",
                     rows, columns, value, element, shape);
}

// A product of bytes.
std::string bytes(int rows, int columns, int terms, std::string_view sum = "int32") {
  return fmt::format(R"(
    @T.prim_func
    def main(A: T.Buffer(({0}, {2}), "uint8"), B: T.Buffer(({2}, {1}), "int8"), C: T.Buffer(({0}, {1}), "{3}")):
        for i, j, k in T.grid({0}, {1}, {2}):
            with T.block("C"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    C[vi, vj] = T.{3}(0)
                C[vi, vj] = C[vi, vj] + T.Cast("{3}", A[vi, vk]) * T.Cast("{3}", B[vk, vj])
)",
                     rows, columns, terms, sum);
}

// ---- inline

// Block E computes `value` of A, and block B something of E.
std::string two_blocks(std::string_view value, std::string_view reader, std::string_view shape = "(5, 7)") {
  return fmt::format(R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7), "float32"), B: T.Buffer({2}, "float32"), C: T.Buffer((5, 7), "float32")):
        E = T.alloc_buffer((5, 7), "float32")
        for i, j in T.grid(5, 7):
            with T.block("E"):
                vi, vj = T.axis.remap("SS", [i, j])
                E[vi, vj] = {0}
{1}
)",
                     value, reader, shape);
}
constexpr std::string_view kWindows = R"(
        for i, j, k in T.grid(5, 5, 3):
            with T.block("B"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    B[vi, vj] = T.float32(0)
                B[vi, vj] = B[vi, vj] + E[vi, vj + vk])";
constexpr std::string_view kNeighbours = R"(
        for i, j in T.grid(5, 6):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = E[vi, vj] + E[vi, vj + 1])";

constexpr std::string_view kTwoReaders = R"(
        for i, j in T.grid(5, 7):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = E[vi, vj] + T.float32(1)
        for i, j in T.grid(5, 7):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = E[vi, vj] * T.float32(2))";

TEST(Reasons, OfValuesThatAreStored) {
  const Reason windows = reason_of(two_blocks("A[vi, vj]", kWindows, "(5, 5)"), "E", "inline");
  EXPECT_EQ(windows.kind, Reason::kCost);
  EXPECT_EQ(windows.text,
            "block B would compute about 75 elements of E, which has about 35, and it is a reduction");
  EXPECT_EQ(reason_of(two_blocks("T.exp(A[vi, vj])", kNeighbours, "(5, 6)"), "E", "inline").text,
            "block B would compute about 60 elements of E, which has about 35, and they call functions");
  EXPECT_EQ(reason_of(two_blocks("T.exp(A[vi, vj])", kTwoReaders), "E", "inline").text,
            "2 blocks read E, and each would call its functions again");
  EXPECT_EQ(reason_of(product_text(5, 7, 3), "C", "inline").text, "it is a reduction");
  EXPECT_EQ(reason_of(elements(5, 7, "A[vi, vj]"), "B", "inline").text, "no block reads B");
}

// ---- rules for computations of several blocks

TEST(Reasons, OfOtherComputations) {
  const std::string product = product_text(5, 7, 3);
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"tile_attention", "no block, or more than one, has the role attention.products"},
      {"tile_winograd", "it has not the role winograd.products"},
      {"tile_groups", "0 blocks read C, not one that adds groups"},
      {"dot_products", "it does not add products of two operands that are converted first"},
      {"matrix_tiles", "no instruction adds its products by groups"}};
  for (const auto& [rule, text] : cases) {
    const Reason reason = reason_of(product, "C", rule);
    EXPECT_EQ(reason.kind, Reason::kOther) << rule;
    EXPECT_EQ(reason.text, text);
  }
  EXPECT_EQ(reason_of(elements(5, 7, "A[vi, vj]"), "B", "reduce_rows").text, "nothing is added up");
  // texts for users leave them out
  EXPECT_EQ(rules_of(product), "C | tile_sum\n");
  EXPECT_EQ(rules_of(elements(5, 7, "A[vi, vj]")), "B | vectorize\n");
}

TEST(Reasons, OfConvolutionsThatLackARole) {
  std::string text(program_of("winograd"));
  const std::string role = "T.block_attr({\"role\": \"winograd.patches\"})";
  text.replace(text.find(role), role.size(), "pass");
  const Reason reason = reason_of(text, "products", "tile_winograd");
  EXPECT_EQ(reason.kind, Reason::kForm);
  EXPECT_EQ(reason.text, "no block, or more than one, has the role winograd.patches");
}

TEST(Reasons, OfSumsOfOneGroup) {
  const std::string text = R"(
    @T.prim_func
    def main(A: T.Buffer((5, 6), "float32"), B: T.Buffer((6, 16), "float32"), C: T.Buffer((5, 16), "float32")):
        P = T.alloc_buffer((5, 1, 16), "float32")
        for i, g, j, k in T.grid(5, 1, 16, 6):
            with T.block("P"):
                vi, vg, vj, vk = T.axis.remap("SSSR", [i, g, j, k])
                with T.init():
                    P[vi, vg, vj] = T.float32(0)
                P[vi, vg, vj] = P[vi, vg, vj] + A[vi, vg * 6 + vk] * B[vg * 6 + vk, vj]
        for i, j, g in T.grid(5, 16, 1):
            with T.block("C"):
                vi, vj, vg = T.axis.remap("SSR", [i, j, g])
                with T.init():
                    C[vi, vj] = T.float32(0)
                C[vi, vj] = C[vi, vj] + P[vi, vg, vj]
)";
  const Reason reason = reason_of(text, "P", "tile_groups");
  EXPECT_EQ(reason.kind, Reason::kTooSmall);
  EXPECT_EQ(reason.text, "block C adds one group");
}

// ---- sums

TEST(Reasons, OfSumsWithoutTiles) {
  const Reason rows = reason_of(product_text(5, 1, 3), "C", "tile_sum");
  EXPECT_EQ(rows.kind, Reason::kCost);
  EXPECT_EQ(rows.text, "a copy of A for its vectors pays from 4 uses on, and would have 1");
  EXPECT_EQ(reason_of(product_text(5, 7, 1), "C", "tile_sum").text, "each result has one term");
}

TEST(Reasons, OfEpiloguesThatTilesDoNotCompute) {
  EXPECT_EQ(rules_of(program_of("matmul_with_transposing_epilogue")),
            "Y | tile_sum | neighbours along axis vi of block D are not neighbours in D\n"
            "Y | tile_sum\n"
            "D | vectorize\n");
}

TEST(Reasons, OfProductsWithoutInstructions) {
  const auto dots = [](const std::string& text, const Features& features = kAmx) {
    return reason_of(text, "C", "dot_products", features);
  };
  EXPECT_EQ(rules_of(bytes(64, 64, 64), kAmx), "C | tile_sum\nC | dot_products\nC | matrix_tiles\n");
  EXPECT_EQ(dots(bytes(64, 64, 64), kAvx2).text,
            "the machine has no instruction that adds products of uint8 and int8 to int32");
  const Reason terms = dots(bytes(64, 64, 13));
  EXPECT_EQ(terms.kind, Reason::kTooSmall);
  EXPECT_EQ(terms.text,
            "the 13 terms of axis vk fill 13 of 16 places (81 %) in groups of 4, and all must be filled");
  EXPECT_EQ(dots(bytes(64, 13, 64)).text,
            "the 13 columns of axis vj fill 13 of 16 places (81 %) in vectors of 4, and all must be filled");
  EXPECT_EQ(dots(bytes(2, 64, 64)).text, "a copy of B for its vectors pays from 4 uses on, and would have 1");
}

TEST(Reasons, OfProductsWithoutTileRegisters) {
  const auto tiles = [](const std::string& text) { return reason_of(text, "C", "matrix_tiles", kAmx); };
  EXPECT_EQ(tiles(bytes(60, 32, 16)).text,
            "it has 30720 multiply-adds, fewer than the 32768 for which tile registers pay");
  EXPECT_EQ(
      tiles(bytes(67, 64, 64)).text,
      "the 67 rows of axis vi divide into tiles of 1, which fill 1 of 16 places (6 %) of a register, and 6 "
      "must be filled");
  EXPECT_EQ(tiles(bytes(64, 40, 64)).text,
            "the 40 columns of axis vj fill 40 of 48 places (83 %) in tiles of 16, and all must be filled");
  EXPECT_EQ(tiles(bytes(64, 64, 12)).text,
            "the 3 groups of terms of axis vk divide into tiles of 3, which fill 3 of 16 places (19 %) of a "
            "register, and 4 must be filled");
}

// ---- rows

TEST(Reasons, OfRowsThatAreNotReducedTogether) {
  EXPECT_EQ(rules_of(program_of("rows_of_others")),
            "S | tile_sum | a copy of A for its vectors pays from 4 uses on, and would have 1\n"
            "S | reduce_rows\n"
            "B | vectorize\n");
}

// ---- elements, and what is left

TEST(Reasons, OfElementsWithoutVectors) {
  EXPECT_EQ(rules_of(elements(5, 3, "A[vi, vj]", "vi, vj", "(5, 3)")),
            "B | vectorize | loop j has 3 iterations, fewer than the 4 of a vector that pays\n");
  EXPECT_EQ(rules_of(elements(5, 7, "A[vi, vj]", "vi, vj * 2", "(5, 14)")),
            "B | vectorize | the index of dimension 1 of B, vj * 2, is no axis\n");
  EXPECT_EQ(
      rules_of(elements(3, 7, "A[vj, vi]", "vi, vj", "(3, 7)")),
      "B | vectorize | neighbours along axis vj lie 256 bytes apart in A, and no other axis has vectors of 4 "
      "or more in all that it reads\n");
}

TEST(Reasons, OfLoopsThatStaySerial) {
  const std::string text = R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7), "float32"), B: T.Buffer((5, 7), "float32")):
        for i in range(5):
            with T.block("B"):
                vi = T.axis.spatial(5, i)
                for j in range(7):
                    B[vi, j] = A[vi, j]
                    B[vi, j] = B[vi, j] + T.float32(1)
)";
  EXPECT_EQ(reason_of(text, "B", "parallel").text, "the machine has one core");
  const Reason reason = reason_of(text, "B", "parallel", kTwoCores);
  EXPECT_EQ(reason.kind, Reason::kTooSmall);
  EXPECT_EQ(reason.text, "it runs about 105 statements, fewer than the 196608 for which threads pay");
}

TEST(Reasons, KindsHaveNames) {
  EXPECT_EQ(name_of(Reason::kOther), "other");
  EXPECT_EQ(name_of(Reason::kForm), "form");
  EXPECT_EQ(name_of(Reason::kOpenExtent), "open_extent");
  EXPECT_EQ(name_of(Reason::kTooSmall), "too_small");
  EXPECT_EQ(name_of(Reason::kCost), "cost");
  EXPECT_EQ(name_of(Reason::kRefused), "refused");
  EXPECT_EQ(share_text(13, 16), "13 of 16 places (81 %)");
}

}  // namespace
}  // namespace tilewright::schedule
