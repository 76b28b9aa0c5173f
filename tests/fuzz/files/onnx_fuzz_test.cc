// Damaged ONNX files are compiled and run, or refused; sanitizers watch.
#include <gtest/gtest.h>

#include <fstream>

#include "mutate.h"
#include "tilewright/driver/build_graph.h"
#include "tilewright/frontend/onnx/import/import.h"
#include "tilewright/relax/graph/relax.h"
#include "tilewright/relax/infer/op.h"
#include "tilewright/support/error.h"
#include "tilewright/target/target.h"

namespace tilewright::fuzz {
namespace {
using runtime::Tensor;
using runtime::Value;

// ---- protobuf, written

std::string varint(uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
  return bytes + static_cast<char>(value);
}
std::string number(int field, uint64_t value) {
  return varint(static_cast<uint64_t>(field) << 3) + varint(value);
}
std::string text(int field, const std::string& bytes) {
  return varint(static_cast<uint64_t>(field) << 3 | 2) + varint(bytes.size()) + bytes;
}

std::string ints_attribute(const std::string& name, const std::vector<int64_t>& values) {
  std::string bytes = text(1, name) + number(20, 7);
  for (int64_t value : values) bytes += number(8, static_cast<uint64_t>(value));
  return text(5, bytes);
}

std::string node(const std::string& op, const std::vector<std::string>& inputs, const std::string& output,
                 const std::string& attributes = "") {
  std::string bytes;
  for (const std::string& input : inputs) bytes += text(1, input);
  return text(1, bytes + text(2, output) + text(4, op) + attributes);
}

std::string tensor(const std::string& name, const std::vector<int64_t>& shape, int type, int width) {
  std::string bytes;
  int64_t count = width;
  for (int64_t extent : shape) {
    bytes += number(1, static_cast<uint64_t>(extent));
    count *= extent;
  }
  return text(5, bytes + number(2, static_cast<uint64_t>(type)) + text(8, name) +
                     text(9, std::string(static_cast<size_t>(count), '\1')));
}

std::string int64_tensor(const std::string& name, const std::vector<int64_t>& values) {
  std::string bytes = number(1, values.size()) + number(2, 7) + text(8, name);
  for (int64_t value : values) bytes += number(7, static_cast<uint64_t>(value));
  return text(5, bytes);
}

std::string int64_scalar(const std::string& name, int64_t value) {
  return text(5, number(2, 7) + text(8, name) + number(7, static_cast<uint64_t>(value)));
}

std::string value_info(int field, const std::string& name, const std::vector<int64_t>& shape) {
  std::string dims;
  for (int64_t extent : shape) dims += text(1, number(1, static_cast<uint64_t>(extent)));
  return text(field, text(1, name) + text(2, text(1, number(1, 1) + text(2, dims))));
}

// x [1, 2, 5, 5] -> convolution -> relu -> pooling -> reshape -> product -> softmax
std::string small_model() {
  const std::string graph =
      node("Conv", {"x", "w"}, "c",
           ints_attribute("pads", {1, 1, 1, 1}) + ints_attribute("strides", {2, 2})) +
      node("Relu", {"c"}, "r") + node("MaxPool", {"r"}, "p", ints_attribute("kernel_shape", {2, 2})) +
      node("Reshape", {"p", "s"}, "f") + node("Gemm", {"f", "m", "b"}, "g") + node("Softmax", {"g"}, "y") +
      tensor("w", {3, 2, 3, 3}, 1, 4) + tensor("m", {12, 5}, 1, 4) + tensor("b", {5}, 1, 4) +
      int64_tensor("s", {1, 12}) + value_info(11, "x", {1, 2, 5, 5}) + value_info(12, "y", {1, 5});
  return number(1, 8) + text(7, graph) + text(8, number(2, 17));
}

// what exporters make of views: shapes taken apart and put together, and layers whose numbers are attributes
std::string shape_model() {
  const std::string auto_pad = text(5, text(1, "auto_pad") + number(20, 3) + text(4, "SAME_UPPER"));
  const std::string graph =
      node("BatchNormalization", {"x", "s", "s", "s", "s"}, "a") +
      node("AveragePool", {"a"}, "b", ints_attribute("kernel_shape", {3, 3}) + auto_pad) +
      node("Transpose", {"b"}, "c", ints_attribute("perm", {0, 2, 3, 1})) +
      node("Slice", {"c", "zero", "two", "one"}, "d") + node("Shape", {"d"}, "e") +
      node("Gather", {"e", "first"}, "f") + node("Unsqueeze", {"f", "zero"}, "g") +
      node("Concat", {"g", "minus"}, "h", text(5, text(1, "axis") + number(20, 2) + number(3, 0))) +
      node("Reshape", {"d", "h"}, "i") + node("MatMul", {"i", "w"}, "j") +
      node("Squeeze", {"j", "zero"}, "k") + node("Sigmoid", {"k"}, "y") + tensor("s", {2}, 1, 4) +
      tensor("w", {20, 3}, 1, 4) + int64_tensor("zero", {0}) + int64_tensor("one", {1}) +
      int64_tensor("two", {2}) + int64_scalar("first", 0) + int64_tensor("minus", {-1}) +
      value_info(11, "x", {1, 2, 5, 5}) + value_info(12, "y", {3});
  return number(1, 8) + text(7, graph) + text(8, number(2, 17));
}

ir::IRModule import(const std::string& bytes) {
  return frontend::onnx::import_model(frontend::onnx::parse_model(bytes, "", "model.onnx"));
}

driver::Executable compile(const ir::IRModule& module) {
  ir::PassContext context;
  return driver::build_graph(module, target::parse_target("llvm -opt-level=0"), context);
}

// A damaged size may be a valid one, and its model take hours to compute.
bool is_small(const driver::Executable& executable) {
  int64_t flops = 0;
  for (const runtime::vm::Note& note : executable.code.notes) {
    if (note.name.starts_with("flops.")) flops += std::min<int64_t>(std::atoll(note.text.c_str()), 1 << 24);
  }
  for (const auto& [name, plan] : executable.plans) flops += std::min<int64_t>(plan.peak_bytes, 1 << 24);
  return flops < 1 << 22;
}

std::vector<Value> inputs_of(const ir::IRModule& module) {
  std::vector<Value> inputs;
  for (const relax::Var& param : ir::ref_as<relax::FunctionNode>(module->lookup("main"))->params) {
    runtime::Shape shape;
    const auto* type = param->type.as<relax::TensorTypeNode>();
    const relax::Shape* extents = relax::known_shape(param);
    if (!type || !extents) throw UserError("no shape");
    for (const ir::PrimExpr& extent : *extents) {
      const auto* literal = extent.as<ir::IntImmNode>();
      shape.push_back(literal ? literal->value : 3);
    }
    if (runtime::checked_num_bytes(shape, type->dtype) > 1 << 20) throw UserError("too large");
    inputs.emplace_back(Tensor::zeros(shape, type->dtype));
  }
  return inputs;
}

// Where to find what failed.
std::string saved(const std::string& model) {
  const std::string path = testing::TempDir() + "tilewright_fuzz.onnx";
  std::ofstream(path, std::ios::binary) << model;
  return path;
}

Value run(const std::string& model) {
  const ir::IRModule module = import(model);
  return compile(module).machine().invoke("main", inputs_of(module));
}

TEST(OnnxFuzz, TheModelsThemselvesRun) {
  EXPECT_EQ(run(small_model()).type_str(), "float32[1, 5]");
  EXPECT_FLOAT_EQ(run(small_model()).as_tensor().data_as<float>()[4], 0.2f);
  EXPECT_EQ(run(shape_model()).type_str(), "float32[3]");
}

class DamagedOnnx : public testing::TestWithParam<std::string (*)()> {};
INSTANTIATE_TEST_SUITE_P(, DamagedOnnx, testing::Values(small_model, shape_model),
                         [](const auto& info) { return info.index == 0 ? "layers" : "shapes"; });

// Runs `use` on `rounds` damaged copies of the model and returns how many it took.
int64_t num_taken(const std::string& whole, int64_t rounds, Random random,
                  const std::function<bool(const std::string&)>& use) {
  int64_t count = 0;
  for (int64_t round = 0; round < rounds; ++round) {
    const std::string damaged = mutated(whole, random);
    try {
      count += use(damaged);
    } catch (const UserError&) {
    } catch (const Unsupported&) {
    } catch (const std::exception& error) {
      ADD_FAILURE() << error.what() << "\nround " << round << ": " << saved(damaged);
      return count;
    }
  }
  return count;
}

TEST_P(DamagedOnnx, IsImportedOrRefused) {
  const int64_t count =
      num_taken(GetParam()(), num_cases(10000), Random(seed()), [](const std::string& model) {
        import(model);
        return true;
      });
  EXPECT_GT(count, 100);
}

TEST_P(DamagedOnnx, IsCompiledAndRunOrRefused) {
  const auto use = [](const std::string& model) {
    const ir::IRModule module = import(model);
    const driver::Executable executable = compile(module);
    if (!is_small(executable)) return false;
    executable.machine().invoke("main", inputs_of(module));
    return true;
  };
  EXPECT_GT(num_taken(GetParam()(), num_cases(10000) / 100, Random(seed() + 1), use), 10);
}

}  // namespace
}  // namespace tilewright::fuzz
