// Graph expressions: leaves, and the forms of calls.
#include "tilewright/script/printer/relax_printer.h"

#include <fmt/format.h>
#include "tilewright/tir/builder.h"

namespace tilewright::script {
using namespace relax;
using tir::quoted;

void GraphPrinter::expr(const Expr& expr) {
  const size_t begin = w_.out.size();
  if (!expr) {
    w_.out += "None";
  } else if (VarBaseNode::classof(*expr)) {
    w_.out += w_.name_of(expr.get());
  } else if (const auto* node = expr.as<CallNode>()) {
    call(node);
  } else if (const auto* node = expr.as<ConstantNode>()) {
    w_.constant(node);
  } else if (const auto* node = expr.as<TupleNode>()) {
    tuple(node->elements);
  } else if (const auto* node = expr.as<TupleGetItemNode>()) {
    this->expr(node->tuple);
    w_.out += fmt::format("[{}]", node->index);
  } else if (const auto* node = expr.as<ShapeExprNode>()) {
    const DataType bare = std::exchange(w_.bare_int, kInt64);
    w_.out += w_.relax_prefix() + "shape([";
    w_.exprs(node->values);
    w_.out += "])";
    w_.bare_int = bare;
  } else if (const auto* node = expr.as<PrimValueNode>()) {
    const DataType bare = std::exchange(w_.bare_int, kInt64);
    w_.out += w_.relax_prefix() + "prim_value(";
    w_.expr(node->value);
    w_.out += ')';
    w_.bare_int = bare;
  } else if (const auto* node = expr.as<StringValueNode>()) {
    w_.out += fmt::format("{}str({})", w_.relax_prefix(), quoted(node->value));
  } else if (const auto* node = expr.as<DataTypeValueNode>()) {
    w_.out += fmt::format("{}dtype({})", w_.relax_prefix(), quoted(node->value.str()));
  } else if (const auto* node = expr.as<ExternFuncNode>()) {
    w_.out += fmt::format("{}ExternFunc({}", w_.relax_prefix(), quoted(node->global_symbol));
    if (node->type) {
      w_.out += ", ";
      w_.type(node->type);
    }
    w_.out += ')';
  } else if (const auto* node = expr.as<OpNode>()) {
    w_.out += w_.relax_prefix() + (node->name.starts_with("relax.") ? node->name.substr(6) : node->name);
  } else if (is<PrimExprNode>(expr)) {
    w_.expr(ref_as<PrimExprNode>(expr));
  } else {
    w_.other(expr.get());
  }
  if (expr) w_.place(expr.get(), begin);
}

void GraphPrinter::exprs(const std::vector<Expr>& list, size_t first) {
  for (size_t n = first; n < list.size(); ++n) {
    if (n > first) w_.out += ", ";
    expr(list[n]);
  }
}

void GraphPrinter::tuple(const std::vector<Expr>& elements) {
  if (elements.empty()) {
    w_.out += w_.relax_prefix() + "tuple()";
    return;
  }
  w_.out += '(';
  exprs(elements);
  w_.out += elements.size() == 1 ? ",)" : ")";
}

// cls.f, or the name of a registered function
void GraphPrinter::callee(const Expr& func) {
  const auto* external = func.as<ExternFuncNode>();
  if (external)
    w_.out += quoted(external->global_symbol);
  else
    expr(func);
}

void GraphPrinter::types(std::string_view keyword, const std::vector<Type>& list) {
  if (list.empty()) return;
  w_.out += fmt::format(", {}=(", keyword);
  for (size_t n = 0; n < list.size(); ++n) {
    if (n) w_.out += ", ";
    w_.type(list[n]);
  }
  w_.out += list.size() == 1 ? ",)" : ")";
}

void GraphPrinter::call(const CallNode* call) {
  if (const auto* op = call->op.as<OpNode>()) {
    const std::string_view name =
        op->name.starts_with("relax.") ? std::string_view(op->name).substr(6) : op->name;
    if (!special_call(call, name)) operator_call(call, name);
    return;
  }
  if (const auto* external = call->op.as<ExternFuncNode>(); external && !external->type) {
    w_.out += fmt::format("{}call_packed({}", w_.relax_prefix(), quoted(external->global_symbol));
    if (!call->args.empty()) w_.out += ", ";
    exprs(call->args);
    for (const auto& [key, value] : call->attrs) {
      w_.out += ", " + key + "=";
      w_.attribute(value);
    }
    types("sinfo_args", call->type_args);
    w_.out += ')';
    return;
  }
  expr(call->op);
  w_.out += '(';
  exprs(call->args);
  types("sinfo_args", call->type_args);
  w_.out += ')';
}

// R.matmul(a, b, out_dtype="float32")
void GraphPrinter::operator_call(const CallNode* call, std::string_view name) {
  w_.out += w_.relax_prefix();
  w_.out += name;
  w_.out += '(';
  exprs(call->args);
  bool first = call->args.empty();
  for (const auto& [key, value] : call->attrs) {
    if (!first) w_.out += ", ";
    first = false;
    w_.out += key + "=";
    w_.attribute(value);
  }
  types("sinfo_args", call->type_args);
  w_.out += ')';
}

bool GraphPrinter::special_call(const CallNode* call, std::string_view name) {
  const bool is_tir = name == "call_tir" || name == "call_dps_packed" || name == "call_tir_inplace" ||
                      name == "call_tir_with_grad";
  if (is_tir && call->args.size() >= 2 && call->args[1].as<TupleNode>()) {
    if (w_.is_2022())
      call_tir_of_2022(call);
    else
      call_tir(call, name);
    return true;
  }
  if ((name == "call_pure_packed" || name == "call_inplace_packed") && !call->args.empty()) {
    w_.out += w_.relax_prefix() + std::string(name) + "(";
    callee(call->args[0]);
    if (call->args.size() > 1) w_.out += ", ";
    exprs(call->args, 1);
    for (const auto& [key, value] : call->attrs) {
      w_.out += ", " + key + "=";
      w_.attribute(value);
    }
    types("sinfo_args", call->type_args);
    w_.out += ')';
    return true;
  }
  const size_t format_at = name == "print" ? 0 : 1;
  const bool has_format = (name == "print" || name == "assert_op") && call->args.size() > format_at &&
                          call->args[format_at].as<StringValueNode>();
  if (!has_format) return false;
  const auto* format = call->args[format_at].as<StringValueNode>();
  w_.out += w_.relax_prefix() + std::string(name) + "(";
  if (format_at == 1) {
    expr(call->args[0]);
    w_.out += ", [";
  }
  exprs(call->args, format_at + 1);
  if (format_at == 1) w_.out += ']';
  w_.out += fmt::format("{}format={})", w_.out.back() == '(' ? "" : ", ", quoted(format->value));
  return true;
}

// R.call_tir(cls.f, (x,), out_sinfo=R.Tensor((1, 128), dtype="float32"))
void GraphPrinter::call_tir(const CallNode* call, std::string_view name) {
  w_.out += w_.relax_prefix() + std::string(name) + "(";
  callee(call->args[0]);
  w_.out += ", ";
  if (call->args[1].as<TupleNode>()->elements.empty())
    w_.out += "()";
  else
    expr(call->args[1]);
  w_.out += ", out_sinfo=";
  const std::vector<Type>& outputs = call->type_args;
  if (outputs.size() == 1) {
    w_.type(outputs[0]);
  } else {
    w_.out += '[';
    for (size_t n = 0; n < outputs.size(); ++n) {
      if (n) w_.out += ", ";
      w_.type(outputs[n]);
    }
    w_.out += ']';
  }
  if (call->args.size() > 2) {
    w_.out += ", tir_vars=";
    expr(call->args[2]);
  }
  for (const auto& [key, value] : call->attrs) {
    w_.out += ", " + key + "=";
    w_.attribute(value);
  }
  w_.out += ')';
}

// R.call_tir(linear0, (x, w0, b0), (1, 128), dtype="float32")
void GraphPrinter::call_tir_of_2022(const CallNode* call) {
  w_.out += w_.relax_prefix() + "call_tir(";
  callee(call->args[0]);
  w_.out += ", ";
  expr(call->args[1]);
  std::vector<std::string> dtypes;
  const bool is_single = call->type_args.size() == 1;
  w_.out += is_single ? ", " : ", (";
  for (size_t n = 0; n < call->type_args.size(); ++n) {
    const auto* tensor = call->type_args[n].as<TensorTypeNode>();
    const auto* shape = tensor ? tensor->shape.as<ShapeExprNode>() : nullptr;
    if (n) w_.out += ", ";
    const DataType bare = std::exchange(w_.bare_int, kInt64);
    if (shape)
      w_.shape(shape->values);
    else
      w_.out += "None";
    w_.bare_int = bare;
    dtypes.push_back(quoted(tensor ? tensor->dtype.str() : ""));
  }
  if (!is_single) w_.out += ')';
  w_.out += is_single ? fmt::format(", dtype={})", dtypes[0])
                      : fmt::format(", dtype=({}))", fmt::join(dtypes, ", "));
}

}  // namespace tilewright::script
