// A-normal form: the operands of calls are leaves (variables, constants, literals, tuples of leaves); all
// other expressions are bound to variables.
#include <algorithm>

#include "tilewright/relax/build/block_builder.h"
#include "tilewright/relax/graph/devices.h"
#include "tilewright/relax/infer/infer.h"

namespace tilewright::relax {
namespace {

bool is_var(const Expr& expr) { return VarBaseNode::classof(*expr); }

// True if `expr` may be an operand.
bool is_leaf(const Expr& expr) {
  switch (expr->kind) {
    case Kind::kRelaxVar:
    case Kind::kDataflowVar:
    case Kind::kConstant:
    case Kind::kShapeExpr:
    case Kind::kPrimValue:
    case Kind::kStringValue:
    case Kind::kDataTypeValue:
    case Kind::kGlobalVar:
    case Kind::kExternFunc:
    case Kind::kOp: return true;
    default: return false;
  }
}

// Returns `node` with its type set.
template <class N>
Ref<N> typed(const Ref<N>& node, const Type& type) {
  if (node->type == type) return node;
  return with(node, [&](N& changed) { changed.type = type; });
}

}  // namespace

Expr BlockBuilder::normalize_operand(const Expr& expr) {
  if (!expr) throw UserError("an operand is missing");
  const Expr normal = normalize(expr);
  if (is_leaf(normal) || is<TupleNode>(normal)) return normal;
  frame("normalize");
  return bind(normal, type_of(normal), "", false, span_of(expr));
}

std::vector<Expr> BlockBuilder::normalize_operands(const std::vector<Expr>& exprs, bool* changed) {
  std::vector<Expr> results;
  results.reserve(exprs.size());
  for (const Expr& expr : exprs) {
    results.push_back(normalize_operand(expr));
    *changed |= results.back() != expr;
  }
  return results;
}

Expr BlockBuilder::normalize_call(const CallNode* call) {
  bool changed = false;
  Expr op = is_leaf(call->op) && !is_var(call->op) ? call->op : normalize_operand(call->op);
  changed |= op != call->op;
  std::vector<Expr> args = normalize_operands(call->args, &changed);
  if (!changed && call->type) return Expr(call);
  Call normal(call);
  if (changed) {
    normal = with(call, [&](CallNode& node) {
      node.op = std::move(op);
      node.args = std::move(args);
      node.type = nullptr;
    });
  }
  return typed(normal, infer_type(normal, module_for_inference()));
}

// Normalizes a branch or body in a scope of its own.
SeqExpr BlockBuilder::normalize_branch(const Expr& branch) {
  begin_scope();
  try {
    if (const auto* seq = branch.as<SeqExprNode>()) {
      for (const BindingBlock& block : seq->blocks) normalize_block(block);
      return end_scope(seq->body);
    }
    return end_scope(branch);
  } catch (...) {
    frames_.pop_back();
    throw;
  }
}

Expr BlockBuilder::normalize_if(const IfNode* node) {
  const Expr cond = normalize_operand(node->cond);
  const auto known = dims_in_scope();
  const SeqExpr then = normalize_branch(node->true_branch), otherwise = normalize_branch(node->false_branch);
  if (node->type && cond == node->cond && is_same_body(node->true_branch, then) &&
      is_same_body(node->false_branch, otherwise))
    return Expr(node);
  If result = with(node, [&](IfNode& changed) {
    changed.cond = cond;
    changed.true_branch = then;
    changed.false_branch = otherwise;
    changed.type = nullptr;
  });
  return typed(result, erase_unknown_dims(infer_type(result), known));
}

void BlockBuilder::normalize_block(const BindingBlock& block) {
  const bool opens = is<DataflowBlockNode>(block) && !current_block_is_dataflow();
  if (opens) begin_dataflow();
  for (const Binding& binding : block->bindings) normalize_binding(binding);
  if (opens) end_dataflow();
}

// The variable keeps its identity unless its type has to change.
void BlockBuilder::normalize_binding(const Binding& binding) {
  const auto* cast = ObjectRef(binding).as<MatchCastNode>();
  const Expr value = cast ? normalize_operand(binding->value) : normalize(binding->value);
  // a device is declared where nothing says it otherwise: R.zeros has no arguments
  const Type type = cast ? cast->pattern : with_declared_devices(type_of(value), binding->var->type);
  AnyVar var = binding->var;
  if (!var->type || is_subtype(type, var->type) != Answer::kYes ||
      is_subtype(var->type, type) != Answer::kYes) {
    if (is<DataflowVarNode>(var))
      var = with(ref_as<DataflowVarNode>(var), [&](DataflowVarNode& node) { node.type = type; });
    else
      var = with(ref_as<VarNode>(var), [&](VarNode& node) { node.type = type; });
    renamed_[binding->var.get()] = var;
  }
  if (value == binding->value && var == binding->var) {
    emit_normalized(binding);
  } else if (cast) {
    emit_normalized(with(cast, [&](MatchCastNode& node) {
      node.value = value;
      node.var = var;
    }));
  } else {
    emit_normalized(with(ref_as<VarBindingNode>(binding), [&](VarBindingNode& node) {
      node.value = value;
      node.var = var;
    }));
  }
}

// Adds the bindings to the open block; returns the result.
Expr BlockBuilder::normalize_seq(const SeqExprNode* seq) {
  frame("normalize");
  for (const BindingBlock& block : seq->blocks) normalize_block(block);
  return normalize(seq->body);
}

Expr BlockBuilder::normalize(const Expr& expr) {
  if (!expr) throw UserError("an expression is missing");
  if (is_var(expr)) {
    auto renamed = renamed_.find(expr.get());
    if (renamed != renamed_.end()) return renamed->second;
    if (!static_cast<const VarBaseNode*>(static_cast<const Object*>(expr.get()))->type)
      throw UserError(expr, "variable {} has no type",
                      static_cast<const VarBaseNode*>(static_cast<const Object*>(expr.get()))->name_hint);
    return expr;
  }
  if (const auto* constant = expr.as<ConstantNode>())
    return constant->type ? expr : Expr(typed(Constant(constant), type_of(expr)));
  if (const auto* shape = expr.as<ShapeExprNode>())
    return shape->type ? expr : Expr(typed(ShapeExpr(shape), type_of(expr)));
  if (const auto* prim = expr.as<PrimValueNode>())
    return prim->type ? expr : Expr(typed(PrimValue(prim), type_of(expr)));
  if (const auto* call = expr.as<CallNode>()) return normalize_call(call);
  if (const auto* tuple = expr.as<TupleNode>()) {
    bool changed = false;
    std::vector<Expr> elements = normalize_operands(tuple->elements, &changed);
    Tuple result(tuple);
    if (changed)
      result = with(tuple, [&](TupleNode& node) {
        node.elements = std::move(elements);
        node.type = nullptr;
      });
    return result->type ? result : typed(result, infer_type(result));
  }
  if (const auto* item = expr.as<TupleGetItemNode>()) {
    const Expr source = normalize_operand(item->tuple);
    TupleGetItem result(item);
    if (source != item->tuple)
      result = with(item, [&](TupleGetItemNode& node) {
        node.tuple = source;
        node.type = nullptr;
      });
    return result->type ? result : typed(result, infer_type(result));
  }
  if (const auto* node = expr.as<IfNode>()) return normalize_if(node);
  if (const auto* seq = expr.as<SeqExprNode>()) return normalize_seq(seq);
  if (const auto* func = expr.as<FunctionNode>()) return normalize_function(Function(func));
  if (is_leaf(expr)) return expr;
  infer_type(expr, module_for_inference());  // raises for expressions that are not graph values
  return expr;
}

bool is_same_body(const Expr& old_body, const SeqExpr& body) {
  const auto* old = old_body.as<SeqExprNode>();
  return old && old->body == body->body && old->type &&
         std::equal(old->blocks.begin(), old->blocks.end(), body->blocks.begin(), body->blocks.end(),
                    [](const BindingBlock& a, const BindingBlock& b) {
                      return a->kind == b->kind && a->bindings == b->bindings;
                    });
}

Function with_body(const Function& func, const std::vector<Var>& params, const SeqExpr& body,
                   std::vector<const tir::VarNode*> dims) {
  const bool same_body = is_same_body(func->body, body);
  if (same_body && func->params == params && func->ret_type && func->type) return func;
  for (const Var& param : params) collect_defined_dims(param->type, &dims);
  Function result = with(func, [&](FunctionNode& node) {
    node.params = params;
    if (!same_body) node.body = body;
    if (!node.ret_type || is_subtype(type_of(body->body), node.ret_type) != Answer::kYes)
      node.ret_type = erase_unknown_dims(type_of(body->body), dims);
  });
  return typed(result, function_type(result.get()));
}

Function BlockBuilder::normalize_function(const Function& func) {
  begin_scope(func->params);
  SeqExpr body;
  try {
    const auto* seq = func->body.as<SeqExprNode>();
    if (seq) {
      for (const BindingBlock& block : seq->blocks) normalize_block(block);
    }
    body = end_scope(seq ? seq->body : func->body);
  } catch (...) {
    frames_.pop_back();
    throw;
  }
  return with_body(func, func->params, body, dims_in_scope());
}

}  // namespace tilewright::relax
