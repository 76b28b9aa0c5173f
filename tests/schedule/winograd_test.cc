// The rule for Winograd's convolutions: how many rows of tiles a strip has, and where the border is read.
#include "tilewright/te/topi/winograd.h"
#include "schedule_testing.h"
#include "tilewright/schedule/default/default.h"
#include "tilewright/te/compute.h"
#include "tilewright/te/create_prim_func.h"
#include "tilewright/te/topi/conv.h"

namespace tilewright::schedule {
namespace {

constexpr int64_t kMegabyte = 1 << 20;

Features features_with(int64_t l2_bytes, int64_t num_cores) {
  return {.vector_bytes = 64, .num_vector_registers = 32, .l2_bytes = l2_bytes, .num_cores = num_cores};
}

te::Tensor placeholder(std::vector<int64_t> shape, std::string name) {
  te::Shape dims;
  for (int64_t extent : shape) dims.push_back(tir::make_const_int(kInt64, extent));
  return te::placeholder(dims, kFloat32, std::move(name));
}

IRModule module_with(const std::vector<ObjectRef>& args) {
  return with_function(IRModuleNode::make(), "main", te::create_prim_func(args));
}

struct Size {
  int64_t pixels, inputs, outputs;
};
IRModule convolution_of(const Size& size) {
  const te::Tensor data = placeholder({1, size.pixels, size.pixels, size.inputs}, "data"),
                   weight = placeholder({6, 6, size.inputs, size.outputs}, "weight");
  return module_with({data, weight, topi::conv2d_winograd(data, weight, {1, 1, 1, 1})});
}

// Checks that tile_winograd takes the only function, and schedules it.
Schedule scheduled(const IRModule& module, const Features& features) {
  Schedule sch(module);
  const std::vector<Attempt> attempts = schedule_by_rules(sch, "main", features);
  EXPECT_TRUE(std::any_of(attempts.begin(), attempts.end(), [](const Attempt& attempt) {
    return attempt.rule == "tile_winograd" && attempt.is_applied();
  }));
  return sch;
}

// The rows of tiles of a strip, 0 if all steps are done one by one.
int64_t strip_of(const Schedule& sch) {
  const std::string trace = sch.trace().str();
  for (int64_t rows = 1; rows < 100; ++rows)
    if (trace.find(fmt::format("factors=[None, {}, 4]", rows)) != std::string::npos) return rows;
  return 0;
}

TEST(Winograd, StripsStayBesideTheirWeights) {
  struct Case {
    Size size;
    int64_t l2_bytes, num_cores, expected;
  };
  const Case cases[] = {
      {{28, 32, 32}, kMegabyte, 1, 0},        // all of it stays in L2
      {{56, 64, 64}, 2 * kMegabyte, 1, 1},    // 0.26 MB a row, 0.59 MB of weights
      {{56, 64, 64}, kMegabyte / 2, 1, 2},    // weights that do not stay leave all of it to the strip
      {{56, 16, 64}, 2 * kMegabyte, 1, 1},    // 0.16 MB a row
      {{56, 16, 16}, 2 * kMegabyte, 1, 0},    // 0.9 MB
      {{28, 64, 64}, 2 * kMegabyte, 2, 2},    // 7 rows, 4 and 3
      {{28, 128, 128}, kMegabyte, 2, 0},      // the same, but 2.4 MB of weights
      {{28, 128, 128}, 4 * kMegabyte, 2, 0},  // which would be read four times for 1.8 MB
      {{20, 64, 64}, 2 * kMegabyte, 2, 0},    // 5 rows, 3 and 2
      {{14, 256, 256}, kMegabyte, 1, 0},      // 9.4 MB of weights
  };
  for (const Case& each : cases) {
    SCOPED_TRACE(fmt::format("{0} x {0} x {1} by {2}, {3} cores with {4} bytes", each.size.pixels,
                             each.size.inputs, each.size.outputs, each.num_cores, each.l2_bytes));
    EXPECT_EQ(strip_of(scheduled(convolution_of(each.size), features_with(each.l2_bytes, each.num_cores))),
              each.expected);
  }
}

bool has_block(const IRModule& module, std::string_view name) {
  return show(module).find(fmt::format("T.block(\"{}\")", name)) != std::string::npos;
}

TEST(Winograd, BorderIsReadWhereItIs) {
  for (int64_t l2_bytes : {int64_t{4096}, kMegabyte}) {  // in strips, all at once
    const IRModule module = convolution_of({13, 5, 17});
    ASSERT_TRUE(has_block(module, "pad_temp"));
    const Schedule sch = scheduled(module, features_with(l2_bytes, 1));
    EXPECT_EQ(strip_of(sch) != 0, l2_bytes == 4096);
    EXPECT_FALSE(has_block(sch.module(), "pad_temp"));
    expect_same_numbers(module, sch.module());
  }
}

TEST(Winograd, BorderThatOthersReadIsCopied) {
  const te::Tensor data = placeholder({1, 8, 12, 5}, "data"), weight = placeholder({6, 6, 5, 17}, "weight");
  const te::Tensor padded =
      topi::pad(data, {0, 1, 1, 0}, {0, 1, 1, 0}, tir::make_const_int(kFloat32, 0), "padded");
  const te::Tensor result = topi::conv2d_winograd(padded, weight, {0, 0, 0, 0});
  const te::Tensor other = te::compute(
      padded.shape(), [&](const std::vector<tir::Var>& i) { return -padded.at({i[0], i[1], i[2], i[3]}); },
      {.name = "other"});
  const IRModule read_twice = module_with({data, weight, result, other}),
                 is_result = module_with({data, weight, result, padded});
  for (const IRModule& module : {read_twice, is_result}) {
    const Schedule sch = scheduled(module, features_with(kMegabyte, 1));
    EXPECT_TRUE(has_block(sch.module(), "padded"));
    expect_same_numbers(module, sch.module());
  }
}

}  // namespace
}  // namespace tilewright::schedule
