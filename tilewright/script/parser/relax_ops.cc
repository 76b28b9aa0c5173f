// R.name(...) of an operator: its row in the registry tells which arguments are values
// and which are attributes.
#include <algorithm>

#include "tilewright/relax/infer/infer.h"
#include "tilewright/relax/infer/op.h"
#include "tilewright/script/parser/relax_state.h"
#include "tilewright/script/parser/tir_functions.h"

namespace tilewright::script {
namespace {

struct Slot {
  std::string_view name;
  bool is_optional = false;
};

struct Signature {
  std::vector<Slot> args;
  bool takes_more = false;  // any number of arguments after the named ones
};

// "data, weight, bias?" or "condition, *values"
Signature signature_of(const relax::OpInfo& info) {
  Signature signature;
  std::string_view text = info.args;
  while (!text.empty()) {
    const size_t comma = std::min(text.find(','), text.size());
    std::string_view name = text.substr(0, comma);
    text.remove_prefix(std::min(comma + 1, text.size()));
    while (name.starts_with(' ')) name.remove_prefix(1);
    while (name.ends_with(' ')) name.remove_suffix(1);
    const bool is_optional = name.ends_with('?');
    if (name.starts_with('*') || name.ends_with('*')) signature.takes_more = true;
    if (is_optional) name.remove_suffix(1);
    while (name.starts_with('*')) name.remove_prefix(1);
    while (name.ends_with('*')) name.remove_suffix(1);
    if (!name.empty() && !(signature.takes_more && text.empty()))
      signature.args.push_back({name, is_optional});
  }
  return signature;
}

// Converts an argument: a list of extents becomes a shape, a list of values or arguments a tuple, and a
// string for a parameter called dtype becomes a dtype.
ir::Expr operand(Parser& parser, const Arg& arg, std::string_view name = {}) {
  if (name == "dtype" && arg.value.get<std::string>())
    return to_graph(parser, parser.to_data_type(arg.value, arg.place), arg.place);
  if (arg.value.is_none())
    return to_leaf(parser, relax::Tuple(relax::TupleNode::make(std::vector<ir::Expr>{})), arg.place);
  const auto* list = arg.value.get<Sequence>();
  const bool is_tuple = name == "args" || name == "carried" || name == "captured";
  const bool is_shape =
      list && !is_tuple && std::all_of(list->items.begin(), list->items.end(), [](const Value& item) {
        return item.get<Value::PyInt>() || item.node<ir::PrimExprNode>() || item.get<std::string>();
      });
  if (!is_shape) return to_leaf(parser, to_graph(parser, arg.value, arg.place), arg.place);
  return relax::shape_expr(to_shape_values(parser, *list, arg.place), parser.span(arg.place));
}

ObjectRef attribute(Parser& parser, const Arg& arg, const ir::OptionInfo& option) {
  const bool is_list = option.type.starts_with("list");
  if (is_list && !arg.value.get<Sequence>() && !arg.value.node<ir::ArrayNode>() && !arg.value.is_none())
    return parser.to_object(Sequence{{arg.value}, false}, arg.place);
  if (option.type == "float" && arg.value.get<Value::PyInt>())
    return parser.to_object(static_cast<double>(*arg.value.get<Value::PyInt>()), arg.place);
  if (const auto* scalar = arg.value.node<relax::PrimValueNode>()) return scalar->value;
  if (const auto* constant = arg.value.node<relax::ConstantNode>()) {
    if (const ir::PrimExpr number = relax::literal_of(constant)) return number;
  }
  if (arg.value.get<LambdaValue>()) {
    auto [vars, indices] = apply_lambda(parser, arg, {}, option.name);
    return tir::IndexMapNode::make(std::move(vars), std::move(indices));
  }
  return parser.to_object(arg.value, arg.place);
}

}  // namespace

Value call_operator(Parser& parser, std::string_view name, Args& args) {
  const relax::OpInfo& info = relax::lookup_op(name);
  const Signature signature = signature_of(info);
  std::vector<ir::Expr> operands;
  size_t missing = 0;
  for (size_t n = 0; n < signature.args.size(); ++n) {
    const Slot& slot = signature.args[n];
    const Arg* arg = slot.is_optional ? args.find(n, slot.name) : &args.need(n, slot.name);
    if (!arg || (slot.is_optional && arg->value.is_none())) {
      ++missing;
      continue;
    }
    if (missing > 0)
      throw Unsupported(parser.span(arg->place), "{}: argument {} without the optional ones before it",
                        args.function, slot.name);
    operands.push_back(operand(parser, *arg, slot.name));
  }
  size_t position = signature.args.size();
  AttrMap attrs;
  const std::vector<ir::OptionInfo> options = info.attrs();
  if (signature.takes_more) {
    for (const Arg* arg : args.rest(position)) operands.push_back(operand(parser, *arg));
    position = args.size();
  }
  for (const ir::OptionInfo& option : options) {
    const Arg* arg = signature.takes_more ? args.keyword(option.name) : args.find(position++, option.name);
    if (!arg) continue;
    if (ObjectRef value = attribute(parser, *arg, option)) attrs.set(option.name, std::move(value));
  }
  args.done();
  relax::Call call = relax::call_op(info.name, std::move(operands), std::move(attrs), args.span);
  ir::Type type = relax::infer_type(call, parser.parsed.get());
  return with(call, [&](relax::CallNode& n) { n.type = type; });
}

relax::Call make_call(Parser& parser, std::string_view op, std::vector<ir::Expr> args, AttrMap attrs,
                      std::vector<ir::Type> type_args, const Span& span) {
  if (type_args.empty()) {
    relax::Call call = relax::call_op("relax." + std::string(op), std::move(args), std::move(attrs), span);
    ir::Type type = infer(parser, call, span);
    return with(call, [&](relax::CallNode& n) { n.type = type; });
  }
  ir::Type type = type_args.size() == 1 ? type_args[0] : ir::Type(relax::tuple_type(type_args));
  relax::Call call =
      relax::CallNode::make(ir::Expr(ir::OpNode::make("relax." + std::string(op))), std::move(args),
                            std::move(attrs), std::move(type_args), ir::Type(), span);
  relax::infer_type(call, parser.parsed.get());  // raises if the arguments do not fit the given types
  return with(call, [&](relax::CallNode& n) { n.type = type; });
}

}  // namespace tilewright::script
