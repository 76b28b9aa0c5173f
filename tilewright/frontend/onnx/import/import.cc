#include "tilewright/frontend/onnx/import/import.h"

#include <map>

#include "tilewright/frontend/onnx/import/convert.h"
#include "tilewright/frontend/onnx/import/lists.h"
#include "tilewright/frontend/onnx/import/problems.h"
#include "tilewright/frontend/onnx/import/schema.h"
#include "tilewright/relax/build/branch_blocks.h"
#include "tilewright/relax/graph/function_names.h"
#include "tilewright/relax/graph/type_util.h"
#include "tilewright/relax/infer/infer.h"

namespace tilewright::frontend::onnx {
namespace {

relax::Var make_input(Importer& importer, const ValueInfo& info, std::map<std::string, tir::Var>* dims) {
  if (info.form != ValueInfo::kTensor) {
    const relax::Var input = relax::VarNode::make(info.name, relax::object_type());
    importer.set_contents(input, contents_of(info));
    return input;
  }
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
ir::IRModule convert_model(const Model& model, const CustomConverters& custom, Choices& choices,
                           Problems* problems) {
  Importer importer(model.graph, choices);
  importer.custom = &custom;
  importer.opset = model.opsets.at("");
  std::map<std::string, tir::Var> dims;
  std::vector<relax::Var> params;
  for (const ValueInfo& input : model.graph.inputs) {
    try {
      params.push_back(make_input(importer, input, &dims));
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
        if (problems && problems->follows(node, importer)) continue;
        choices.enter(node);
        try {
          if (problems) problems->check(node);
          if (!compute_known(importer, node)) importer.convert(node);
          if (problems) problems->made(node, importer);
        } catch (Error& error) {
          if (problems) {
            problems->add(node, error, importer);
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
  auto main = ir::ref_as<relax::FunctionNode>(module->lookup("main"));
  if (importer.has_branches()) main = relax::with_branches_outside(main);
  return with_function(module, "main", relax::with_requirements(main, importer.requirements()));
}

ir::IRModule module_or_null(const Model& model, const CustomConverters& custom, Choices& choices) {
  try {
    return convert_model(model, custom, choices, nullptr);
  } catch (const Error&) {
    return nullptr;
  }
}

}  // namespace

ir::IRModule import_model(const Model& model, const CustomConverters& custom) {
  refuse_unsupported(model.graph, custom);
  check_nodes(model, custom);
  Choices choices;
  try {
    return convert_model(model, custom, choices, nullptr);
  } catch (const Error&) {
    // the first error is raised unless another choice helps
    constexpr int kMostTries = 16;
    for (int n = 1; n < kMostTries && choices.next(model.graph); ++n) {
      if (const ir::IRModule module = module_or_null(model, custom, choices)) return module;
    }
    throw;
  }
}

Problems problems_of(const Model& model) {
  Problems problems(model);
  Choices choices;
  const CustomConverters none;
  convert_model(model, none, choices, &problems);
  return problems;
}

}  // namespace tilewright::frontend::onnx
