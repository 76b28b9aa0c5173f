// Module.f(A.data, n)  ->  the body of f: loop programs that call others of their module are compiled as one.
// Afterwards no statement calls a function of the module.
#include "tilewright/lower/passes/inline_calls.h"

#include <unordered_map>

#include "tilewright/ir/rewrite.h"
#include "tilewright/ir/services.h"
#include "tilewright/ir/walk.h"
#include "tilewright/lower/passes/join_sequences.h"
#include "tilewright/support/error.h"
#include "tilewright/tir/builder.h"
#include "tilewright/tir/fresh.h"
#include "tilewright/tir/text.h"

namespace tilewright::lower {
namespace {

const CallNode* module_call(const PrimExpr& expr) {
  const auto* call = expr.as<CallNode>();
  return call && is<GlobalVarNode>(call->op) ? call : nullptr;
}

// The buffers of a function by their pointers.
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

bool returns_value(const PrimFunc& func) {
  bool found = false;
  walk(func->body, [&](const CallNode* call) {
    const auto* op = call->op.as<OpNode>();
    found = found || (op && op->name == "tir.ret");
  });
  return found;
}

// The statements of a function: its root block is an allocation of what the block allocates.
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
          if (module_call(PrimExpr(node)))
            throw Unsupported(node, "the value of {} is used: a loop program is called for its effect only",
                              expr_text(PrimExpr(node)));
          return self.children(node);
        });
    return body == func->body ? func : with(func, [&](PrimFuncNode& n) { n.body = body; });
  }

 private:
  Stmt expand(const CallNode* call, const std::unordered_map<const VarNode*, Buffer>& buffers) {
    const std::string& name = call->op.as<GlobalVarNode>()->name_hint;
    PrimFunc callee = ref_as<PrimFuncNode>(module_->find(name));
    if (!callee)
      throw UserError(call, "function {} is called, but the module has no loop program of that name", name);
    if (call->args.size() != callee->params.size())
      throw UserError(call, "function {} takes {} arguments, found {}", name, callee->params.size(),
                      call->args.size());
    if (returns_value(callee)) throw Unsupported(call, "a call of {}, which has T.ret", name);
    if (++depth_ > kMaxDepth) throw Unsupported(call, "function {} calls itself", name);
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

  // The callee works on the caller's buffer itself, which must be of the declared form.
  void pass_buffer(const CallNode* call, size_t n, const Buffer& wanted,
                   const std::unordered_map<const VarNode*, Buffer>& buffers, Substitution* values) {
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
