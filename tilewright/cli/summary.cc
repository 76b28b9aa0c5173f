#include "tilewright/cli/summary.h"

#include <fmt/ranges.h>

#include <map>
#include <sstream>

#include "tilewright/cli/json.h"
#include "tilewright/cli/signature.h"
#include "tilewright/frontend/onnx/import/import.h"
#include "tilewright/frontend/onnx/import/problems.h"
#include "tilewright/relax/graph/function_names.h"
#include "tilewright/relax/graph/relax.h"
#include "tilewright/relax/graph/type_util.h"

namespace tilewright::cli {
namespace {
using runtime::vm::Description;

/// A short description of a model.
struct Summary {
  std::string origin;  // "ONNX opset 13, made by pytorch"
  std::vector<Description> inputs, outputs;
  std::map<std::string, int64_t> operators;               // for an ONNX graph
  std::vector<std::string> kernels;                       // for a library
  std::map<std::string, std::vector<std::string>> plans;  // of kernels that have several
  std::vector<frontend::onnx::Problem> problems;          // reasons why an ONNX graph cannot be imported
  size_t num_following = 0;  // nodes that need outputs of the nodes in `problems`
  int64_t num_constants = 0, constant_bytes = 0;
};

// "float32[n, ?]" as written in the file
std::string type_text(const frontend::onnx::ValueInfo& info) {
  const std::string dtype = info.is_string ? "string" : info.dtype.is_void() ? "unknown" : info.dtype.str();
  if (!info.has_shape) return dtype;
  std::vector<std::string> extents;
  for (const frontend::onnx::Dim& dim : info.shape)
    extents.push_back(dim.is_known() ? fmt::format("{}", dim.value) : dim.name.empty() ? "?" : dim.name);
  return fmt::format("{}[{}]", dtype, fmt::join(extents, ", "));
}

// Describes inputs and outputs of the imported graph.
void describe_values(const frontend::onnx::Model& model, Summary* summary) {
  const auto main = ir::ref_as<relax::FunctionNode>(frontend::onnx::import_model(model)->lookup("main"));
  for (const relax::Var& param : main->params)
    summary->inputs.push_back({param->name_hint, relax::shown_type(main, param->name_hint, param->type)});
  const auto* tuple = main->ret_type.as<relax::TupleTypeNode>();
  for (size_t n = 0; n < model.graph.outputs.size(); ++n) {
    const std::string& name = model.graph.outputs[n].name;
    summary->outputs.push_back(
        {name, relax::shown_type(main, name, tuple ? tuple->elements[n] : main->ret_type)});
  }
}

// Describes inputs and outputs as declared in the file, and the reasons why it cannot be imported.
void describe_problems(const frontend::onnx::Model& model, const Error& error, Summary* summary) {
  for (const frontend::onnx::ValueInfo& input : model.graph.inputs)
    summary->inputs.push_back({input.name, type_text(input)});
  for (const frontend::onnx::ValueInfo& output : model.graph.outputs)
    summary->outputs.push_back({output.name, type_text(output)});
  const frontend::onnx::Problems problems = frontend::onnx::problems_of(model);
  summary->problems = problems.list();
  summary->num_following = problems.num_following();
  if (summary->problems.empty()) summary->problems.push_back({"", {}, error.text()});
}

Summary summary_of_onnx(const ModelOptions& options) {
  const frontend::onnx::Model model = read_onnx(options);
  Summary summary;
  summary.origin = origin_text(model);
  for (const frontend::onnx::Node& node : model.graph.nodes) ++summary.operators[node.op()];
  for (const auto& [name, tensor] : model.graph.initializers) {
    ++summary.num_constants;
    summary.constant_bytes += tensor.num_bytes();
  }
  try {
    describe_values(model, &summary);
  } catch (const Error& error) {
    describe_problems(model, error, &summary);
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
  for (const std::string& name : summary.kernels) {
    std::istringstream plans(std::string(executable.note("plans." + name)));
    for (std::string plan; std::getline(plans, plan);) summary.plans[name].push_back(plan);
  }
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
  if (!summary.problems.empty()) text += "cannot be imported\n";
  for (const frontend::onnx::Problem& problem : summary.problems)
    text += fmt::format("  {}\n", problem_text(problem));
  if (summary.num_following > 0)
    text += fmt::format("  nodes that need their outputs: {}\n", summary.num_following);
  if (!summary.kernels.empty()) text += "kernels\n";
  for (const std::string& name : summary.kernels) {
    text += fmt::format("  {}\n", name);
    const auto plans = summary.plans.find(name);
    if (plans == summary.plans.end()) continue;
    for (const std::string& plan : plans->second) text += fmt::format("    {}\n", plan);
  }
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
  Json problems = Json::array();
  for (const frontend::onnx::Problem& problem : summary.problems)
    problems.push_back({{"operator", problem.op}, {"nodes", problem.names}, {"reason", problem.reason}});
  if (!problems.empty()) {
    all["cannot_be_imported"] = problems;
    all["nodes_that_need_these"] = summary.num_following;
  }
  if (!summary.kernels.empty()) all["kernels"] = summary.kernels;
  if (!summary.plans.empty()) all["plans"] = summary.plans;
  return json_text(all);
}

}  // namespace

std::string origin_text(const frontend::onnx::Model& model) {
  return fmt::format("ONNX opset {}{}", model.opsets.at(""),
                     model.producer.empty() ? "" : fmt::format(", made by {}", model.producer));
}

std::string problem_text(const frontend::onnx::Problem& problem) {
  std::vector<std::string> names = problem.names;
  const size_t count = names.size();
  if (count > 4) names.resize(4);
  std::string where = problem.op.empty() ? "input" : problem.op;
  if (count > 0)
    where +=
        fmt::format(" ({}{})", fmt::join(names, ", "), count > 4 ? fmt::format(", ... {} nodes", count) : "");
  if (count == 0) return problem.reason;
  return problem.reason.empty() ? where : fmt::format("{}: {}", where, problem.reason);
}

std::string summary_text(const ModelOptions& options, bool is_json) {
  Progress progress(true);
  const Summary summary =
      is_library(options.path) ? summary_of_library(load_model(options, progress)) : summary_of_onnx(options);
  return is_json ? summary_json(summary, options.path) : text_of(summary, options.path);
}

}  // namespace tilewright::cli
