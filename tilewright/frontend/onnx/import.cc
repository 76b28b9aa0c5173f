#include "tilewright/frontend/onnx/import.h"

#include <fmt/ranges.h>

#include <map>

#include "tilewright/frontend/onnx/convert.h"
#include "tilewright/frontend/onnx/problems.h"
#include "tilewright/frontend/onnx/schema.h"
#include "tilewright/relax/graph/function_names.h"
#include "tilewright/relax/graph/type_util.h"
#include "tilewright/relax/infer/infer.h"

namespace tilewright::frontend::onnx {
namespace {

// Reports all operators without a converter at once, so that users do not find them one by one.
void refuse_unsupported(const Graph& graph, const CustomConverters& custom) {
  std::map<std::string, std::vector<std::string>> missing;
  for (const Node& node : graph.nodes) {
    if (!custom.contains(node.op()) && !find_converter(node.op()))
      missing[node.op()].push_back(node.name.empty() ? (node.outputs.empty() ? "?" : node.outputs[0])
                                                     : node.name);
  }
  if (missing.empty()) return;
  std::string help = "express them with other operators where the model is exported";
  for (const auto& [op, nodes] : missing) {
    if (op.find("::") == std::string::npos) continue;
    help += fmt::format(", or say what one is: tilewright.frontend.onnx.register_converter(\"{}\", fn)", op);
    break;
  }
  std::vector<std::string> parts;
  for (auto& [op, nodes] : missing) {
    const size_t count = nodes.size();
    if (nodes.size() > 4) nodes.resize(4);
    parts.push_back(fmt::format("{} ({}{})", op, fmt::join(nodes, ", "),
                                count > 4 ? fmt::format(", ... {} nodes", count) : ""));
  }
  throw Unsupported("the model uses operators that cannot be imported: {}", fmt::join(parts, "; "))
      .help("{}", help);
}

relax::Var make_input(const ValueInfo& info, std::map<std::string, tir::Var>* dims) {
  if (!info.dtype_problem.empty())
    throw Unsupported("{}", info.dtype_problem).help("use bool, integers or floats");
  if (info.dtype.is_void())
    throw Unsupported("graph input \"{}\" is not a tensor, or has no dtype", info.name);
  ir::Type type = relax::tensor_type_of_ndim(-1, info.dtype);
  if (info.has_shape) {
    relax::Shape extents;
    for (const Dim& dim : info.shape) {
      if (dim.is_known()) {
        extents.push_back(relax::extent_imm(dim.value));
        continue;
      }
      tir::Var& var = (*dims)[dim.name];
      if (!var) var = tir::make_var(dim.name, kInt64);
      extents.push_back(var);
    }
    type = relax::tensor_type(std::move(extents), info.dtype);
  }
  return relax::VarNode::make(info.name, type);
}

// Without `problems` the first error is raised; otherwise all are collected, and the module must not be used.
ir::IRModule convert_model(const Model& model, const CustomConverters& custom, Problems* problems) {
  Importer importer(model.graph);
  importer.custom = &custom;
  importer.opset = model.opsets.at("");
  std::map<std::string, tir::Var> dims;
  std::vector<relax::Var> params;
  for (const ValueInfo& input : model.graph.inputs) {
    try {
      params.push_back(make_input(input, &dims));
    } catch (const Error& error) {
      if (!problems) throw;
      problems->add(input, error);
    }
  }
  for (const auto& [name, dim] : dims) importer.facts.require(tir::operator>=(dim, 0));
  std::vector<ir::ObjectRef> output_names;
  for (const ValueInfo& output : model.graph.outputs)
    output_names.push_back(ir::StringImmNode::make(output.name));
  const auto define_main = [&] {
    for (const relax::Var& param : params) importer.define(param->name_hint, param);
    for (const auto& [name, data] : model.graph.initializers) importer.define_constant(name, data);
    std::vector<Expr> outputs;
    importer.builder.dataflow([&] {
      for (const Node& node : model.graph.nodes) {
        if (problems && problems->follows(node)) continue;
        try {
          if (problems) problems->check(node);
          if (!compute_known(importer, node)) importer.convert(node);
        } catch (Error& error) {
          if (problems) {
            problems->add(node, error);
            continue;
          }
          error.add_prefix(node.shown());
          throw;
        }
      }
      if (problems) return;
      for (const ValueInfo& output : model.graph.outputs) {
        const Node as_input{"output", "", output.name, {output.name}, {}, {}};
        outputs.push_back(importer.builder.emit_output(importer.value(as_input, 0)));
      }
    });
    importer.builder.emit_func_output(outputs.size() == 1 ? outputs[0]
                                                          : Expr(relax::TupleNode::make(outputs)));
  };
  importer.builder.function(
      "main", params, define_main,
      {.attrs = {{std::string(relax::kOutputNames), ir::ArrayNode::make(std::move(output_names))}}});
  const ir::IRModule module = importer.builder.get();
  const auto main = ir::ref_as<relax::FunctionNode>(module->lookup("main"));
  return with_function(module, "main", relax::with_requirements(main, importer.requirements()));
}

}  // namespace

ir::IRModule import_model(const Model& model, const CustomConverters& custom) {
  refuse_unsupported(model.graph, custom);
  check_nodes(model, custom);
  return convert_model(model, custom, nullptr);
}

Problems problems_of(const Model& model) {
  Problems problems(model);
  convert_model(model, {}, &problems);
  return problems;
}

}  // namespace tilewright::frontend::onnx
