// Module.f(A.data, n)  ->  the body of f
// Loop programs that call others of their module are compiled as one; afterwards no statement calls a
// function of the module.
#include "tilewright/lower/functions/inline_calls.h"

#include <unordered_map>

#include "tilewright/ir/rewrite.h"
#include "tilewright/ir/services.h"
#include "tilewright/ir/walk.h"
#include "tilewright/lower/common/join_sequences.h"
#include "tilewright/support/count_text.h"
#include "tilewright/support/error.h"
#include "tilewright/tir/builder.h"
#include "tilewright/tir/fresh.h"
#include "tilewright/tir/op.h"
#include "tilewright/tir/text.h"

namespace tilewright::lower {
namespace {

const CallNode* module_call(const PrimExpr& expr) {
  const auto* call = expr.as<CallNode>();
  return call && is<GlobalVarNode>(call->op) ? call : nullptr;
}

// Maps the pointers of a function to their buffers.
std::unordered_map<const VarNode*, Buffer> buffers_of(const PrimFunc& func) {
  std::unordered_map<const VarNode*, Buffer> found;
  auto add = [&](const Buffer& buffer) { found.emplace(buffer->data.get(), buffer); };
  for (const Buffer& buffer : func->buffers) {
    if (buffer) add(buffer);
  }
  walk(
      func->body, [&](const AllocBufferNode* node) { add(node->buffer); },
      [&](const BlockNode* block) {
        for (const Buffer& buffer : block->alloc_buffers) add(buffer);
      });
  return found;
}

const CallNode* return_of(const PrimExpr& expr) {
  const auto* call = expr.as<CallNode>();
  return is_call_of(call, "tir.ret") ? call : nullptr;
}

bool has_return(const Stmt& body) {
  bool found = false;
  walk(body, [&](const CallNode* call) { found = found || return_of(PrimExpr(call)); });
  return found;
}

// The statement without a return at its end.
Stmt without_last_return(const Stmt& stmt) {
  if (const auto* evaluate = stmt.as<EvaluateNode>())
    return return_of(evaluate->value) ? Stmt(EvaluateNode::make(imm(0))) : stmt;
  if (const auto* list = stmt.as<SeqStmtNode>())
    return with(SeqStmt(list), [](SeqStmtNode& n) { n.seq.back() = without_last_return(n.seq.back()); });
  if (const auto* let = stmt.as<LetStmtNode>())
    return with(LetStmt(let), [](LetStmtNode& n) { n.body = without_last_return(n.body); });
  if (const auto* alloc = stmt.as<AllocBufferNode>())
    return with(AllocBuffer(alloc), [](AllocBufferNode& n) { n.body = without_last_return(n.body); });
  const auto* branch = stmt.as<IfThenElseNode>();
  if (!branch) return stmt;
  return with(IfThenElse(branch), [](IfThenElseNode& n) {
    n.then_case = without_last_return(n.then_case);
    if (n.else_case) n.else_case = without_last_return(n.else_case);
  });
}

// The value that a function with body `stmts` returns, as an expression; null if it does anything else.
PrimExpr returned_by(std::vector<Stmt> stmts) {
  if (stmts.empty()) return nullptr;
  const Stmt first = stmts.front();
  stmts.erase(stmts.begin());
  const auto followed = [&](const Stmt& stmt) {
    std::vector<Stmt> all = stmts;
    if (stmt) all.insert(all.begin(), stmt);
    return returned_by(std::move(all));
  };
  if (const auto* evaluate = first.as<EvaluateNode>()) {
    if (is_no_op(first)) return returned_by(std::move(stmts));
    const CallNode* call = return_of(evaluate->value);
    return call ? call->args.at(0) : PrimExpr();
  }
  if (const auto* list = first.as<SeqStmtNode>()) {
    stmts.insert(stmts.begin(), list->seq.begin(), list->seq.end());
    return returned_by(std::move(stmts));
  }
  if (const auto* let = first.as<LetStmtNode>()) {
    const PrimExpr body = followed(let->body);
    return body ? PrimExpr(LetNode::make(let->value, let->var, body)) : PrimExpr();
  }
  const auto* branch = first.as<IfThenElseNode>();
  if (!branch) return nullptr;
  const PrimExpr then_value = followed(branch->then_case), else_value = followed(branch->else_case);
  if (!then_value || !else_value || then_value->dtype != else_value->dtype) return nullptr;
  return tir::call(then_value->dtype, "if_then_else", {branch->condition, then_value, else_value});
}

// The statements of a function: its root block becomes an allocation of the block's buffers.
Stmt plain_body(const PrimFunc& func) {
  const auto* root = func->body.as<BlockRealizeNode>();
  if (!root || !root->block->iter_vars.empty() || root->block->init) return func->body;
  Stmt body = root->block->body;
  for (const Buffer& buffer : root->block->alloc_buffers)
    body = AllocBufferNode::make(buffer, AttrMap(), body);
  return body;
}

class Inliner {
 public:
  explicit Inliner(const IRModule& module) : module_(module) {}

  PrimFunc run(const PrimFunc& func) {
    const auto buffers = buffers_of(func);
    Stmt body = rewrite(
        func->body, join_sequences,
        [&](auto& self, const EvaluateNode* node) -> Stmt {
          const CallNode* call = module_call(node->value);
          return call ? expand(call, buffers) : self.children(node);
        },
        [&](auto& self, const CallNode* node) -> PrimExpr {
          const PrimExpr inner = self.children(node);
          const CallNode* call = module_call(inner);
          return call ? value_of(call, buffers) : inner;
        });
    return body == func->body ? func : with(func, [&](PrimFuncNode& n) { n.body = body; });
  }

 private:
  using Buffers = std::unordered_map<const VarNode*, Buffer>;

  // Expands a call statement; the returned value is ignored.
  Stmt expand(const CallNode* call, const Buffers& buffers) {
    const Stmt body = without_last_return(body_of(call, buffers));
    if (has_return(body))
      throw Unsupported(call, "a call of {}, which returns before its end",
                        call->op.as<GlobalVarNode>()->name_hint)
          .help("put the statements after the return into an else");
    return body;
  }

  // The value of a call inside an expression.
  PrimExpr value_of(const CallNode* call, const Buffers& buffers) {
    const std::string& name = call->op.as<GlobalVarNode>()->name_hint;
    if (!has_return(callee_of(call)->body))
      throw UserError(call, "the value of {} is used, but {} returns none", expr_text(PrimExpr(call)), name)
          .help("a function returns the value of T.ret");
    const PrimExpr value = returned_by({body_of(call, buffers)});
    if (!value)
      throw Unsupported(call, "the value of {} is used, but {} does more than compute it",
                        expr_text(PrimExpr(call)), name)
          .help("call it as a statement, with a buffer for the number");
    return call->dtype.is_void() ? value : cast(call->dtype, value);
  }

  PrimFunc callee_of(const CallNode* call) const {
    const std::string& name = call->op.as<GlobalVarNode>()->name_hint;
    const PrimFunc callee = ref_as<PrimFuncNode>(module_->find(name));
    if (!callee)
      throw UserError(call, "function {} is called, but the module has no loop program of that name", name);
    if (call->args.size() != callee->params.size())
      throw UserError(call, "function {} takes {}, found {}", name,
                      count_text(callee->params.size(), "argument"), call->args.size());
    return callee;
  }

  // The statements of the callee, applied to the arguments.
  Stmt body_of(const CallNode* call, const Buffers& buffers) {
    const std::string& name = call->op.as<GlobalVarNode>()->name_hint;
    PrimFunc callee = callee_of(call);
    if (++depth_ > kMaxDepth) throw Unsupported(call, "function {} calls itself", name).help("write a loop");
    callee = run(callee);
    --depth_;
    Substitution values;
    for (size_t n = 0; n < call->args.size(); ++n) {
      if (callee->buffers[n])
        pass_buffer(call, n, callee->buffers[n], buffers, &values);
      else
        values[callee->params[n].get()] = cast(callee->params[n]->dtype, call->args[n]);
    }
    return fresh_copy(plain_body(callee), std::move(values));
  }

  // The callee works directly on the caller's buffer, which must have the declared form.
  void pass_buffer(const CallNode* call, size_t n, const Buffer& wanted, const Buffers& buffers,
                   Substitution* values) {
    const auto* data = call->args[n].as<VarNode>();
    auto found = data ? buffers.find(data) : buffers.end();
    if (found == buffers.end())
      throw UserError(call, "argument {} of {} is {}, expected the pointer of a buffer, as in A.data", n,
                      call->op.as<GlobalVarNode>()->name_hint, expr_text(call->args[n]));
    const Buffer& given = found->second;
    bool fits = given->dtype == wanted->dtype && given->shape.size() == wanted->shape.size() &&
                given->strides.empty() && wanted->strides.empty() && !given->elem_offset &&
                !wanted->elem_offset;
    for (size_t dim = 0; fits && dim < given->shape.size(); ++dim)
      fits = is<IntImmNode>(wanted->shape[dim]) && structural_equal(given->shape[dim], wanted->shape[dim]);
    if (!fits)
      throw Unsupported(call, "buffer {} of shape {} is passed as {} of shape {}", given->name,
                        indices_text(given->shape), wanted->name, indices_text(wanted->shape))
          .help("both must have the same constant shape, dtype and no strides");
    (*values)[wanted.get()] = given;
    (*values)[wanted->data.get()] = given->data;
  }

  static constexpr int kMaxDepth = 32;
  const IRModule& module_;
  int depth_ = 0;
};

}  // namespace

PrimFunc inline_calls(const IRModule& module, const PrimFunc& func) { return Inliner(module).run(func); }

}  // namespace tilewright::lower
