#include "tilewright/frontend/onnx/import.h"

#include <fmt/ranges.h>

#include <map>

#include "tilewright/frontend/onnx/convert.h"
#include "tilewright/frontend/onnx/problems.h"
#include "tilewright/frontend/onnx/schema.h"
#include "tilewright/relax/infer.h"
#include "tilewright/relax/type_util.h"
#include "tilewright/relax/vm_codegen.h"

namespace tilewright::frontend::onnx {
namespace {

// All operators without a conversion at once, so that nobody mends one only to meet the next.
void refuse_unsupported(const Graph& graph) {
  std::map<std::string, std::vector<std::string>> missing;
  for (const Node& node : graph.nodes) {
    if (!find_converter(node.op()))
      missing[node.op()].push_back(node.name.empty() ? (node.outputs.empty() ? "?" : node.outputs[0])
                                                     : node.name);
  }
  if (missing.empty()) return;
  std::vector<std::string> parts;
  for (auto& [op, nodes] : missing) {
    const size_t count = nodes.size();
    if (nodes.size() > 4) nodes.resize(4);
    parts.push_back(fmt::format("{} ({}{})", op, fmt::join(nodes, ", "),
                                count > 4 ? fmt::format(", ... {} nodes", count) : ""));
  }
  throw Unsupported("the model uses operators that cannot be imported: {}", fmt::join(parts, "; "))
      .help("express them with other operators where the model is exported");
}

relax::Var make_input(const ValueInfo& info, std::map<std::string, tir::Var>* dims) {
  if (!info.dtype_problem.empty())
    throw Unsupported("{}", info.dtype_problem).help("use bool, integers or floats");
  if (info.dtype.is_void())
    throw Unsupported("graph input \"{}\" is not a tensor, or has no dtype", info.name);
  ir::Type type = relax::tensor_type_of_ndim(-1, info.dtype);
  if (info.has_shape) {
    relax::Shape extents;
    for (size_t axis = 0; axis < info.shape.size(); ++axis) {
      const Dim& dim = info.shape[axis];
      if (dim.is_known()) {
        extents.push_back(relax::extent_imm(dim.value));
        continue;
      }
      const std::string name = dim.name.empty() ? fmt::format("{}_dim{}", info.name, axis) : dim.name;
      tir::Var& var = (*dims)[name];
      if (!var) var = tir::make_var(name, kInt64);
      extents.push_back(var);
    }
    type = relax::tensor_type(std::move(extents), info.dtype);
  }
  return relax::VarNode::make(info.name, type);
}

// Without `problems` the first error is raised; with them all are collected, and the module is of no use.
ir::IRModule convert_model(const Model& model, Problems* problems) {
  Importer importer;
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
          importer.convert(node);
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

ir::IRModule import_model(const Model& model) {
  refuse_unsupported(model.graph);
  check_nodes(model);
  return convert_model(model, nullptr);
}

Problems problems_of(const Model& model) {
  Problems problems(model);
  convert_model(model, &problems);
  return problems;
}

// ---- Importer

namespace {

// "a float32[n, 3]"
std::string described(const std::string& name, const Expr& value) {
  return fmt::format("{} {}", name, relax::type_text(relax::type_of(value)));
}

bool has_unknown_shape(const Expr& value) {
  const ir::Type whole = relax::type_of(value);
  const auto* type = whole.as<relax::TensorTypeNode>();
  return type && !type->shape;
}

}  // namespace

void Importer::convert(const Node& node) {
  builder.on_bind = [&](const Expr& value) {
    if (value.as<relax::CallNode>())
      keep(node, relax::requirements_of(relax::Call(value.as<relax::CallNode>())));
  };
  find_converter(node.op())(*this, node);
  builder.on_bind = nullptr;
  require_known_shapes(node);
}

void Importer::keep(const Node& node, std::vector<relax::Requirement> open) {
  for (relax::Requirement& requirement : open) {
    requirement.format = fmt::format("{}: {}", relax::with_escaped_braces(node.shown()), requirement.format);
    requirements_.push_back(std::move(requirement));
  }
}

void Importer::require_known_shapes(const Node& node) const {
  for (const std::string& name : node.outputs) {
    const auto made = values_.find(name);
    if (made == values_.end() || !has_unknown_shape(made->second)) continue;
    std::vector<std::string> inputs;
    bool has_shapes = true;
    for (const std::string& input : node.inputs) {
      const auto found = values_.find(input);
      if (found == values_.end()) continue;
      inputs.push_back(described(input, found->second));
      has_shapes = has_shapes && !has_unknown_shape(found->second);
    }
    throw Unsupported("the shape of its output \"{}\" is not known; its inputs are {}", name,
                      fmt::join(inputs, ", "))
        .help("{}", has_shapes
                        ? "dimensions that are equal need one name in the inputs of the model, or a number"
                        : "give the inputs of the model shapes, e.g. [\"n\", 3] with a name for what varies");
  }
}

Expr Importer::value(const Node& node, size_t input) {
  if (input >= node.inputs.size() || node.inputs[input].empty()) return nullptr;
  const std::string& name = node.inputs[input];
  auto found = values_.find(name);
  if (found != values_.end()) return found->second;
  auto elements = known_.find(name);
  if (elements == known_.end()) throw InternalError("value \"{}\" is not there", name);
  const Expr shape = relax::shape_expr(elements->second);
  Expr tensor = bind(node, "relax.shape_to_tensor", {shape});
  if (scalars_.count(name)) tensor = reshaped(node, tensor, {});
  define(name, tensor);
  return tensor;
}

std::optional<relax::Shape> Importer::known(const Node& node, size_t input) const {
  if (input >= node.inputs.size()) return std::nullopt;
  auto found = known_.find(node.inputs[input]);
  return found == known_.end() ? std::nullopt : std::optional(found->second);
}

namespace {
const std::string& name_of_input(const Node& node, size_t input) {
  if (input >= node.inputs.size() || node.inputs[input].empty())
    throw UserError("input {} is missing", input);
  return node.inputs[input];
}
}  // namespace

relax::Shape Importer::require_known(const Node& node, size_t input) const {
  const std::string& name = name_of_input(node, input);
  if (auto elements = known(node, input)) return *elements;
  throw Unsupported("input \"{}\" is known only at run time", name);
}

bool Importer::is_scalar(const Node& node, size_t input) const {
  return input < node.inputs.size() && scalars_.count(node.inputs[input]);
}

std::vector<int64_t> Importer::require_ints(const Node& node, size_t input) const {
  std::vector<int64_t> numbers;
  for (const ir::PrimExpr& element : require_known(node, input)) {
    if (!tir::as_const_int(element, &numbers.emplace_back()))
      throw Unsupported("input \"{}\" depends on a dimension that is known only at run time",
                        node.inputs[input]);
  }
  return numbers;
}

std::vector<double> Importer::require_numbers(const Node& node, size_t input) {
  const std::string& name = name_of_input(node, input);
  const Expr whole = value(node, input);
  const auto* constant = whole.as<relax::ConstantNode>();
  if (!constant) throw Unsupported("input \"{}\" is known only at run time", name);
  const runtime::Tensor& data = constant->data;
  const auto as_double = [&]<class T>(const T* first) {
    return std::vector<double>(first, first + data.num_elements());
  };
  if (data.dtype() == kFloat32) return as_double(data.data_as<float>());
  if (data.dtype() == kFloat64) return as_double(data.data_as<double>());
  if (data.dtype() == kInt32) return as_double(data.data_as<int32_t>());
  if (data.dtype() == kInt64) return as_double(data.data_as<int64_t>());
  throw Unsupported("input \"{}\" has dtype {}", name, data.dtype().str());
}

void Importer::define(const std::string& name, Expr value) { values_[name] = std::move(value); }
void Importer::define_known(const std::string& name, relax::Shape elements, bool is_scalar) {
  known_[name] = std::move(elements);
  if (is_scalar) scalars_.insert(name);
}

void Importer::pass_on(const Node& node) {
  if (auto elements = known(node, 0))
    define_known(node.outputs.at(0), std::move(*elements), is_scalar(node, 0));
  auto found = values_.find(node.inputs.at(0));
  if (found != values_.end()) define(node.outputs.at(0), Expr(found->second));
}

void Importer::define_constant(const std::string& name, const runtime::Tensor& data) {
  define(name, relax::make_constant(data));
  const bool is_int64 = data.dtype() == kInt64, is_int32 = data.dtype() == kInt32;
  if (data.ndim() > 1 || !(is_int64 || is_int32) || data.num_elements() > 1024) return;
  relax::Shape elements;
  for (int64_t n = 0; n < data.num_elements(); ++n)
    elements.push_back(relax::extent_imm(is_int64 ? data.data_as<int64_t>()[n] : data.data_as<int32_t>()[n]));
  define_known(name, std::move(elements), data.ndim() == 0);
}

Expr Importer::bind(const Node& node, std::string_view op, std::vector<Expr> args, ir::AttrMap attrs) {
  return builder.emit(relax::call_op(op, std::move(args), std::move(attrs)));
}

Expr Importer::reshaped(const Node& node, const Expr& value, const relax::Shape& shape) {
  return bind(node, "relax.reshape", {value, relax::shape_expr(shape)});
}

void Importer::define_fields(const Node& node, const Expr& tuple) {
  const ir::Type whole = relax::type_of(tuple);
  const auto* fields = whole.as<ir::TupleTypeNode>();
  for (size_t n = 0; n < node.outputs.size(); ++n) {
    if (!node.outputs[n].empty())
      define(node.outputs[n], builder.emit(relax::TupleGetItemNode::make(tuple, static_cast<int64_t>(n),
                                                                         fields->elements.at(n))));
  }
}

void Importer::emit(const Node& node, std::string_view op, std::vector<Expr> args, ir::AttrMap attrs) {
  define(node.outputs.at(0), bind(node, op, std::move(args), std::move(attrs)));
}

}  // namespace tilewright::frontend::onnx
