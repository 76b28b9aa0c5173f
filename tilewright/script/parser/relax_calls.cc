// Calls in graphs: call_tir in both forms, functions of the registry, functions of the module, operators.
#include <algorithm>

#include "tilewright/script/parser/relax_state.h"

namespace tilewright::script {
namespace {

// One or several output types, given as types or, before 2023, as shapes with dtypes.
std::vector<ir::Type> output_types(Parser& parser, const Arg& outputs, const Arg* dtype) {
  std::vector<ir::Type> types;
  const auto* list = outputs.value.get<Sequence>();
  // R.Tuple(T) is a tuple of one field, [T] a tensor
  if (auto tuple = outputs.value.ref<ir::TupleTypeNode>())
    return tuple->elements.size() == 1 ? std::vector<ir::Type>{tuple} : tuple->elements;
  if (!list && !outputs.value.node<relax::ShapeExprNode>())
    return {to_type(parser, outputs.value, outputs.place)};
  const bool has_types = list && !list->items.empty() && list->items[0].node<ir::TypeNode>();
  if (has_types) {
    for (const Value& item : list->items) types.push_back(to_type(parser, item, outputs.place));
    return types;
  }
  if (!dtype)
    throw UserError(parser.span(outputs.place), "the shape of the output has no dtype")
        .help("write dtype=\"float32\", or give the type as R.Tensor(shape, dtype)");
  const bool has_several = list && !list->items.empty() &&
                           (list->items[0].get<Sequence>() || list->items[0].node<relax::ShapeExprNode>());
  if (!has_several)
    return {relax::tensor_type(to_shape(parser, outputs.value, outputs.place),
                               parser.to_data_type(dtype->value, dtype->place))};
  const auto* dtypes = dtype->value.get<Sequence>();
  if (dtypes && dtypes->items.size() != list->items.size())
    throw UserError(parser.span(dtype->place), "{} shapes are given, but {} dtypes", list->items.size(),
                    dtypes->items.size());
  for (size_t n = 0; n < list->items.size(); ++n) {
    const DataType element = parser.to_data_type(dtypes ? dtypes->items[n] : dtype->value, dtype->place);
    types.push_back(relax::tensor_type(to_shape(parser, list->items[n], outputs.place), element));
  }
  return types;
}

ir::Type joined(const std::vector<ir::Type>& types) {
  return types.size() == 1 ? types[0] : ir::Type(relax::tuple_type(types));
}

// The callee: cls.f, f or "f" is a function of this module; any other string is a registered function.
ir::Expr callee_of(Parser& parser, const Arg& arg) {
  if (auto global = arg.value.ref<ir::GlobalVarNode>()) return global;
  if (auto external = arg.value.ref<relax::ExternFuncNode>()) return external;
  const auto* name = arg.value.get<std::string>();
  if (!name)
    throw UserError(parser.span(arg.place),
                    "expected a function of the module or the name of a registered one, found {}",
                    describe(arg.value));
  if (auto global = parser.global_vars.find(*name); global != parser.global_vars.end()) return global->second;
  return relax::ExternFuncNode::make(*name, AttrMap(), ir::Type(), parser.span(arg.place));
}

relax::Tuple tuple_of(Parser& parser, const Arg& arg) {
  Sequence list;
  if (const auto* items = arg.value.get<Sequence>())
    list = *items;
  else if (arg.value.node<relax::TupleNode>())
    return arg.value.ref<relax::TupleNode>();
  else
    list.items.push_back(arg.value);
  return ref_as<relax::TupleNode>(to_graph(parser, list, arg.place));
}

// True if `callee` is a registered function, or the module's name for one.
bool is_registered(const Parser& parser, const ir::Expr& callee) {
  const auto* global = callee.as<ir::GlobalVarNode>();
  if (!global || !parser.parsed) return is<relax::ExternFuncNode>(callee);
  return is<relax::ExternFuncNode>(parser.parsed->find(global->name_hint));
}

// R.call_tir(f, (x,), out_sinfo=R.Tensor(...)), R.call_tir(f, (x,), shape, dtype="float32"),
// R.call_dps_packed("name", ...)
Value call_tir(Parser& parser, Args& args, std::string_view name) {
  const Arg& func = args.need(0, "func");
  const Arg& inputs = args.need(1, "args");
  const Arg* outputs = nullptr;
  for (std::string_view keyword : {"out_ty", "shape", "output_shape"}) {
    if (const Arg* arg = args.keyword(keyword)) outputs = arg;
  }
  const Arg* first_choice = args.find(2, "out_sinfo");
  if (first_choice) outputs = first_choice;
  if (!outputs)
    throw UserError(args.span, "{}: argument out_sinfo is missing", args.function)
        .help("as in R.call_tir(f, (x,), out_sinfo=R.Tensor((1, 128), \"float32\"))");
  const Arg* dtype = args.find(3, "dtype");
  const Arg* extra = args.keyword("tir_vars");
  const Arg* inplace = name == "call_tir_inplace" ? args.keyword("inplace_indices") : nullptr;
  const bool has_grad = name == "call_tir_with_grad";
  const Arg* grad_name = has_grad ? args.keyword("te_grad_name") : nullptr;
  const Arg* grad_kwargs = has_grad ? args.keyword("te_grad_kwargs") : nullptr;
  args.done();
  ir::Expr callee = callee_of(parser, func);
  std::vector<ir::Expr> operands{callee, tuple_of(parser, inputs)};
  if (extra && !extra->value.is_none()) {
    relax::Shape extents = to_shape(parser, extra->value, extra->place);
    operands.push_back(relax::shape_expr(extents, parser.span(extra->place)));
  }
  AttrMap attrs;
  if (inplace) attrs.set("inplace_indices", parser.to_object(inplace->value, inplace->place));
  if (grad_name) attrs.set("te_grad_name", parser.to_object(grad_name->value, grad_name->place));
  if (grad_kwargs && !grad_kwargs->value.is_none())
    attrs.set("te_grad_kwargs", parser.to_object(grad_kwargs->value, grad_kwargs->place));
  std::vector<ir::Type> types = output_types(parser, *outputs, dtype);
  std::string op(name);
  if (name != "call_tir_inplace" && !has_grad)
    op = callee.as<ir::GlobalVarNode>() && !is_registered(parser, callee) ? "call_tir" : "call_dps_packed";
  return make_call(parser, op, std::move(operands), std::move(attrs), std::move(types), args.span);
}

std::vector<ir::Type> given_types(Parser& parser, Args& args) {
  for (std::string_view keyword : {"sinfo_args", "type_args", "ty_args", "out_ty"}) {
    const Arg* arg = args.keyword(keyword);
    if (!arg || arg->value.is_none()) continue;
    std::vector<ir::Type> types;
    if (const auto* list = arg->value.get<Sequence>()) {
      for (const Value& item : list->items) types.push_back(to_type(parser, item, arg->place));
    } else {
      types.push_back(to_type(parser, arg->value, arg->place));
    }
    return types;
  }
  return {};
}

std::vector<ir::Expr> leaves(Parser& parser, const std::vector<const Arg*>& given) {
  std::vector<ir::Expr> result;
  for (const Arg* arg : given)
    result.push_back(to_leaf(parser, to_graph(parser, arg->value, arg->place), arg->place));
  return result;
}

// R.call_packed("name", x, y, sinfo_args=...): a registered function that returns its result
Value call_packed(Parser& parser, Args& args, std::string_view name) {
  const Arg& func = args.need(0, "func");
  std::vector<ir::Type> types = given_types(parser, args);
  std::vector<ir::Expr> operands = leaves(parser, args.rest(1));
  AttrMap attrs;
  for (const Arg& arg : args.keywords) {
    if (!arg.used)
      attrs.set(std::string(arg.name), parser.to_object(args.keyword(arg.name)->value, arg.place));
  }
  ir::Expr callee = callee_of(parser, func);
  if (name != "call_packed") {
    operands.insert(operands.begin(), callee);
    return make_call(parser, name, std::move(operands), std::move(attrs), std::move(types), args.span);
  }
  ir::Type type = types.empty() ? ir::Type(relax::object_type()) : joined(types);
  return relax::CallNode::make(callee, std::move(operands), std::move(attrs), std::move(types), type,
                               args.span);
}

// R.call_py_func("name", (x, y), out_sinfo=...): a Python function of the module, which
// is registered at run time
Value call_py_func(Parser& parser, Args& args) {
  const Arg& name = args.need(0, "func_name");
  const Arg& inputs = args.need(1, "args");
  const Arg& outputs = args.need(2, "out_sinfo");
  args.done();
  std::vector<ir::Expr> operands{
      relax::ExternFuncNode::make(parser.to_string(name.value, name.place, "the name of a Python function"),
                                  AttrMap(), ir::Type(), parser.span(name.place))};
  const relax::Tuple tuple = tuple_of(parser, inputs);
  operands.insert(operands.end(), tuple->elements.begin(), tuple->elements.end());
  return make_call(parser, "call_pure_packed", std::move(operands), AttrMap(),
                   {joined(output_types(parser, outputs, nullptr))}, args.span);
}

// R.invoke_closure(f, (x, y), sinfo_args=...): a call of a function value
Value invoke_closure(Parser& parser, Args& args) {
  const Arg& closure = args.need(0, "closure");
  const Arg& inputs = args.need(1, "args");
  std::vector<ir::Type> types = given_types(parser, args);
  args.done();
  ir::Expr callee = to_leaf(parser, to_graph(parser, closure.value, closure.place), closure.place);
  if (!is<relax::VarBaseNode>(callee) && !is<ir::GlobalVarNode>(callee) && !is<relax::ExternFuncNode>(callee))
    throw UserError(parser.span(closure.place), "{}: {} cannot be called", args.function,
                    describe(closure.value));
  std::vector<ir::Expr> operands = tuple_of(parser, inputs)->elements;
  relax::Call call =
      relax::CallNode::make(callee, std::move(operands), AttrMap(), std::move(types), ir::Type(), args.span);
  return with(call, [&](relax::CallNode& n) { n.type = infer(parser, call, args.span); });
}

// R.to_vdevice(x, "llvm:0"), R.hint_on_device(x, R.device(1, 0))
Value on_device(Parser& parser, Args& args, std::string_view name) {
  const Arg& data = args.need(0, "data");
  const Arg& device = args.need(1, "dst_vdevice");
  args.done();
  AttrMap attrs;
  attrs.set("dst_vdevice", string_imm(device_name(parser, device.value, device.place)));
  return make_call(parser, name, {to_leaf(parser, to_graph(parser, data.value, data.place), data.place)},
                   std::move(attrs), {}, args.span);
}

// R.device(1, 0), R.device("cpu"): its name, "cpu:0"
Value device(Parser& parser, Args& args) {
  const Arg& type = args.need(0, "device_type");
  const Arg* id = args.find(1, "device_id");
  args.done();
  const int64_t number = id ? parser.to_int(id->value, id->place, "device_id") : 0;
  if (const auto* name = type.value.get<std::string>()) return fmt::format("{}:{}", *name, number);
  const int64_t kind = parser.to_int(type.value, type.place, "device_type");
  return runtime::Device{static_cast<int32_t>(kind), static_cast<int32_t>(number)}.str();
}

// R.masked_fill(x, mask, value): R.where(mask, R.full_like(x, value), x)
Value masked_fill(Parser& parser, Args& args) {
  const Arg& data = args.need(0, "x");
  const Arg& mask = args.need(1, "mask");
  const Arg& value = args.need(2, "value");
  args.done();
  ir::Expr tensor = to_leaf(parser, to_graph(parser, data.value, data.place), data.place);
  ir::Expr where = to_leaf(parser, to_graph(parser, mask.value, mask.place), mask.place);
  ir::Expr fill = value.value.ref<ir::RelaxExprNode>();
  if (!fill) fill = constant_of(parser, value.value, relax::dtype_of(tensor), value.place);
  relax::Call full = make_call(parser, "full_like", {tensor, fill}, AttrMap(), {}, args.span);
  return make_call(parser, "where", {where, to_leaf(parser, full, args.place), tensor}, AttrMap(), {},
                   args.span);
}

// R.memory.view(x, R.shape([4]), R.dtype("int32"), R.prim_value(8)); empty tuples for
// arguments that are not given
Value memory_view(Parser& parser, Args& args) {
  const Arg& data = args.need(0, "data");
  std::vector<ir::Expr> operands{to_leaf(parser, to_graph(parser, data.value, data.place), data.place)};
  size_t position = 1;
  for (std::string_view name : {"shape", "dtype", "relative_byte_offset"}) {
    const Arg* arg = args.find(position++, name);
    const bool is_given = arg && !arg->value.is_none();
    if (is_given && name == "dtype" && arg->value.get<std::string>())
      operands.push_back(to_graph(parser, parser.to_data_type(arg->value, arg->place), arg->place));
    else if (is_given && name == "shape" && arg->value.get<Sequence>() &&
             !arg->value.get<Sequence>()->items.empty())
      operands.push_back(
          relax::shape_expr(to_shape(parser, arg->value, arg->place), parser.span(arg->place)));
    else
      operands.push_back(is_given ? to_leaf(parser, to_graph(parser, arg->value, arg->place), arg->place)
                                  : to_graph(parser, Sequence{{}, true}, args.place));
  }
  args.done();
  return make_call(parser, "memory.view", std::move(operands), AttrMap(), {}, args.span);
}

// R.arange(5), R.arange(0, n, 2, dtype="int32"); without a dtype int64, or float32 if a number is a float
Value arange(Parser& parser, Args& args) {
  const Arg& start = args.need(0, "start");
  const Arg* end = args.find(1, "end");
  const Arg* step = args.find(2, "step");
  const Arg* dtype = args.find(3, "dtype");
  args.done();
  auto scalar = [&](const Value& value, Place place) {
    return to_leaf(parser, to_graph(parser, value, place), place);
  };
  const bool has_end = end && !end->value.is_none();
  std::vector<ir::Expr> operands;
  if (!has_end) operands.push_back(scalar(int64_t{0}, args.place));
  operands.push_back(scalar(start.value, start.place));
  if (has_end) operands.push_back(scalar(end->value, end->place));
  operands.push_back(step ? scalar(step->value, step->place) : scalar(int64_t{1}, args.place));
  AttrMap attrs;
  // an inferred dtype is printed as "void"
  const std::string* name = dtype ? dtype->value.get<std::string>() : nullptr;
  if (dtype && !dtype->value.is_none() && !(name && (name->empty() || *name == "void"))) {
    attrs.set("dtype", string_imm(parser.to_data_type(dtype->value, dtype->place).str()));
  } else if (std::any_of(operands.begin(), operands.end(), [](const ir::Expr& operand) {
               const auto* type = relax::type_of(operand).as<ir::PrimTypeNode>();
               return type && type->dtype.is_float();
             })) {
    attrs.set("dtype", string_imm("float32"));
  }
  return make_call(parser, "arange", std::move(operands), std::move(attrs), {}, args.span);
}

// R.match_cast outside of an assignment, where there is no variable to bind
Value match_cast(Parser& parser, Args& args) {
  const Arg& value = args.need(0, "value");
  const Arg& type = args.need(1, "type");
  args.done();
  ir::Expr leaf = to_leaf(parser, to_graph(parser, value.value, value.place), value.place);
  return emit_match_cast(parser, args.hint().empty() ? "lv" : args.hint(), leaf,
                         to_type(parser, type.value, type.place), args.place);
}

Value print_values(Parser& parser, Args& args) {
  std::vector<ir::Expr> operands = leaves(parser, args.rest(0));
  const Arg* format = args.keyword("format");
  args.done();
  operands.insert(operands.begin(),
                  relax::StringValueNode::make(
                      format ? parser.to_string(format->value, format->place, "format") : std::string(),
                      ir::Type(relax::object_type()), args.span));
  return make_call(parser, "print", std::move(operands), AttrMap(), {}, args.span);
}

Value assert_op(Parser& parser, Args& args) {
  const Arg& condition = args.need(0, "condition");
  const Arg* values = args.find(1, "format_args");
  const Arg* format = args.find(2, "format");
  args.done();
  std::vector<ir::Expr> operands{
      to_leaf(parser, to_graph(parser, condition.value, condition.place), condition.place)};
  operands.push_back(relax::StringValueNode::make(
      format ? parser.to_string(format->value, format->place, "format") : std::string(),
      ir::Type(relax::object_type()), args.span));
  if (values && !values->value.is_none()) {
    Sequence list;
    if (const auto* items = values->value.get<Sequence>())
      list = *items;
    else
      list.items.push_back(values->value);
    for (const Value& item : list.items)
      operands.push_back(to_leaf(parser, to_graph(parser, item, values->place), values->place));
  }
  return make_call(parser, "assert_op", std::move(operands), AttrMap(), {}, args.span);
}

Value literal(Parser& parser, std::string_view name, Args& args) {
  if (name == "const") {
    const Arg& value = args.need(0, "value");
    const Arg* dtype = args.find(1, "dtype");
    args.done();
    std::optional<DataType> element;
    if (dtype && !dtype->value.is_none()) {
      const auto* type =
          dtype->value.node<relax::TensorTypeNode>();  // R.const(value, R.Tensor((), "float32"))
      element = type ? type->dtype : parser.to_data_type(dtype->value, dtype->place);
    }
    return constant_of(parser, value.value, element, value.place);
  }
  if (name == "tuple") {
    Sequence list{{}, true};
    for (const Arg* arg : args.rest(0)) list.items.push_back(arg->value);
    args.done();
    return to_graph(parser, list, args.place);
  }
  const Arg& value = args.need(0, "value");
  args.done();
  if (name == "shape") {
    const auto* list = value.value.get<Sequence>();
    if (!list) return relax::shape_expr(to_shape(parser, value.value, value.place), args.span);
    return relax::shape_expr(to_shape_values(parser, *list, value.place), args.span);
  }
  if (name == "str")
    return to_graph(parser, parser.to_string(value.value, value.place, "the argument"), args.place);
  if (name == "dtype") return to_graph(parser, parser.to_data_type(value.value, value.place), args.place);
  return to_graph(  // prim_value
      parser,
      Value(parser.to_prim(value.value, value.place,
                           value.value.get<Value::PyInt>() ? std::optional(kInt64) : std::nullopt)),
      args.place);
}

// R.ExternFunc("f"), R.ExternFunc("f", R.Callable((...), ret)): a registered
// function, optionally with its type
Value extern_func(Parser& parser, Args& args) {
  const Arg& name = args.need(0, "global_symbol");
  const Arg* type = args.find(1, "struct_info");
  args.done();
  return relax::ExternFuncNode::make(
      parser.to_string(name.value, name.place, "the name of a function"), AttrMap(),
      type && !type->value.is_none() ? to_type(parser, type->value, type->place) : ir::Type(), args.span);
}

}  // namespace

std::optional<Value> call_graph_special(Parser& parser, std::string_view name, Args& args) {
  if (name == "call_tir" || name == "call_dps_packed" || name == "call_tir_inplace" ||
      name == "call_tir_with_grad")
    return call_tir(parser, args, name);
  if (name == "call_packed" || name == "call_pure_packed" || name == "call_inplace_packed")
    return call_packed(parser, args, name);
  if (name == "call_py_func") return call_py_func(parser, args);
  if (name == "invoke_closure" || name == "invoke_pure_closure") return invoke_closure(parser, args);
  if (name == "match_cast") return match_cast(parser, args);
  if (name == "print") return print_values(parser, args);
  if (name == "assert_op") return assert_op(parser, args);
  if (name == "extern" || name == "ExternFunc") return extern_func(parser, args);
  if (name == "to_vdevice" || name == "hint_on_device") return on_device(parser, args, name);
  if (name == "arange") return arange(parser, args);
  if (name == "device") return device(parser, args);
  if (name == "masked_fill") return masked_fill(parser, args);
  if (name == "memory.view") return memory_view(parser, args);
  for (std::string_view plain : {"const", "tuple", "shape", "str", "dtype", "prim_value"}) {
    if (name == plain) return literal(parser, name, args);
  }
  return std::nullopt;
}

Value call_graph_value(Parser& parser, const Value& function, Args& args) {
  ir::Expr callee(function.node<ir::ExprNode>());
  if (const auto* global = function.node<ir::GlobalVarNode>(); global && parser.require) {
    parser.require(global->name_hint);
    callee = parser.global_vars.find(global->name_hint)->second;  // its type is known by now
  }
  std::vector<ir::Type> types = given_types(parser, args);
  std::vector<ir::Expr> operands = leaves(parser, args.rest(0));
  args.done();
  relax::Call call =
      relax::CallNode::make(callee, std::move(operands), AttrMap(), types, ir::Type(), args.span);
  ir::Type type = types.empty() ? infer(parser, call, args.span) : joined(types);
  return with(call, [&](relax::CallNode& n) {
    n.type = type;
    if (is<relax::ExternFuncNode>(callee)) n.type_args = {type};  // only here is its type stated
  });
}

Value call_graph_function(Parser& parser, std::string_view name, Args& args) {
  if (auto type = call_graph_type(parser, name, args)) return *type;
  if (!parser.graph)
    throw UserError(args.span, "{} is allowed only inside a function of @R.function", args.function);
  if (auto statement = call_graph_statement(parser, name, args)) return *statement;
  if (auto special = call_graph_special(parser, name, args)) return *special;
  return call_operator(parser, name, args);
}

}  // namespace tilewright::script
