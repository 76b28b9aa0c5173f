#include "tilewright/tir/text.h"

#include <cmath>

#include "tilewright/ir/field.h"
#include "tilewright/tir/builder.h"
#include "tilewright/tir/op.h"
#include "tilewright/tir/range_end.h"

namespace tilewright::tir {
namespace {

struct Infix {
  std::string_view sign;
  Precedence precedence;
};

// The infix operator of a two-operand node; empty if it is written as a function.
Infix infix_of(const BinaryOpNode* op) {
  switch (op->kind) {
    case Kind::kAdd: return {"+", Precedence::kSum};
    case Kind::kSub: return {"-", Precedence::kSum};
    case Kind::kMul: return {"*", Precedence::kProduct};
    case Kind::kDiv: return {op->dtype.is_float() ? "/" : "", Precedence::kProduct};
    case Kind::kFloorDiv: return {"//", Precedence::kProduct};
    case Kind::kFloorMod: return {"%", Precedence::kProduct};
    case Kind::kEQ: return {"==", Precedence::kCompare};
    case Kind::kNE: return {"!=", Precedence::kCompare};
    case Kind::kLT: return {"<", Precedence::kCompare};
    case Kind::kLE: return {"<=", Precedence::kCompare};
    case Kind::kGT: return {">", Precedence::kCompare};
    case Kind::kGE: return {">=", Precedence::kCompare};
    case Kind::kAnd: return {"and", Precedence::kAnd};
    case Kind::kOr: return {"or", Precedence::kOr};
    default: return {"", Precedence::kAtom};
  }
}

// The name of the function T.name(a, b) that makes the node whatever its operands are.
std::string_view function_name(Kind kind) {
  switch (kind) {
    case Kind::kAdd: return "Add";
    case Kind::kSub: return "Sub";
    case Kind::kMul: return "Mul";
    case Kind::kDiv: return "truncdiv";
    case Kind::kMod: return "truncmod";
    case Kind::kFloorDiv: return "FloorDiv";
    case Kind::kFloorMod: return "FloorMod";
    case Kind::kMin: return "min";
    case Kind::kMax: return "max";
    case Kind::kEQ: return "EQ";
    case Kind::kNE: return "NE";
    case Kind::kLT: return "LT";
    case Kind::kLE: return "LE";
    case Kind::kGT: return "GT";
    case Kind::kGE: return "GE";
    case Kind::kAnd: return "And";
    default: return "Or";
  }
}

Precedence tighter(Precedence precedence) {
  return static_cast<Precedence>(static_cast<int>(precedence) + 1);
}

std::string dtype_text(DataType dtype) { return quoted(dtype.str()); }

}  // namespace

std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\')
      result += '\\', result += c;
    else if (c == '\n')
      result += "\\n";
    else if (c == '\t')
      result += "\\t";
    else if (c == '\r')
      result += "\\r";
    else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      result += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    else
      result += c;
  }
  return result + '"';
}

std::string float_text(double value, DataType dtype, bool as_double) {
  if (std::isnan(value)) return "\"nan\"";
  if (std::isinf(value)) return value > 0 ? "\"inf\"" : "\"-inf\"";
  if (value == 0 && std::signbit(value)) return "-0.0";
  if (!as_double && dtype.element() == kFloat32) return fmt::format("{}", static_cast<float>(value));
  return fmt::format("{}", value);
}

// True if the operation must be written as a function: Python would compute two literals without a type.
bool ExprWriter::is_function(const BinaryOpNode* op) const {
  auto is_bare = [&](const PrimExpr& expr) {
    return (has_plain_ints || expr->dtype == bare_int) && is<IntImmNode>(expr);
  };
  return infix_of(op).sign.empty() || (is_bare(op->a) && is_bare(op->b));
}

Precedence ExprWriter::precedence_of(const PrimExpr& expr) const {
  if (expr.as<NotNode>()) return Precedence::kNot;
  const auto* op = expr.as<BinaryOpNode>();
  return op && !is_function(op) ? infix_of(op).precedence : Precedence::kAtom;
}

void ExprWriter::expr(const PrimExpr& expr, Precedence at_least) {
  if (!expr) {
    out += "None";
    return;
  }
  const bool enclosed = at_least > precedence_of(expr);
  if (enclosed) out += '(';
  const size_t begin = out.size();
  plain(expr);
  if (keeps_places) places.push_back({expr.get(), begin, out.size()});
  if (enclosed) out += ')';
}

void ExprWriter::plain(const PrimExpr& expr) {
  if (const auto* var = expr.as<VarNode>()) return variable(var);
  if (const auto* literal = expr.as<IntImmNode>()) return int_literal(literal);
  if (const auto* op = expr.as<BinaryOpNode>()) return binary(op);
  if (const auto* load = expr.as<BufferLoadNode>())
    return access(load->buffer, load->indices, load->predicate);
  if (const auto* node = expr.as<CallNode>()) return call(node);
  if (const auto* literal = expr.as<FloatImmNode>()) {
    out += fmt::format("{}.{}({})", alias, literal->dtype.str(),
                       float_text(literal->value, literal->dtype, floats_as_doubles));
  } else if (const auto* text = expr.as<StringImmNode>()) {
    out += quoted(text->value);
  } else if (const auto* cast = expr.as<CastNode>()) {
    out += fmt::format("{}.Cast({}, ", alias, dtype_text(cast->dtype));
    this->expr(cast->value);
    out += ')';
  } else if (const auto* negation = expr.as<NotNode>()) {
    out += "not ";
    this->expr(negation->a, Precedence::kNot);
  } else if (const auto* choice = expr.as<SelectNode>()) {
    out += alias + ".Select(";
    exprs({choice->condition, choice->true_value, choice->false_value});
    out += ')';
  } else if (const auto* load = expr.as<ProducerLoadNode>()) {
    other(load->producer.get());
    out += '[';
    indices(load->indices);
    out += ']';
  } else if (const auto* let = expr.as<LetNode>()) {
    define(let->var.get());
    out += alias + ".Let(";
    this->expr(let->body);
    out += ", where={";
    variable(let->var.get());
    out += ": ";
    this->expr(let->value);
    out += "})";
  } else if (const auto* node = expr.as<ReduceNode>()) {
    reduce(node);
  } else {
    vector(expr);
  }
}

void ExprWriter::int_literal(const IntImmNode* literal) {
  const DataType dtype = literal->dtype;
  if (dtype.is_bool() && dtype != bare_int) {
    out += fmt::format("{}.bool({})", alias, literal->value ? "True" : "False");
    return;
  }
  const std::string number = dtype.is_uint() ? fmt::format("{}", static_cast<uint64_t>(literal->value))
                                             : fmt::format("{}", literal->value);
  out += has_plain_ints || dtype == bare_int ? number : fmt::format("{}.{}({})", alias, dtype.str(), number);
}

void ExprWriter::binary(const BinaryOpNode* op) {
  if (is_function(op)) return binary_function(op, function_name(op->kind));
  const Infix infix = infix_of(op);
  // a < b < c means something else in Python
  expr(op->a, infix.precedence == Precedence::kCompare ? tighter(infix.precedence) : infix.precedence);
  out += ' ';
  out += infix.sign;
  out += ' ';
  expr(op->b, tighter(infix.precedence));
}

void ExprWriter::binary_function(const BinaryOpNode* op, std::string_view name) {
  out += fmt::format("{}.{}(", alias, name);
  exprs({op->a, op->b});
  out += ')';
}

void ExprWriter::derived(const PrimExpr& expr) {
  const bool kept = keeps_places;
  keeps_places = false;
  this->expr(expr);
  keeps_places = kept;
}

void ExprWriter::exprs(const std::vector<PrimExpr>& list) {
  for (size_t n = 0; n < list.size(); ++n) {
    if (n) out += ", ";
    expr(list[n]);
  }
}

void ExprWriter::indices(const std::vector<PrimExpr>& list) {
  if (list.empty()) out += "()";
  for (size_t n = 0; n < list.size(); ++n) {
    if (n) out += ", ";
    const auto* ramp = list[n].as<RampNode>();
    int64_t stride;
    const bool is_slice = ramp && !ramp->dtype.is_scalable() && ramp->base->dtype.is_scalar() &&
                          ramp->stride.as<IntImmNode>() && as_const_int(ramp->stride, &stride) && stride > 0;
    if (!is_slice) {
      expr(list[n]);
      continue;
    }
    const size_t begin = out.size();
    expr(ramp->base);
    out += ':';
    derived(ramp->base + stride * ramp->lanes);
    if (stride != 1) out += fmt::format(":{}", stride);
    if (keeps_places) places.push_back({ramp, begin, out.size()});
  }
}

void ExprWriter::access(const Buffer& buffer, const std::vector<PrimExpr>& list, const PrimExpr& predicate) {
  const size_t begin = out.size();
  out += name_of(buffer.get());
  if (keeps_places) places.push_back({buffer.get(), begin, out.size()});
  if (!predicate) {
    out += '[';
    indices(list);
    out += ']';
    return;
  }
  out += ".vload([";
  exprs(list);
  out += "], predicate=";
  expr(predicate);
  out += ')';
}

void ExprWriter::region(const BufferRegion& region) {
  const size_t begin = out.size();
  out += name_of(region->buffer.get());
  out += region->region.empty() ? "[()" : "[";
  for (size_t n = 0; n < region->region.size(); ++n) {
    const Range& range = region->region[n];
    if (n) out += ", ";
    expr(range->min);
    if (is_one(range->extent)) continue;
    out += ':';
    derived(end_of(range->min, range->extent));
  }
  out += ']';
  if (keeps_places) places.push_back({region.get(), begin, out.size()});
}

void ExprWriter::call(const CallNode* call) {
  const auto* op = call->op.as<OpNode>();
  if (!op) {
    other(call->op.get());
    out += '(';
    exprs(call->args);
    if (!call->dtype.is_void()) out += (call->args.empty() ? "dtype=" : ", dtype=") + dtype_text(call->dtype);
    out += ')';
    return;
  }
  const std::string_view name =
      op->name.starts_with("tir.") ? std::string_view(op->name).substr(4) : op->name;
  out += fmt::format("{}.{}(", alias, name);
  if (name == "type_annotation") {
    out += dtype_text(call->dtype) + ')';
    return;
  }
  const BuiltinOp* builtin = find_builtin(op->name);
  const bool leads = has_leading_dtype(name);
  if (leads) out += dtype_text(call->dtype) + (call->args.empty() ? "" : ", ");
  exprs(call->args);
  if (!leads && (!builtin || result_dtype(*builtin, call->args) != call->dtype))
    out += (call->args.empty() ? "dtype=" : ", dtype=") + dtype_text(call->dtype);
  if (!call->annotations.empty()) {
    out += call->args.empty() && !leads ? "annotations=" : ", annotations=";
    attributes(call->annotations);
  }
  out += ')';
}

void ExprWriter::lanes(int64_t lanes) {
  if (lanes & DataType::kScalable)
    out += fmt::format("{}.vscale() * {}", alias, lanes & ~int64_t{DataType::kScalable});
  else
    out += fmt::format("{}", lanes);
}

void ExprWriter::vector(const PrimExpr& expr) {
  if (const auto* ramp = expr.as<RampNode>()) {
    out += alias + ".Ramp(";
    exprs({ramp->base, ramp->stride});
    out += ", ";
    lanes(ramp->lanes);
    out += ')';
  } else if (const auto* broadcast = expr.as<BroadcastNode>()) {
    out += alias + ".Broadcast(";
    this->expr(broadcast->value);
    out += ", ";
    lanes(broadcast->lanes);
    out += ')';
  } else if (const auto* shuffle = expr.as<ShuffleNode>()) {
    out += alias + ".Shuffle([";
    exprs(shuffle->vectors);
    out += "], [";
    exprs(shuffle->indices);
    out += "])";
  } else {
    other(expr.get());
  }
}

void ExprWriter::lambda(const std::vector<Var>& params) {
  out += "lambda";
  for (size_t n = 0; n < params.size(); ++n) {
    define(params[n].get());
    out += n ? ", " : " ";
    variable(params[n].get());
  }
  out += ": ";
}

void ExprWriter::comm_reducer(const CommReducerNode* reducer) {
  std::vector<Var> params = reducer->lhs;
  params.insert(params.end(), reducer->rhs.begin(), reducer->rhs.end());
  out += alias + ".comm_reducer(";
  lambda(params);
  const bool is_tuple = reducer->result.size() != 1;
  if (is_tuple) out += '(';
  exprs(reducer->result);
  out += is_tuple ? "), [" : ", [";
  exprs(reducer->identity);
  out += "])";
}

void ExprWriter::index_map(const IndexMapNode* map) {
  out += alias + ".index_map(";
  index_lambda(map);
  out += ')';
}

void ExprWriter::index_lambda(const IndexMapNode* map) {
  lambda(map->initial_indices);
  const bool is_tuple = map->final_indices.size() != 1;
  if (is_tuple) out += '(';
  exprs(map->final_indices);
  if (is_tuple) out += ')';
}

// T.reduce(combiner, source=[...], init=[...], axis=[...], condition=..., value_index=0)
void ExprWriter::reduce(const ReduceNode* reduce) {
  for (const IterVar& axis : reduce->axis) define(axis->var.get());
  out += alias + ".reduce(";
  comm_reducer(reduce->combiner.get());
  out += ", source=[";
  exprs(reduce->source);
  out += "], init=[";
  exprs(reduce->init);
  out += "], axis=[";
  for (size_t n = 0; n < reduce->axis.size(); ++n) {
    const IterVar& axis = reduce->axis[n];
    if (n) out += ", ";
    out += alias + ".iter_var(";
    variable(axis->var.get());
    out += ", (";
    expr(axis->dom->min);
    out += ", ";
    derived(end_of(axis->dom->min, axis->dom->extent));
    out += "), \"CommReduce\", \"\")";
  }
  out += "], condition=";
  expr(reduce->condition);
  out += fmt::format(", value_index={})", reduce->value_index);
}

std::string ExprWriter::name_of(const Object* node) {
  if (const auto* buffer = BufferNode::classof(*node) ? static_cast<const BufferNode*>(node) : nullptr)
    return buffer->name;
  return static_cast<const VarNode*>(node)->name_hint;
}

void ExprWriter::other(const Object* node) {
  if (GlobalVarNode::classof(*node))
    out += static_cast<const GlobalVarNode*>(node)->name_hint;
  else if (OpNode::classof(*node))
    out += static_cast<const OpNode*>(node)->name;
  else
    out += fmt::format("<{}>", info_of(*node)->name);
}

void ExprWriter::attributes(const AttrMap& attrs) {
  out += '{';
  bool first = true;
  for (const auto& [key, value] : attrs) {
    if (!first) out += ", ";
    first = false;
    out += quoted(key) + ": ";
    if (is<PrimExprNode>(value))
      expr(ref_as<PrimExprNode>(value));
    else if (value)
      other(value.get());
    else
      out += "None";
  }
  out += '}';
}

std::string expr_text(const PrimExpr& expr) {
  ExprWriter writer;
  writer.has_plain_ints = true;
  writer.expr(expr);
  return std::move(writer.out);
}

std::string region_text(const BufferRegion& region) {
  ExprWriter writer;
  writer.has_plain_ints = true;
  writer.region(region);
  return std::move(writer.out);
}

std::string indices_text(const std::vector<PrimExpr>& indices) {
  ExprWriter writer;
  writer.has_plain_ints = true;
  writer.out = "[";
  writer.exprs(indices);
  return std::move(writer.out) + ']';
}

std::string index_map_text(const IndexMap& map) {
  ExprWriter writer;
  writer.index_lambda(map.get());
  return std::move(writer.out);
}

}  // namespace tilewright::tir
