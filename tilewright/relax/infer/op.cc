#include "tilewright/relax/infer/op.h"

#include <algorithm>
#include <functional>

#include "tilewright/support/near.h"

namespace tilewright::relax {
namespace {

constexpr std::string_view kPrefix = "relax.";

// All operators sorted by name.  Sorted once: the table never changes.
const std::vector<const OpInfo*>& sorted_ops() {
  static const std::vector<const OpInfo*> sorted = [] {
    std::vector<const OpInfo*> ops;
    for (size_t file = 0; file < k_ops_count; ++file) {
      for (size_t row = 0; row < k_ops[file]->count; ++row) ops.push_back(&k_ops[file]->rows[row]);
    }
    std::sort(ops.begin(), ops.end(), [](const OpInfo* a, const OpInfo* b) { return a->name < b->name; });
    return ops;
  }();
  return sorted;
}

const TensorTypeNode* output_type(const Call& call, size_t n) {
  const Type type = type_of(call);
  if (const auto* tuple = type.as<TupleTypeNode>()) return tuple->elements.at(n).as<TensorTypeNode>();
  return type.as<TensorTypeNode>();
}

}  // namespace

const Shape& LowerInput::out_shape(size_t n) const {
  const TensorTypeNode* type = output_type(call, n);
  const Shape* shape = known_shape(type);
  if (!shape)
    throw Unsupported(call, "{}: the shape of the result is known only at run time", op_detail::what_of(call))
        .help("bind it with R.match_cast");
  return *shape;
}

DataType LowerInput::out_dtype(size_t n) const {
  const TensorTypeNode* type = output_type(call, n);
  if (!type || type->dtype.is_void())
    throw InternalError("{}: the dtype of the result is unknown", op_detail::what_of(call));
  return type->dtype;
}

Shape LowerInput::shape(size_t n) const {
  const Expr& arg = call->args.at(n);
  if (const Shape* shape = known_shape(arg)) return *shape;
  const auto* tuple = arg.as<TupleNode>();
  if (!tuple)
    throw Unsupported(call, "{}: argument {} is known only at run time", op_detail::what_of(call), n);
  Shape values;
  for (const Expr& element : tuple->elements) {
    const auto* prim = element.as<PrimValueNode>();
    if (!prim)
      throw InternalError("{}: argument {} holds a value that is known only at run time",
                          op_detail::what_of(call), n);
    values.push_back(prim->value);
  }
  return values;
}

PrimExpr LowerInput::scalar(size_t n) const {
  const Type type = type_of(call->args.at(n));
  const auto* prim = type.as<PrimTypeNode>();
  if (!prim || !prim->value)
    throw Unsupported(call, "{}: argument {} is a scalar that is known only at run time",
                      op_detail::what_of(call), n);
  return prim->value;
}

const OpInfo* find_op(std::string_view name) {
  const std::string full =
      name.starts_with(kPrefix) ? std::string(name) : std::string(kPrefix) + std::string(name);
  const auto& ops = sorted_ops();
  auto found = std::lower_bound(ops.begin(), ops.end(), full,
                                [](const OpInfo* op, const std::string& key) { return op->name < key; });
  return found != ops.end() && (*found)->name == full ? *found : nullptr;
}

const OpInfo& lookup_op(std::string_view name) {
  if (const OpInfo* info = find_op(name)) return *info;
  std::vector<std::string_view> names;
  for (const OpInfo* op : sorted_ops()) names.push_back(op_detail::short_name(op->name));
  throw UserError("there is no graph operator \"{}\"", name)
      .help("{}", nearest_names_text(op_detail::short_name(name), names));
}

std::vector<const OpInfo*> all_ops() { return sorted_ops(); }

std::string_view source_of(const OpInfo& info) {
  for (size_t file = 0; file < k_ops_count; ++file) {
    const OpTable& table = *k_ops[file];
    if (!std::less<>()(&info, table.rows) && std::less<>()(&info, table.rows + table.count))
      return table.source;
  }
  throw InternalError("operator {} is in no table", info.name);
}

const OpInfo* op_of(const CallNode* call) {
  const auto* op = call->op.as<OpNode>();
  return op ? find_op(op->name) : nullptr;
}

std::vector<std::string_view> arg_names(const OpInfo& info) {
  std::vector<std::string_view> names;
  std::string_view rest = info.args;
  while (!rest.empty()) {
    const size_t comma = rest.find(", ");
    std::string_view name = rest.substr(0, comma);
    rest = comma == std::string_view::npos ? "" : rest.substr(comma + 2);
    if (name.ends_with('?')) name.remove_suffix(1);
    if (name != "*") names.push_back(name);
  }
  return names;
}

Call call_op(std::string_view name, std::vector<Expr> args, AttrMap attrs, Span span) {
  const OpInfo& info = lookup_op(name);
  attrs = info.complete(attrs, op_detail::short_name(info.name));
  Expr op = OpNode::make(std::string(info.name));
  return CallNode::make(op, std::move(args), std::move(attrs), std::vector<Type>{}, Type(), std::move(span));
}

Expr reshaped(const Expr& x, const std::vector<int64_t>& shape) {
  return call_op("relax.reshape", {x, shape_expr(extents(shape))});
}

std::string_view op_detail::short_name(std::string_view name) {
  if (name.starts_with(kPrefix)) name.remove_prefix(kPrefix.size());
  return name;
}

std::string_view op_detail::what_of(const Call& call) {
  const auto* op = call->op.as<OpNode>();
  return op ? short_name(op->name) : "call";
}

}  // namespace tilewright::relax
