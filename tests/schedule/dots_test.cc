// Sums of products of bytes and bfloat16 by dot product instructions.
#include "tilewright/schedule/default/cpu/dots.h"
#include "schedule_testing.h"
#include "tilewright/ir/services.h"
#include "tilewright/schedule/default/default.h"
#include "tilewright/schedule/intrinsics/dot.h"

namespace tilewright::schedule {
namespace {

constexpr Features kVnni{.vector_bytes = 32,
                         .num_vector_registers = 32,
                         .dots = {.mixed_bytes = true, .signed_bytes = true, .bfloats = true}};

std::string product(int rows, int columns, int terms, const std::string& a, const std::string& b,
                    const std::string& sum, bool is_transposed = false) {
  return fmt::format(
      R"(
    @T.prim_func
    def main(A: T.Buffer(({0}, {2}), "{3}"), B: T.Buffer({6}, "{4}"), C: T.Buffer(({0}, {1}), "{5}")):
        for i, j, k in T.grid({0}, {1}, {2}):
            with T.block("C"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    C[vi, vj] = T.{5}(0)
                C[vi, vj] = C[vi, vj] + T.Cast("{5}", A[vi, vk]) * T.Cast("{5}", B[{7}])
)",
      rows, columns, terms, a, b, sum,
      is_transposed ? fmt::format("({}, {})", columns, terms) : fmt::format("({}, {})", terms, columns),
      is_transposed ? "vj, vk" : "vk, vj");
}

// The trace of the rules, whose program computes the same.
std::string trace_of(const std::string& text, const Features& features = kVnni) {
  const IRModule module = module_of(text);
  Schedule sch(module, {.seed = 1, .verify_steps = true});
  schedule_by_rules(sch, "main", features);
  expect_same_numbers(module, sch.module());
  return sch.trace().str();
}

bool has_dots(const std::string& trace) { return trace.find("\"dot_") != std::string::npos; }

TEST(Dots, ComputeTheSame) {
  for (const bool is_transposed : {false, true}) {
    EXPECT_TRUE(has_dots(trace_of(product(31, 16, 12, "uint8", "int8", "int32", is_transposed))));
    EXPECT_TRUE(has_dots(trace_of(product(67, 24, 8, "int8", "uint8", "int32", is_transposed))));
    EXPECT_TRUE(has_dots(trace_of(product(31, 20, 12, "int8", "int8", "int32", is_transposed))));
    EXPECT_TRUE(has_dots(trace_of(product(127, 8, 14, "bfloat16", "bfloat16", "float32", is_transposed))));
  }
}

TEST(Dots, OnlyWhereTheyFit) {
  EXPECT_FALSE(has_dots(trace_of(product(31, 16, 14, "uint8", "int8", "int32"))));   // 14 is no multiple of 4
  EXPECT_FALSE(has_dots(trace_of(product(31, 18, 12, "uint8", "int8", "int32"))));   // nor is 18 of 4 lanes
  EXPECT_FALSE(has_dots(trace_of(product(5, 16, 12, "uint8", "int8", "int32"))));    // few rows, and a copy
  EXPECT_FALSE(has_dots(trace_of(product(31, 16, 12, "uint8", "uint8", "int32"))));  // no such instruction
  EXPECT_FALSE(has_dots(trace_of(product(31, 16, 12, "int8", "int8", "float32"))));  // nor for this sum
  EXPECT_FALSE(has_dots(trace_of(product(31, 16, 12, "float32", "float32", "float32"))));
  EXPECT_FALSE(has_dots(trace_of(product(31, 16, 12, "uint8", "int8", "int32"), Features{})));
}

TEST(Dots, WeightsAreStoredInGroups) {
  const std::vector<bool> only_b{false, true, false};
  for (const bool is_transposed : {false, true}) {
    const auto before = module_of(product(5, 24, 12, "uint8", "int8", "int32", is_transposed));
    const PackedWeights packed = pack_weights(ref_as<PrimFuncNode>(before->functions[0]), only_b, kVnni);
    const PanelLayout& layout = packed.layouts[1];
    EXPECT_EQ(layout.group, 4);
    EXPECT_EQ(layout.width, 24);
    EXPECT_EQ(layout.column, is_transposed ? 0U : 1U);
    EXPECT_EQ(layout.grouped, is_transposed ? 1U : 0U);
    const auto* shape = &packed.func->buffers[1]->shape;
    std::vector<int64_t> extents;
    for (const PrimExpr& extent : *shape) extents.push_back(extent.as<IntImmNode>()->value);
    EXPECT_EQ(extents, (std::vector<int64_t>{1, 3, 24, 4}));
    // nothing is copied any more
    const std::string trace = schedule_by_rules("main", packed.func, kVnni).trace.str();
    EXPECT_TRUE(has_dots(trace));
    EXPECT_EQ(trace.find("cache_read"), std::string::npos);
    EXPECT_EQ(pack_weights(packed.func, only_b, kVnni).func, packed.func);
  }
}

// As a first convolution has it, of 3 channels and one of zeros.
TEST(Dots, OneGroupOfTermsIsAlreadyStoredSo) {
  const std::string text = R"(
    @T.prim_func
    def main(A: T.Buffer((31, 4), "uint8"), B: T.Buffer((2, 16, 4), "int8"), C: T.Buffer((31, 32), "int32")):
        for i, j, k in T.grid(31, 32, 4):
            with T.block("C"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    C[vi, vj] = T.int32(0)
                C[vi, vj] = C[vi, vj] + T.Cast("int32", A[vi, vk]) * T.Cast("int32", B[vj // 16, vj % 16, vk])
)";
  EXPECT_TRUE(has_dots(trace_of(text)));
}

TEST(Dots, IntrinsicsByName) {
  for (const char* name : {"dot_16x4_uint8_int8_int32", "dot_4x2_bfloat16_bfloat16_float32_columns_first"}) {
    const std::optional<TensorIntrin> found = dot_intrinsic(name);
    ASSERT_TRUE(found) << name;
    EXPECT_EQ(found->desc->buffers.size(), 3U);
  }
  for (const char* name : {"dot", "dot_16x4_vnni", "dot_0x4_uint8_int8_int32", "dot_16x2_uint8_int8_int32",
                           "dot_16x4_float32_int8_int32", "dot_16x4_foo_int8_int32",
                           "dot_99999999999999999999x4_uint8_int8_int32", "dot_16x4_uint8_int8_int32_"})
    EXPECT_FALSE(dot_intrinsic(name)) << name;
}

TEST(Dots, FitProgramsThatCountInInt64) {
  check_schedule(R"(
    @T.prim_func
    def main(A: T.Buffer((T.int64(5), T.int64(8)), "uint8"), B: T.Buffer((T.int64(2), T.int64(16), T.int64(4)), "int8"), C: T.Buffer((T.int64(5), T.int64(16)), "int32")):
        for i, ko, j, ki in T.grid(T.int64(5), T.int64(2), T.int64(16), T.int64(4)):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                vk = T.axis.reduce(T.int64(8), ko * T.int64(4) + ki)
                C[vi, vj] = C[vi, vj] + T.Cast("int32", A[vi, vk]) * T.Cast("int32", B[vk // T.int64(4), vj, vk % T.int64(4)])
)",
                 [](Schedule& sch) {
                   const BlockRef block = sch.call("get_block", "C", "main").block();
                   const LoopRef j = sch.call("get_loops", block).loops()[2];
                   sch.call("tensorize", j, "dot_16x4_uint8_int8_int32");
                 });
}

}  // namespace
}  // namespace tilewright::schedule
