// Damaged ONNX files are compiled and run, or refused; sanitizers watch.
#include <gtest/gtest.h>

#include "mutate.h"
#include "tilewright/driver/build_graph.h"
#include "tilewright/frontend/onnx/import.h"
#include "tilewright/relax/op.h"
#include "tilewright/relax/relax.h"
#include "tilewright/support/error.h"

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
      text(5, number(1, 2) + number(2, 7) + number(7, 1) + number(7, 12) + text(8, "s")) +
      value_info(11, "x", {1, 2, 5, 5}) + value_info(12, "y", {1, 5});
  return number(1, 8) + text(7, graph) + text(8, number(2, 17));
}

ir::IRModule import(const std::string& bytes) {
  return frontend::onnx::import_model(frontend::onnx::parse_model(bytes, "", "model.onnx"));
}

driver::Executable compile(const ir::IRModule& module) {
  ir::PassContext context;
  return driver::build_graph(module, ir::parse_target("llvm -opt-level=0"), context);
}

// What a damaged size asks for may be right, and take hours.
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

TEST(OnnxFuzz, TheModelItselfRuns) {
  const ir::IRModule module = import(small_model());
  const Value y = compile(module).machine().invoke("main", inputs_of(module));
  EXPECT_EQ(y.type_str(), "float32[1, 5]");
  EXPECT_FLOAT_EQ(y.as_tensor().data_as<float>()[4], 0.2f);
}

TEST(OnnxFuzz, DamagedModelsAreImportedOrRefused) {
  Random random(seed());
  const std::string whole = small_model();
  int64_t num_imported = 0;
  for (int64_t round = 0; round < num_cases(10000); ++round) {
    try {
      import(mutated(whole, random));
      ++num_imported;
    } catch (const UserError&) {
    } catch (const Unsupported&) {
    }
  }
  EXPECT_GT(num_imported, 100);
}

TEST(OnnxFuzz, DamagedModelsAreCompiledAndRunOrRefused) {
  Random random(seed() + 1);
  const std::string whole = small_model();
  int64_t num_run = 0;
  for (int64_t round = 0; round < num_cases(10000) / 50; ++round) {
    try {
      const ir::IRModule module = import(mutated(whole, random));
      const driver::Executable executable = compile(module);
      if (!is_small(executable)) continue;
      executable.machine().invoke("main", inputs_of(module));
      ++num_run;
    } catch (const UserError&) {
    } catch (const Unsupported&) {
    }
  }
  EXPECT_GT(num_run, 20);
}

}  // namespace
}  // namespace tilewright::fuzz
