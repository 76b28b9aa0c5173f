// Weights in the panels that tiles read.
#include "schedule_testing.h"
#include "tilewright/ir/services.h"
#include "tilewright/schedule/default/default.h"

namespace tilewright::schedule {
namespace {

constexpr Features kSse{.vector_bytes = 16, .num_vector_registers = 16, .l1_bytes = 512};
const std::vector<bool> kOnlyB = {false, true, false};

PrimFunc main_of(std::string_view text) { return ref_as<PrimFuncNode>(module_of(text)->functions[0]); }

// A product of 5 x 7 and 7 x `columns` in a buffer B of `shape`, whose element of k and j is B[`element`].
std::string product(int columns, std::string_view shape, std::string_view element) {
  return fmt::format(R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7), "float32"), B: T.Buffer({1}, "float32"), C: T.Buffer((5, {0}), "float32")):
        for i, j, k in T.grid(5, {0}, 7):
            with T.block("C"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    C[vi, vj] = T.float32(0)
                C[vi, vj] = C[vi, vj] + A[vi, vk] * B[{2}]
)",
                     columns, shape, element);
}
std::string plain_product(int columns) { return product(columns, fmt::format("(7, {})", columns), "vk, vj"); }

IRModule module_with(const PrimFunc& func) {
  return ir::with_function(ir::IRModuleNode::make(), "main", func);
}

void expect_same(const PrimFunc& found, const PrimFunc& expected) {
  const auto difference = first_mismatch(found, expected);
  EXPECT_FALSE(difference) << difference->path << ": " << difference->reason << "\n"
                           << show(module_with(found));
}

TEST(PackWeights, AreReadInPanels) {
  for (const int columns : {16, 19, 127}) {
    const PackedWeights packed = pack_weights(main_of(plain_product(columns)), kOnlyB, kSse);
    EXPECT_EQ(packed.layouts[1].width, 8);
    const std::string shape = fmt::format("({}, 7, 8)", (columns + 7) / 8);
    expect_same(packed.func, main_of(product(columns, shape, "vj // 8, vk, vj % 8")));
    // their layout is as wanted now
    EXPECT_EQ(pack_weights(packed.func, kOnlyB, kSse).func, packed.func);
  }
}

TEST(PackWeights, OfRowsAreReadInPanelsOfColumns) {
  const PackedWeights packed = pack_weights(main_of(product(19, "(19, 7)", "vj, vk")), kOnlyB, kSse);
  EXPECT_EQ(packed.layouts[1].width, 8);
  EXPECT_EQ(packed.layouts[1].column, 0U);
  expect_same(packed.func, main_of(product(19, "(3, 7, 8)", "vj // 8, vk, vj % 8")));
}

TEST(PackWeights, OfABatchAreInPanelsMatrixByMatrix) {
  const auto batch = [](std::string_view shape, std::string_view element) {
    return main_of(fmt::format(R"(
    @T.prim_func
    def main(A: T.Buffer((3, 5, 7), "float32"), B: T.Buffer({}, "float32"), C: T.Buffer((3, 5, 19), "float32")):
        for b, i, j, k in T.grid(3, 5, 19, 7):
            with T.block("C"):
                vb, vi, vj, vk = T.axis.remap("SSSR", [b, i, j, k])
                with T.init():
                    C[vb, vi, vj] = T.float32(0)
                C[vb, vi, vj] = C[vb, vi, vj] + A[vb, vi, vk] * B[{}]
)",
                               shape, element));
  };
  const PackedWeights packed = pack_weights(batch("(3, 7, 19)", "vb, vk, vj"), kOnlyB, kSse);
  EXPECT_EQ(packed.layouts[1].outside, 1U);
  expect_same(packed.func, batch("(3, 3, 7, 8)", "vb, vj // 8, vk, vj % 8"));
  const PackedWeights of_rows = pack_weights(batch("(3, 19, 7)", "vb, vj, vk"), kOnlyB, kSse);
  EXPECT_EQ(of_rows.layouts[1].outside, 1U);
  expect_same(of_rows.func, batch("(3, 3, 7, 8)", "vb, vj // 8, vk, vj % 8"));
}

TEST(PackWeights, AreReadByTheSameTiles) {
  const DefaultSchedule plain = schedule_by_rules("main", main_of(plain_product(19)), kSse);
  const PackedWeights packed = pack_weights(main_of(plain_product(19)), kOnlyB, kSse);
  EXPECT_EQ(schedule_by_rules("main", packed.func, kSse).trace.str(), plain.trace.str());
}

TEST(PackWeights, StayWhereItDoesNotPay) {
  const auto expect_stays = [](const std::string& text, const std::vector<bool>& is_weight,
                               const Features& features) {
    const PrimFunc func = main_of(text);
    const PackedWeights packed = pack_weights(func, is_weight, features);
    EXPECT_EQ(packed.func, func) << show(module_with(packed.func));
    for (const PanelLayout& layout : packed.layouts) EXPECT_EQ(layout.width, 0);
  };
  expect_stays(plain_product(19), {true, false, false}, kSse);  // B may change from call to call
  expect_stays(plain_product(8), kOnlyB, kSse);                 // one panel
  Features large = kSse;
  large.l1_bytes = 4096;
  expect_stays(plain_product(19), kOnlyB, large);                     // near the core anyway
  expect_stays(product(19, "(7, 25)", "vk, vj + vk"), kOnlyB, kSse);  // no matrix
  const Schedule done = [] {
    Schedule sch(module_of(plain_product(19)));
    sch.call("split", sch.call("get_loops", sch.call("get_block", "C", "main").block()).loops()[1],
             Factors{None{}, 8});
    return sch;
  }();
  const auto scheduled = ref_as<PrimFuncNode>(done.module()->functions[0]);
  EXPECT_EQ(pack_weights(scheduled, kOnlyB, kSse).func, scheduled);
}

TEST(PackWeights, StayIfTwoBlocksReadThem) {
  const PrimFunc func = main_of(R"(
    @T.prim_func
    def main(A: T.Buffer((7, 19), "float32"), B: T.Buffer((7, 19), "float32"), C: T.Buffer((7, 19), "float32")):
        Y = T.alloc_buffer((7, 19), "float32")
        for i, j, k in T.grid(7, 19, 7):
            with T.block("Y"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    Y[vi, vj] = T.float32(0)
                Y[vi, vj] = Y[vi, vj] + A[vi, vk] * B[vk, vj]
        for i, j in T.grid(7, 19):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = Y[vi, vj] + B[vi, vj]
)");
  EXPECT_EQ(pack_weights(func, kOnlyB, kSse).func, func);
}

}  // namespace
}  // namespace tilewright::schedule
