#include "tilewright/frontend/onnx/import/lists.h"

namespace tilewright::frontend::onnx {

bool is_empty_optional(const Expr& value) {
  const auto* call = value ? value.as<relax::CallNode>() : nullptr;
  return call && relax::op_of(call) && relax::op_of(call)->name == "relax.null_value";
}

ir::Type either_type(const ir::Type& a, const ir::Type& b) {
  if (!a || !b) return a ? a : b;
  return relax::common_type(a, b);
}

Contents contents_of(const ValueInfo& info) {
  Contents contents;
  contents.is_optional = info.form == ValueInfo::kOptional;
  const ValueInfo& element = *info.element;
  if (element.form != ValueInfo::kTensor) {
    contents.inner = std::make_shared<const Contents>(contents_of(element));
    return contents;
  }
  if (!element.dtype_problem.empty())
    throw Unsupported("{}", element.dtype_problem).help("use bool, integers or floats");
  if (element.dtype.is_void())
    throw Unsupported("graph input \"{}\" holds values that are not tensors, or have no dtype", info.name);
  const int64_t ndim = element.has_shape ? static_cast<int64_t>(element.shape.size()) : -1;
  contents.type = relax::tensor_type_of_ndim(ndim, element.dtype);
  return contents;
}

namespace {

using Shared = std::shared_ptr<const Contents>;

// As a list or optional value; null for tensors.
Shared held_by(const Importer& importer, const Expr& value) {
  if (const Contents* contents = importer.contents(value)) return std::make_shared<const Contents>(*contents);
  if (is_empty_optional(value)) return std::make_shared<const Contents>(Contents{true, nullptr, nullptr});
  const auto* tuple = value.as<relax::TupleNode>();
  if (!tuple) return nullptr;
  Contents contents;
  for (const Expr& element : tuple->elements)
    contents.type = either_type(contents.type, relax::type_of(element));
  return std::make_shared<const Contents>(std::move(contents));
}

// The same as an optional value.
Contents optional_of(const Expr& value, const Shared& held) {
  if (!held) return {true, relax::type_of(value), nullptr};
  return held->is_optional ? *held : Contents{true, nullptr, held};
}

Shared either(const Shared& a, const Shared& b) {
  if (!a || !b) return a ? a : b;
  return std::make_shared<const Contents>(
      Contents{a->is_optional, either_type(a->type, b->type), either(a->inner, b->inner)});
}

// Without dimensions that only a branch or body knows.
Shared visible(const Shared& held, const std::vector<const tir::VarNode*>& dims) {
  if (!held) return nullptr;
  const ir::Type type = held->type ? relax::erase_unknown_dims(held->type, dims) : nullptr;
  return std::make_shared<const Contents>(Contents{held->is_optional, type, visible(held->inner, dims)});
}

}  // namespace

Shared either_contents(const Importer& importer, const Expr& a, const Expr& b) {
  Shared x = held_by(importer, a), y = held_by(importer, b);
  if (!x && !y) return nullptr;
  if ((x && x->is_optional) || (y && y->is_optional)) {
    x = std::make_shared<const Contents>(optional_of(a, x));
    y = std::make_shared<const Contents>(optional_of(b, y));
  }
  return visible(either(x, y), importer.builder.dims_in_scope());
}

Sequence sequence_of(Importer& importer, const Node& node, size_t input) {
  Sequence sequence;
  sequence.value = importer.value(node, input);
  if (!sequence.value) throw UserError("input {} is missing", input);
  sequence.elements = sequence.value.as<relax::TupleNode>();
  if (sequence.elements) {
    for (const Expr& element : sequence.elements->elements)
      sequence.type = either_type(sequence.type, relax::type_of(element));
    return sequence;
  }
  const Contents* contents = importer.contents(sequence.value);
  if (!contents)
    throw UserError("input \"{}\" is {}, expected a sequence", node.inputs[input],
                    relax::type_text(relax::type_of(sequence.value)));
  if (contents->is_optional)
    throw UserError("input \"{}\" is optional, expected a sequence", node.inputs[input])
        .help("read it with OptionalGetElement");
  sequence.type = contents->type;
  return sequence;
}

void define_tuple(Importer& importer, const Node& node, std::vector<Expr> elements) {
  importer.define(node.outputs.at(0),
                  importer.builder.normalize(relax::TupleNode::make(std::move(elements))));
}

void define_list(Importer& importer, const std::string& name, const Expr& list, const ir::Type& type) {
  importer.set_contents(list, {false, type, nullptr});
  importer.define(name, list);
}

Expr with_type(Importer& importer, const Expr& value, const ir::Type& type) {
  const auto* tensor = type ? type.as<relax::TensorTypeNode>() : nullptr;
  if (!tensor || tensor->ndim < 0 || tensor->dtype.is_void()) return value;
  const relax::Shape* known = relax::known_shape(tensor);
  relax::Shape shape;
  for (size_t n = 0; n < static_cast<size_t>(tensor->ndim); ++n) {
    shape.push_back(known ? (*known)[n] : ir::PrimExpr(importer.new_size()));
    if (!known) importer.facts.require(tir::operator<=(relax::extent_imm(0), shape.back()));
  }
  const ir::Type whole = relax::tensor_type(shape, tensor->dtype);
  if (relax::is_subtype(relax::type_of(value), whole) == relax::Answer::kYes) return value;
  return importer.builder.emit_match_cast(value, whole);
}

Expr call_list_function(Importer& importer, std::string_view name, std::vector<Expr> args,
                        const ir::Type& type) {
  args.insert(args.begin(), relax::ExternFuncNode::make(std::string(name)));
  const Expr op = ir::OpNode::make("relax.call_pure_packed");
  return importer.builder.emit(
      relax::CallNode::make(op, std::move(args), ir::AttrMap{}, std::vector<ir::Type>{type}));
}

}  // namespace tilewright::frontend::onnx
