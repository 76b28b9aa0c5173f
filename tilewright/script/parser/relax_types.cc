// R.Tensor((1, "m"), "float32"), R.Shape, R.Tuple, R.Object, R.Prim, R.Callable
#include "tilewright/script/parser/relax_state.h"
#include "tilewright/support/count_text.h"

namespace tilewright::script {
namespace {

// An extent given as a string, "m" or "n + 1": its names are dimensions of the function.
PrimExpr extent_from_text(Parser& parser, const std::string& text, Place place) {
  if (is_name(text))
    return ref_as<tir::VarNode>(*graph_dimension(parser, text, kInt64, place).get<ObjectRef>());
  ast::Tree tree(Ref<Source>(new Source("extent", text)));
  return parser.at(place, [&]() -> PrimExpr {
    try {
      const ast::Expr* expr = ast::parse_expression(&tree);
      Parser inner(&tree, &parser.options);
      inner.graph = parser.graph;
      for (const Token& token : tokenize(tree.text)) {
        const std::string name(tree.text.at(token.place));
        // in T.max(n, 20) and min(n, 20), T and the functions are not dimensions
        const bool is_path = tree.text.all().substr(token.place.end).starts_with('.') ||
                             tree.text.all().substr(0, token.place.begin).ends_with('.');
        if (token.kind == TokenKind::kName && !is_path && name != "min" && name != "max")
          inner.names.define(name, graph_dimension(parser, name, kInt64, place), {});
      }
      return inner.eval_prim(expr);
    } catch (const Error& error) {
      throw UserError(parser.span(place), "the extent \"{}\" cannot be read: {}", text, error.text());
    }
  });
}

int64_t ndim_of(Parser& parser, const Arg* arg) {
  if (!arg || arg->value.is_none()) return -1;
  const int64_t ndim = parser.to_int(arg->value, arg->place, "ndim");
  if (ndim < -1) throw UserError(parser.span(arg->place), "ndim is {}", ndim);
  return ndim;
}

std::string device_of(Parser& parser, const Arg* arg) {
  return !arg || arg->value.is_none() ? std::string() : device_name(parser, arg->value, arg->place);
}

// R.Tensor(shape, dtype, vdevice, ndim), R.Tensor(dtype, ndim=2), R.Tensor()
Value tensor(Parser& parser, Args& args) {
  const Arg* shape = args.find(0, "shape");
  const Arg* dtype = args.find(1, "dtype");
  const Arg* device = args.find(2, "vdevice");
  const Arg* ndim = args.find(3, "ndim");
  args.done();
  DataType element = DataType::void_();
  if (shape && !dtype && parser.as_data_type(shape->value, &element))
    shape = nullptr;  // R.Tensor("float32", ndim=2)
  if (dtype && !dtype->value.is_none()) {
    const auto* text = dtype->value.get<std::string>();
    if (!text || !text->empty()) element = parser.to_data_type(dtype->value, dtype->place);
  }
  const int64_t rank = ndim_of(parser, ndim);
  if (!shape || shape->value.is_none())
    return relax::tensor_type_of_ndim(rank, element, device_of(parser, device));
  const auto var = shape->value.ref<ir::RelaxExprNode>();
  if (var && !is<relax::ShapeExprNode>(var)) {  // a shape value: R.Tensor(s, "float32")
    const auto* type = relax::type_of(var).as<relax::ShapeTypeNode>();
    if (!type)
      throw UserError(parser.span(shape->place), "the shape of a tensor must be a tuple or a shape, found {}",
                      describe(shape->value));
    return relax::TensorTypeNode::make(ir::Expr(var), element, type->ndim, device_of(parser, device));
  }
  relax::Shape extents = to_shape(parser, shape->value, shape->place);
  if (rank >= 0 && rank != static_cast<int64_t>(extents.size()))
    throw UserError(parser.span(shape->place), "the shape has {}, but ndim is {}",
                    count_text(extents.size(), "dimension"), rank);
  return relax::tensor_type(std::move(extents), element, device_of(parser, device));
}

Value shape(Parser& parser, Args& args) {
  const Arg* values = args.find(0, "values");
  const Arg* ndim = args.find(1, "ndim");
  args.done();
  if (!values || values->value.is_none()) return relax::shape_type_of_ndim(ndim_of(parser, ndim));
  return relax::shape_type(to_shape(parser, values->value, values->place));
}

Value tuple(Parser& parser, Args& args) {
  std::vector<ir::Type> elements;
  std::vector<const Arg*> given = args.rest(0);
  args.done();
  if (given.size() == 1 && given[0]->value.get<Sequence>()) {
    for (const Value& item : given[0]->value.get<Sequence>()->items)
      elements.push_back(to_type(parser, item, given[0]->place));
  } else {
    for (const Arg* arg : given) elements.push_back(to_type(parser, arg->value, arg->place));
  }
  return relax::tuple_type(std::move(elements));
}

// R.Prim("int64"), R.Prim(value=n), R.Prim("int64", value=n)
Value prim(Parser& parser, Args& args) {
  const Arg* dtype = args.find(0, "dtype");
  const Arg* value = args.find(1, "value");
  args.done();
  PrimExpr known;
  if (value && !value->value.is_none()) {
    if (const auto* text = value->value.get<std::string>()) {
      known = extent_from_text(parser, *text, value->place);
      if (known->dtype.is_integral()) known = relax::as_extent(known);
    } else {
      known = parser.to_prim(
          value->value, value->place,
          value->value.is_number() && !value->value.get<double>() ? std::optional(kInt64) : std::nullopt);
    }
  }
  if (!dtype && !known) throw UserError(args.span, "R.Prim needs a dtype or a value");
  return relax::prim_type(dtype ? parser.to_data_type(dtype->value, dtype->place) : known->dtype, known);
}

// R.Callable((params...), ret, purity)
Value callable(Parser& parser, Args& args) {
  const Arg* params = args.find(0, "params");
  const Arg* ret = args.find(1, "ret");
  const Arg* purity = args.find(2, "purity");
  args.done();
  std::vector<ir::Type> types;
  const bool is_opaque = !params || params->value.is_none();
  if (!is_opaque) {
    for (const Value& item :
         parser.to_sequence(params->value, params->place, "the parameters of R.Callable").items)
      types.push_back(to_type(parser, item, params->place));
  }
  const bool is_pure = purity ? parser.to_flag(purity->value, purity->place, "purity") : !is_opaque;
  return relax::CallableTypeNode::make(std::move(types),
                                       ret ? to_type(parser, ret->value, ret->place) : relax::object_type(),
                                       is_pure, is_opaque);
}

}  // namespace

std::string device_name(Parser& parser, const Value& value, Place place) {
  const auto* device = value.node<ir::DictNode>();  // I.vdevice("llvm", 0)
  if (!device) return parser.to_string(value, place, "vdevice");
  std::string target;
  if (const auto* name = device->items.get("target").as<ir::StringImmNode>()) target = name->value;
  return fmt::format("{}:{}", target, device->items.get_int("vdevice_id", 0));
}

PrimExpr to_extent(Parser& parser, const Value& value, Place place) {
  if (const auto* text = value.get<std::string>())
    return relax::as_extent(extent_from_text(parser, *text, place));
  const PrimExpr extent =
      parser.to_prim(value, place, value.get<Value::PyInt>() ? std::optional(kInt64) : std::nullopt);
  return relax::checked_extent(extent, parser.span(place));
}

relax::Shape to_shape(Parser& parser, const Value& value, Place place) {
  relax::Shape extents;
  if (const auto* shape = value.node<relax::ShapeExprNode>()) {
    for (const PrimExpr& extent : shape->values) relax::checked_extent(extent, parser.span(place));
    return shape->values;
  }
  for (const Value& item : parser.to_sequence(value, place, "a shape").items)
    extents.push_back(to_extent(parser, item, place));
  return extents;
}

relax::Shape to_shape_values(Parser& parser, const Sequence& list, Place place) {
  relax::Shape values;
  for (const Value& item : list.items) {
    const bool is_number = item.get<Value::PyInt>() != nullptr;
    values.push_back(is_number ? parser.to_prim(item, place, kInt64) : to_extent(parser, item, place));
  }
  return values;
}

ir::Type to_type(Parser& parser, const Value& value, Place place) {
  if (auto type = value.ref<ir::TypeNode>()) return type;
  if (value.is_none()) return relax::void_type();
  throw UserError(parser.span(place), "expected a type such as R.Tensor((128,), \"float32\"), found {}",
                  describe(value));
}

std::optional<Value> call_graph_type(Parser& parser, std::string_view name, Args& args) {
  if (name == "Tensor") return tensor(parser, args);
  if (name == "Shape") return shape(parser, args);
  if (name == "Tuple") return tuple(parser, args);
  if (name == "Prim") return prim(parser, args);
  if (name == "Callable") return callable(parser, args);
  if (name == "Object" || name == "Any") return args.done(), Value(relax::object_type());
  return std::nullopt;
}

// R.Tensor, R.Shape, R.Object without arguments
std::optional<Value> graph_type_of_name(Parser&, std::string_view name) {
  if (name == "Tensor") return relax::tensor_type_of_ndim(-1, DataType::void_());
  if (name == "Shape") return relax::shape_type_of_ndim(-1);
  if (name == "Tuple") return relax::tuple_type({});
  if (name == "Object" || name == "Any") return relax::object_type();
  if (name == "Callable")
    return relax::CallableTypeNode::make(std::vector<ir::Type>{}, relax::object_type(), false, true);
  return std::nullopt;
}

Value graph_dimension(Parser& parser, std::string_view name, DataType dtype, Place place) {
  for (RelaxState* state = parser.graph; state; state = state->outer) {
    if (auto known = state->dims.find(name); known != state->dims.end() && known->second->dtype == dtype)
      return known->second;
  }
  tir::Var var = make_var(std::string(name), dtype, parser.span(place));
  parser.graph->dims[std::string(name)] = var;
  parser.graph->used_dims.emplace_back(var, place);
  return var;
}

}  // namespace tilewright::script
