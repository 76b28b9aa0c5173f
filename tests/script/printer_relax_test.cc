#include <cstdlib>
#include <fstream>
#include <sstream>

#include "printer_testing.h"
#include "tilewright/relax/graph/type_util.h"

namespace tilewright::script {
namespace {

constexpr std::string_view kLinear = R"(
    @tvm.script.ir_module
    class Module:
        @T.prim_func
        def linear(x: T.Buffer((1, 5), "float32"), w: T.Buffer((3, 5), "float32"), z: T.Buffer((1, 3), "float32")):
            for i, j, k in T.grid(1, 3, 5):
                with T.block("z"):
                    vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                    with T.init():
                        z[vi, vj] = T.float32(0)
                    z[vi, vj] = z[vi, vj] + x[vi, vk] * w[vj, vk]
        @R.function
        def main(x: R.Tensor((1, 5), "float32"), w: R.Tensor((3, 5), "float32")):
            with R.dataflow():
                lv0 = R.call_tir(linear, (x, w), (1, 3), dtype="float32")
                lv1 = R.call_tir("env.relu", (lv0,), (1, 3), dtype="float32")
                out = R.call_dps_packed("env.add", (lv1, R.const(1.0, "float32")), out_sinfo=R.Tensor((1, 3), dtype="float32"))
                R.output(out)
            return out
)";

TEST(PrintRelax, CallsOfLoopProgramsAndOperators) {
  const ir::IRModule module = ir::ref_as<ir::IRModuleNode>(parse_text(kLinear));
  EXPECT_EQ(printed(module->lookup("main")), dedent(R"(
    @R.function
    def main(
        x: R.Tensor((1, 5), dtype="float32"), w: R.Tensor((3, 5), dtype="float32")
    ) -> R.Tensor((1, 3), dtype="float32"):
        with R.dataflow():
            lv0: R.Tensor((1, 3), dtype="float32") = R.call_tir(
                linear, (x, w), out_sinfo=R.Tensor((1, 3), dtype="float32")
            )
            lv1: R.Tensor((1, 3), dtype="float32") = R.call_dps_packed(
                "env.relu", (lv0,), out_sinfo=R.Tensor((1, 3), dtype="float32")
            )
            out: R.Tensor((1, 3), dtype="float32") = R.call_dps_packed(
                "env.add", (lv1, R.const(1.0, "float32")), out_sinfo=R.Tensor((1, 3), dtype="float32")
            )
            R.output(out)
        return out
  )"));
  expect_round_trip(module);
}

TEST(PrintRelax, ModuleNamesItsFunctionsByCls) {
  const std::string text = printed(parse_text(kLinear), "0.23");
  EXPECT_NE(text.find("        cls = Module\n        with R.dataflow():\n"), std::string::npos) << text;
  EXPECT_NE(text.find("R.call_tir(\n                cls.linear, (x, w), out_sinfo="), std::string::npos)
      << text;
}

TEST(PrintRelax, SymbolicDimensionsAreTextInSignatures) {
  const ir::ObjectRef func = parse_text(R"(
    @R.function
    def main(x: R.Tensor(("n", 4), "float32"), s: R.Shape(["n", "m"])) -> R.Tensor(("n * 2", 4), "float32"):
        n = T.int64()
        y = R.call_pure_packed("env.concat", x, x, sinfo_args=(R.Tensor((n * 2, 4), dtype="float32"),))
        return y
  )");
  EXPECT_EQ(printed(func), dedent(R"(
    @R.function
    def main(
        x: R.Tensor(("n", 4), dtype="float32"), s: R.Shape(["n", "m"])
    ) -> R.Tensor(("n * 2", 4), dtype="float32"):
        n = T.int64()
        m = T.int64()
        y: R.Tensor((n * 2, 4), dtype="float32") = R.call_pure_packed(
            "env.concat", x, x, sinfo_args=(R.Tensor((n * 2, 4), dtype="float32"),)
        )
        return y
  )"));
  expect_round_trip(func);
}

TEST(PrintRelax, BranchesNestedFunctionsTuplesAndCasts) {
  expect_round_trip(R"(
    @R.function(pure=False)
    def main(c: R.Tensor((), "bool"), x: R.Tensor((4,), "float32"), t: R.Tuple(R.Tensor((4,), "float32"), R.Object)):
        m = T.int64()
        a = t[0]
        if c:
            u = R.call_pure_packed("env.add", x, a, sinfo_args=(R.Tensor((4,), dtype="float32"),))
            y = R.call_pure_packed("env.multiply", u, u, sinfo_args=(R.Tensor((4,), dtype="float32"),))
        else:
            y = x
        z: R.Tensor((m,), "float32") = R.match_cast(y, R.Tensor((m,), "float32"))
        @R.function
        def inner(v: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
            w = R.call_pure_packed("env.add", v, v, sinfo_args=(R.Tensor((4,), dtype="float32"),))
            return w
        r = inner(x)
        _ = R.call_packed("env.log", r, sinfo_args=(R.Tuple,))
        p = (r, R.shape([m, 4]), R.prim_value(3), R.str("s"), R.dtype("float32"), z)
        return p
  )");
}

TEST(PrintRelax, ConstantsAreShownWhenSmallOrAsked) {
  std::vector<float> values(20, 0.5f);
  const runtime::Tensor data =
      runtime::Tensor::copy_of(values.data(), 80, std::vector<int64_t>{20}, kFloat32);
  const relax::Constant large =
      relax::ConstantNode::make(data, ir::Type(relax::tensor_type(relax::extents({20}), kFloat32)));
  EXPECT_EQ(print(large), "metadata[\"relax.expr.Constant\"][0]");
  const runtime::Tensor few =
      runtime::Tensor::copy_of(values.data(), 16, std::vector<int64_t>{2, 2}, kFloat32);
  const relax::Constant small =
      relax::ConstantNode::make(few, ir::Type(relax::tensor_type(relax::extents({2, 2}), kFloat32)));
  EXPECT_EQ(print(small), "R.const([[0.5, 0.5], [0.5, 0.5]], \"float32\")");
  PrintOptions options;
  options.dialect = "0.23";
  EXPECT_EQ(print(small, options), "metadata[\"relax.expr.Constant\"][0]");
}

TEST(PrintRelax, FragmentsDeclareWhatTheyUse) {
  const relax::Function func = ir::ref_as<relax::FunctionNode>(parse_text(R"(
    @R.function
    def main(x: R.Tensor((3, 4), "float32"), y: R.Tensor((3, 4), "float32")):
        with R.dataflow():
            lv0 = R.call_pure_packed("env.multiply", x, y, sinfo_args=(R.Tensor((3, 4), dtype="float32"),))
            gv0 = R.call_pure_packed("env.add", lv0, y, sinfo_args=(R.Tensor((3, 4), dtype="float32"),))
            R.output(gv0)
        return gv0
  )"));
  const auto* block = func->body.as<relax::SeqExprNode>()->blocks[0].get();
  EXPECT_EQ(print(ir::ObjectRef(block)), dedent(R"(
    x: R.Tensor((3, 4), dtype="float32")
    y: R.Tensor((3, 4), dtype="float32")
    with R.dataflow():
        lv0: R.Tensor((3, 4), dtype="float32") = R.call_pure_packed(
            "env.multiply", x, y, sinfo_args=(R.Tensor((3, 4), dtype="float32"),)
        )
        gv0: R.Tensor((3, 4), dtype="float32") = R.call_pure_packed(
            "env.add", lv0, y, sinfo_args=(R.Tensor((3, 4), dtype="float32"),)
        )
        R.output(gv0)
  )"));
  EXPECT_EQ(print(block->bindings[0]->value),
            R"(R.call_pure_packed("env.multiply", x, y, sinfo_args=(R.Tensor((3, 4), dtype="float32"),)))");
}

std::string without_space(std::string text) {
  std::erase_if(text, [](char c) { return c == ' ' || c == '\n' || c == '\t'; });
  return text;
}

TEST(PrintRelax, TextsOf2022) {
  EXPECT_EQ(printed(parse_text(kLinear), "2022"), dedent(R"(
    @tvm.script.ir_module
    class Module:
        @R.function
        def main(x: Tensor((1, 5), "float32"), w: Tensor((3, 5), "float32")) -> Tensor(None, "float32", ndim = 2):
            # block 0
            with R.dataflow():
                lv0 = R.call_tir(linear, (x, w), (1, 3), dtype="float32")
                lv1 = R.call_tir("env.relu", (lv0,), (1, 3), dtype="float32")
                out = R.call_tir("env.add", (lv1, meta[relay.Constant][0]), (1, 3), dtype="float32")
                R.output(out)
            return out
        @T.prim_func
        def linear(x: T.Buffer[(1, 5), "float32"], w: T.Buffer[(3, 5), "float32"], z: T.Buffer[(1, 3), "float32"]) -> None:
            # function attr dict
            T.func_attr({"global_symbol": "linear"})
            # body
            # with T.block("root")
            for i, j, k in T.grid(1, 3, 5):
                with T.block("z"):
                    vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                    T.reads(x[vi, vk], w[vj, vk])
                    T.writes(z[vi, vj])
                    with T.init():
                        z[vi, vj] = T.float32(0)
                    z[vi, vj] = z[vi, vj] + x[vi, vk] * w[vj, vk]
  )"));
}

std::string course_file(const std::string& name) {
  const std::string root = std::string(TILEWRIGHT_SOURCE_DIR) + "/../shared/seeds/";
  std::ifstream file(root + name);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(PrintRelax, CourseModuleOf2022PrintsAsPublished) {
  const std::string source = course_file("004_end_to_end_old_api/008.py"),
                    expected = course_file("004_end_to_end_old_api/016.out.txt");
  if (source.empty() || expected.empty()) GTEST_SKIP() << "the course texts are not here";
  EXPECT_EQ(without_space(printed(parse(source_of(source)), "2022")), without_space(expected));
}

}  // namespace
}  // namespace tilewright::script
