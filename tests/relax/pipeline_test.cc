// The default pipeline: which passes run at which level, and that every loop program it makes is well formed.
#include <gmock/gmock.h>

#include "script_testing.h"
#include "tilewright/analysis/verify.h"
#include "tilewright/relax/pipeline.h"

namespace tilewright::relax {
namespace {
using ::testing::ElementsAre;

constexpr std::string_view kNetwork = R"(
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor((1, 2, 7, 5), "float32"), w: R.Tensor((3, 2, 3, 3), "float32"), y: R.Tensor(("n", "m"), "float32")):
            n = T.int64()
            m = T.int64()
            with R.dataflow():
                lv = R.nn.conv2d(x, w, padding=1)
                lv1 = R.add(lv, R.const([[[1.0]], [[2.0]], [[3.0]]], "float32"))
                lv2 = R.nn.relu(lv1)
                lv3 = R.multiply(lv2, R.sigmoid(lv2))
                lv4 = R.nn.max_pool2d(lv3, pool_size=(2, 2))
                lv5 = R.permute_dims(R.exp(lv4), axes=[0, 2, 3, 1])
                lv6 = R.concat((lv5, R.negative(lv5)), axis=1)
                lv7 = R.nn.softmax(R.mean(lv6, axis=[1, 2]))
                lv8 = R.reshape(R.exp(y), R.shape([n * m]))
                lv9 = R.full(R.shape([n * m]), R.const(2.0, "float32"), dtype="float32")
                gv = R.negative(R.add(R.multiply(lv8, lv9), R.const(0.5, "float32")))
                gv1 = R.matmul(lv7, R.permute_dims(R.const([[1.0, 2.0, 3.0]], "float32")))
                R.output(gv, gv1)
            return (gv, gv1)
)";

IRModule network() { return ref_as<ir::IRModuleNode>(script::parse_text(kNetwork)); }

TEST(Pipeline, MakesWellFormedProgramsAtEveryLevel) {
  for (int level = 0; level < 4; ++level) {
    PassContext context;
    context.opt_level = level;
    context.verify = [](const IRModule& module) { analysis::verify(module); };
    const IRModule result = run_pipeline(default_pipeline(), network(), context);
    EXPECT_TRUE(is<FunctionNode>(result->lookup("main")));
  }
}

std::vector<std::string> passes_at(int level) {
  PassContext context;
  context.opt_level = level;
  run_pipeline(default_pipeline(), network(), context);
  std::vector<std::string> names;
  for (const PassRecord& record : context.records()) names.emplace_back(record.name);
  return names;
}

TEST(Pipeline, EachPassHasItsLevel) {
  EXPECT_THAT(passes_at(0), ElementsAre("resolve_extern_funcs", "lambda_lift", "require_extents",
                                        "quantize_weights", "precision", "legalize_ops"));
  EXPECT_THAT(passes_at(1),
              ElementsAre("resolve_extern_funcs", "lambda_lift", "require_extents", "to_dataflow",
                          "fold_constant", "remove_identities", "dead_code_elimination", "fold_constant",
                          "fold_constant", "remove_identities", "dead_code_elimination", "quantize_weights",
                          "precision", "remove_identities", "eliminate_common_subexpr", "legalize_ops",
                          "dead_code_elimination", "dead_code_elimination"));
  EXPECT_THAT(
      passes_at(2),
      ElementsAre("resolve_extern_funcs", "lambda_lift", "require_extents", "to_dataflow",
                  "quantize_before_moves", "integer_products", "fuse_dequantize_matmul", "fold_constant",
                  "remove_identities", "fold_batch_norm", "dead_code_elimination", "fold_constant",
                  "split_transposed_convs", "convert_layout", "fold_constant", "remove_identities",
                  "dead_code_elimination", "split_transposed_convs", "quantize_weights",
                  "fuse_dequantize_matmul", "fuse_attention", "precision", "sink_reshapes",
                  "remove_identities", "eliminate_common_subexpr", "winograd", "legalize_ops",
                  "dead_code_elimination", "fuse_ops", "fuse_tir", "alias_slices", "dead_code_elimination"));
  EXPECT_EQ(passes_at(3), passes_at(2));
}

TEST(Pipeline, DoesNothingASecondTime) {
  PassContext context;
  const IRModule once = run_pipeline(default_pipeline(), network(), context);
  EXPECT_EQ(run_pipeline(default_pipeline(), once, context), once);
}

TEST(Pipeline, FindsPassesByName) {
  EXPECT_EQ(find_pass("fuse_ops").opt_level, 2);
  try {
    find_pass("fuse_op");
    FAIL();
  } catch (const UserError& error) {
    EXPECT_EQ(error.text(), "there is no pass \"fuse_op\"");
    EXPECT_EQ(error.help_text(), "did you mean fuse_ops?");
  }
}

}  // namespace
}  // namespace tilewright::relax
