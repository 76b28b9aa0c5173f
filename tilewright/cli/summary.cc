#include "tilewright/cli/summary.h"

#include <map>

#include "tilewright/cli/json.h"
#include "tilewright/cli/signature.h"
#include "tilewright/frontend/onnx/import.h"
#include "tilewright/relax/relax.h"
#include "tilewright/relax/vm_codegen.h"

namespace tilewright::cli {
namespace {
using runtime::vm::Description;

/// What a model is, in a few lines.
struct Summary {
  std::string origin;  // "ONNX opset 13, made by pytorch"
  std::vector<Description> inputs, outputs;
  std::map<std::string, int64_t> operators;  // of an ONNX graph
  std::vector<std::string> kernels;          // of a library
  int64_t num_constants = 0, constant_bytes = 0;
};

Summary summary_of_onnx(const ModelOptions& options) {
  const frontend::onnx::Model model = read_onnx(options);
  const auto main = ir::ref_as<relax::FunctionNode>(frontend::onnx::import_model(model)->lookup("main"));
  Summary summary;
  summary.origin = fmt::format("ONNX opset {}{}", model.opsets.at(""),
                               model.producer.empty() ? "" : fmt::format(", made by {}", model.producer));
  for (const relax::Var& param : main->params)
    summary.inputs.push_back({param->name_hint, relax::short_type(param->type)});
  const auto* tuple = main->ret_type.as<relax::TupleTypeNode>();
  for (size_t n = 0; n < model.graph.outputs.size(); ++n)
    summary.outputs.push_back(
        {model.graph.outputs[n].name, relax::short_type(tuple ? tuple->elements[n] : main->ret_type)});
  for (const frontend::onnx::Node& node : model.graph.nodes) ++summary.operators[node.op_type];
  for (const auto& [name, tensor] : model.graph.initializers) {
    ++summary.num_constants;
    summary.constant_bytes += tensor.num_bytes();
  }
  return summary;
}

Summary summary_of_library(const Model& model) {
  const runtime::vm::Executable& executable = model.machine.executable();
  Summary summary;
  summary.origin = fmt::format("compiled for {}", executable.note("target"));
  summary.inputs = model.main().parameters;
  summary.outputs = model.main().results;
  summary.kernels = executable.callees;
  for (const runtime::Tensor& constant : executable.constants) {
    ++summary.num_constants;
    summary.constant_bytes += constant.num_bytes();
  }
  return summary;
}

std::string text_of(const Summary& summary, const std::string& path) {
  std::string text = fmt::format("{}: {}\ninputs{}\noutputs{}\n", path, summary.origin,
                                 list_text(summary.inputs), list_text(summary.outputs));
  text += fmt::format("constants\n  {} tensors, {}\n", summary.num_constants,
                      bytes_text(static_cast<double>(summary.constant_bytes)));
  if (!summary.operators.empty()) text += "operators\n";
  for (const auto& [name, count] : summary.operators) text += fmt::format("{:>6} {}\n", count, name);
  if (!summary.kernels.empty()) text += "kernels\n";
  for (const std::string& name : summary.kernels) text += fmt::format("  {}\n", name);
  return text;
}

std::string summary_json(const Summary& summary, const std::string& path) {
  Json all = {{"model", path},
              {"origin", summary.origin},
              {"inputs", json_of(summary.inputs)},
              {"outputs", json_of(summary.outputs)},
              {"constants", summary.num_constants},
              {"constant_bytes", summary.constant_bytes}};
  if (!summary.operators.empty()) all["operators"] = summary.operators;
  if (!summary.kernels.empty()) all["kernels"] = summary.kernels;
  return json_text(all);
}

}  // namespace

std::string summary_text(const ModelOptions& options, bool is_json) {
  Progress progress(true);
  const Summary summary =
      is_library(options.path) ? summary_of_library(load_model(options, progress)) : summary_of_onnx(options);
  return is_json ? summary_json(summary, options.path) : text_of(summary, options.path);
}

}  // namespace tilewright::cli
