#include "tilewright/frontend/onnx/import/import.h"

#include <map>
#include <optional>

#include "tilewright/frontend/onnx/import/convert.h"
#include "tilewright/frontend/onnx/import/lists.h"
#include "tilewright/frontend/onnx/import/problems.h"
#include "tilewright/frontend/onnx/import/schema.h"
#include "tilewright/frontend/onnx/import/string_flow.h"
#include "tilewright/frontend/onnx/import/strings.h"
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
  ir::Type type = relax::tensor_type_of_ndim(-1, info.dtype);  // of ids, if it is one of strings
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
  return relax::VarNode::make(info.name, info.is_string ? type_of_texts(type) : type);
}

// The ids of the strings in `param`.
Expr ids_of_input(Importer& importer, const ValueInfo& info, const relax::Var& param) {
  const auto* texts = param->type.as<ir::TupleTypeNode>();
  const Expr ids = call_string_function(importer, "ids", {param, relax::StringValueNode::make(info.name)},
                                        texts ? texts->elements[1] : relax::object_type());
  if (const Contents* contents = importer.contents(param)) importer.set_contents(ids, *contents);
  return ids;
}

// What the graph returns for `output`: strings leave it as bytes and ends.
Expr output_value(Importer& importer, const ValueInfo& output) {
  const Expr value = importer.value(Node{"output", "", output.name, {output.name}, {}, {}}, 0);
  if (!output.is_string) return value;
  return call_string_function(importer, "texts", {value}, type_of_texts(relax::type_of(value)));
}

// The names of inputs and outputs that hold strings.
ir::ObjectRef string_names(const Graph& graph) {
  std::vector<ir::ObjectRef> names;
  for (const ValueInfo& input : graph.inputs) {
    if (is_of_strings(input)) names.push_back(ir::StringImmNode::make(input.name));
  }
  for (const ValueInfo& output : graph.outputs) {  // marked, also where they are lists
    if (output.is_string) names.push_back(ir::StringImmNode::make(output.name));
  }
  return ir::ArrayNode::make(std::move(names));
}

// Without `problems` the first error is raised; otherwise all are collected, and the module must not be used.
ir::IRModule convert_model(const Model& model, const StringTable* strings, const CustomConverters& custom,
                           Choices& choices, Problems* problems) {
  Importer importer(model.graph, choices);
  importer.custom = &custom;
  importer.strings = strings;
  importer.opset = model.opsets.at("");
  std::map<std::string, tir::Var> dims;
  std::vector<relax::Var> params;
  std::vector<const ValueInfo*> inputs;
  for (const ValueInfo& input : model.graph.inputs) {
    try {
      params.push_back(make_input(importer, input, &dims));
      inputs.push_back(&input);
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
    for (size_t n = 0; n < params.size(); ++n) {
      if (!is_of_strings(*inputs[n])) importer.define(inputs[n]->name, params[n]);
    }
    for (const auto& [name, data] : model.graph.initializers) importer.define_constant(name, data);
    std::vector<Expr> outputs;
    importer.builder.dataflow([&] {
      if (model.holds_strings) importer.string_pool = make_pool(importer, *strings);
      for (size_t n = 0; n < params.size(); ++n) {
        if (is_of_strings(*inputs[n]))
          importer.define(inputs[n]->name, ids_of_input(importer, *inputs[n], params[n]));
      }
      for (const Node& node : model.graph.nodes) {
        if (problems && problems->follows(node, importer)) continue;
        choices.enter(node);
        try {
          if (problems) problems->check(node);
          importer.add(node);
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
      for (const ValueInfo& output : model.graph.outputs)
        outputs.push_back(importer.builder.emit_output(output_value(importer, output)));
    });
    // one output of strings is a field, too: it is a tuple itself
    const bool is_single = outputs.size() == 1 && !model.graph.outputs[0].is_string;
    importer.builder.emit_func_output(is_single ? outputs[0] : Expr(relax::TupleNode::make(outputs)));
  };
  ir::AttrMap attrs{{std::string(relax::kOutputNames), ir::ArrayNode::make(std::move(output_names))}};
  if (model.holds_strings) attrs.set(std::string(relax::kStringNames), string_names(model.graph));
  importer.builder.function("main", params, define_main, {.attrs = std::move(attrs)});
  const ir::IRModule module = importer.builder.get();
  auto main = ir::ref_as<relax::FunctionNode>(module->lookup("main"));
  if (importer.has_branches()) main = relax::with_branches_outside(main);
  return with_function(module, "main", relax::with_requirements(main, importer.requirements()));
}

ir::IRModule module_or_null(const Model& model, const StringTable* strings, const CustomConverters& custom,
                            Choices& choices) {
  try {
    return convert_model(model, strings, custom, choices, nullptr);
  } catch (const Error&) {
    return nullptr;
  }
}

}  // namespace

namespace {

/// A model whose values that hold strings are marked, if there are any.
struct Marked {
  explicit Marked(const Model& given) : model(&given) {
    if (!may_hold_strings(given)) return;
    table.emplace(given);
    model = &copy.emplace(with_marked_strings(given, *table));
  }
  const StringTable* strings() const { return table ? &*table : nullptr; }

  std::optional<StringTable> table;
  std::optional<Model> copy;
  const Model* model;
};

}  // namespace

ir::IRModule import_model(const Model& given, const CustomConverters& custom) {
  refuse_unsupported(given.graph, custom);
  check_nodes(given, custom);
  const Marked marked(given);
  const Model& model = *marked.model;
  Choices choices;
  try {
    return convert_model(model, marked.strings(), custom, choices, nullptr);
  } catch (const Error&) {
    // the first error is raised unless another choice helps
    constexpr int kMostTries = 16;
    for (int n = 1; n < kMostTries && choices.next(model.graph); ++n) {
      if (const ir::IRModule module = module_or_null(model, marked.strings(), custom, choices)) return module;
    }
    throw;
  }
}

Problems problems_of(const Model& given) {
  const Marked marked(given);
  Problems problems(*marked.model);
  Choices choices;
  const CustomConverters none;
  convert_model(*marked.model, marked.strings(), none, choices, &problems);
  return problems;
}

}  // namespace tilewright::frontend::onnx
