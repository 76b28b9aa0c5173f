// Checks scopes of variables and buffers, dtypes and loops.  Blocks are checked in verify_block.cc.
#include "tilewright/analysis/verify.h"

#include <algorithm>

#include "tilewright/analysis/trip_count.h"
#include "tilewright/analysis/verifier.h"
#include "tilewright/ir/services.h"
#include "tilewright/ir/walk.h"
#include "tilewright/support/count_text.h"
#include "tilewright/support/error.h"
#include "tilewright/tir/builder.h"
#include "tilewright/tir/stmt.h"
#include "tilewright/tir/storage_scope.h"
#include "tilewright/tir/text.h"
#include "tilewright/tir/uses.h"

namespace tilewright::analysis {
namespace {

bool is_thread_tag(std::string_view tag) {
  for (std::string_view kind : {"blockIdx.", "threadIdx."}) {
    if (tag.starts_with(kind) && tag.size() == kind.size() + 1 && tag.back() >= 'x' && tag.back() <= 'z')
      return true;
  }
  return tag.starts_with("vthread") || tag == "cthread";
}

// T.vscale() times a constant: the length of a scalable vector.
bool is_scalable(const PrimExpr& extent) {
  const auto* product = extent.as<MulNode>();
  if (!product) {
    const auto* call = extent.as<CallNode>();
    const auto* op = call ? call->op.as<OpNode>() : nullptr;
    return op && op->name == "tir.vscale";
  }
  int64_t factor;
  return (as_const_int(product->a, &factor) && is_scalable(product->b)) ||
         (as_const_int(product->b, &factor) && is_scalable(product->a));
}

}  // namespace

void Verifier::define(const VarNode* var, const ObjectRef& where) {
  if (!variables_.insert(var).second)
    throw UserError(where, "variable {} is defined again, inside the scope of its definition", var->name_hint)
        .help("a variable is defined once; make another one");
  ever_defined_.insert(var);
}

void Verifier::define(const BufferNode* buffer, bool with_data, const ObjectRef& where) {
  for (const PrimExpr& extent : buffer->shape) expr(extent);
  for (const PrimExpr& stride : buffer->strides) expr(stride);
  expr(buffer->elem_offset);
  if (!buffers_.insert(buffer).second)
    throw UserError(where, "buffer {} is defined again, inside the scope of its definition", buffer->name);
  ever_buffers_.insert(buffer);
  check_storage_scope(buffer->scope());
  if (!buffer->strides.empty() && buffer->strides.size() != buffer->shape.size())
    throw UserError(where, "buffer {} has {}, but {} strides", buffer->name,
                    count_text(buffer->shape.size(), "dimension"), buffer->strides.size());
  if (!buffer->data->dtype.is_handle())
    throw UserError(where, "buffer {} has pointer {} of dtype {}, expected a handle", buffer->name,
                    buffer->data->name_hint, buffer->data->dtype.str());
  if (!with_data) return use(buffer->data.get(), where);
  if (!variables_.insert(buffer->data.get()).second)
    throw UserError(where, "buffer {} is new memory, but its pointer {} is defined already", buffer->name,
                    buffer->data->name_hint)
        .help("a second view of memory is T.decl_buffer(..., data=A.data)");
}

void Verifier::forget(const BufferNode* buffer, bool with_data) {
  buffers_.erase(buffer);
  if (with_data) variables_.erase(buffer->data.get());
}

void Verifier::use(const VarNode* var, const ObjectRef& where) {
  if (variables_.contains(var)) return;
  if (ever_defined_.contains(var))
    throw UserError(where, "variable {} is used outside of the statement that defines it", var->name_hint);
  throw UserError(where, "variable {} is used, but nothing defines it", var->name_hint);
}

void Verifier::use(const BufferNode* buffer, const ObjectRef& where) {
  if (buffers_.contains(buffer)) return;
  if (!options_.views_are_declared && variables_.contains(buffer->data.get())) return;
  if (ever_buffers_.contains(buffer))
    throw UserError(where, "buffer {} is used outside of the block or statement in which it exists",
                    buffer->name);
  throw UserError(where, "buffer {} is used, but nothing defines it", buffer->name)
      .help("allocate it with T.alloc_buffer, or make it a parameter");
}

// Checks that variables used in an expression are defined; a definition inside it holds inside of it.
void Verifier::expr(const PrimExpr& expr) {
  ObjectRef where = expr;
  walk(
      expr,
      [&](const VarNode* var) {
        use(var, var->span ? ObjectRef(var) : where);
        return false;
      },
      [&](const LetNode* let) {
        this->expr(let->value);
        define(let->var.get(), ObjectRef(let));
        this->expr(let->body);
        variables_.erase(let->var.get());
        return false;
      },
      [&](const BufferLoadNode* load) {
        use(load->buffer.get(), ObjectRef(load));
        return true;
      },
      [&](const ReduceNode* reduce) -> bool {
        throw UserError(reduce, "{} belongs to a tensor expression", expr_text(PrimExpr(reduce)));
      },
      [&](const ProducerLoadNode* load) -> bool {
        throw UserError(load, "{} belongs to a tensor expression", expr_text(PrimExpr(load)));
      },
      [&](const BufferNode*) { return false; });
}

void Verifier::condition(const PrimExpr& condition, std::string_view what) {
  expr(condition);
  if (!condition->dtype.is_bool() || !condition->dtype.is_scalar())
    throw UserError(condition, "the condition of {} has dtype {}, expected bool", what,
                    condition->dtype.str());
}

void Verifier::loop(const ForNode* loop) {
  expr(loop->min);
  expr(loop->extent);
  int64_t extent;
  const bool is_constant = as_const_int(loop->extent, &extent);
  const std::string& name = loop->loop_var->name_hint;
  if (loop->for_kind == ForKind::kVectorized && !(is_constant && extent >= 1) && !is_scalable(loop->extent))
    throw UserError(loop, "vectorized loop {} has extent {}, expected a positive constant", name,
                    expr_text(loop->extent))
        .help("split it by a constant and vectorize the inner loop");
  if (loop->for_kind == ForKind::kThreadBinding) {
    if (!is_thread_tag(loop->thread_tag))
      throw UserError(loop, "loop {} is bound to \"{}\", which is not a thread", name, loop->thread_tag)
          .help("threads are blockIdx.x, .y, .z, threadIdx.x, .y, .z and vthread.x, .y, .z");
    if (!is_zero(loop->min))
      throw UserError(loop, "loop {} over {} starts at {}, expected 0", name, loop->thread_tag,
                      expr_text(loop->min));
    enter_thread(loop);
  }
  define(loop->loop_var.get(), ObjectRef(loop));
  ranges_.emplace_back(loop->loop_var, make_range(loop->min, loop->extent));
  loops_[loop->loop_var.get()] = loop;
  stmt(loop->body);
  loops_.erase(loop->loop_var.get());
  ranges_.pop_back();
  variables_.erase(loop->loop_var.get());
  if (loop->for_kind == ForKind::kThreadBinding) threads_.pop_back();
}

// Two nested loops over one axis run on the same threads: both variables are the thread's number.
void Verifier::enter_thread(const ForNode* loop) {
  for (const ForNode* outer : threads_) {
    if (outer->thread_tag != loop->thread_tag || loop->thread_tag.starts_with("vthread")) continue;
    if (!ir::structural_equal(outer->extent, loop->extent))
      throw UserError(loop, "loop {} over {} has extent {}, but loop {} around it has {} of these threads",
                      loop->loop_var->name_hint, loop->thread_tag, expr_text(loop->extent),
                      outer->loop_var->name_hint, expr_text(outer->extent))
          .help("split the loop by {} first", expr_text(outer->extent));
    if (uses(loop->body, outer->loop_var.get()))
      throw UserError(loop, "loops {} and {} both run over {}, and inside of {} the other's variable is used",
                      outer->loop_var->name_hint, loop->loop_var->name_hint, loop->thread_tag,
                      loop->loop_var->name_hint)
          .help("use {0} there: both are the thread's number", loop->loop_var->name_hint);
  }
  one_extent(loop);
  threads_.push_back(loop);
}

// All loops of a kernel over one axis run on the same threads, beside each other as inside.
void Verifier::one_extent(const ForNode* loop) {
  const auto is_axis = [](const std::string& tag) {
    return tag.starts_with("blockIdx.") || tag.starts_with("threadIdx.");
  };
  if (!is_axis(loop->thread_tag)) return;
  if (std::none_of(threads_.begin(), threads_.end(),
                   [&](const ForNode* outer) { return is_axis(outer->thread_tag); }))
    axes_.clear();
  const auto [known, is_new] = axes_.try_emplace(loop->thread_tag, loop);
  const ForNode* first = known->second;
  if (is_new || are_equal_extents(first->extent, loop->extent)) return;
  throw UserError(loop,
                  "loop {} over {} has extent {}, but loop {} of the same kernel has {} of these threads",
                  loop->loop_var->name_hint, loop->thread_tag, expr_text(loop->extent),
                  first->loop_var->name_hint, expr_text(first->extent))
      .note(ObjectRef(first), "loop {} is here", first->loop_var->name_hint)
      .help("split the loop by {} first", expr_text(first->extent));
}

void Verifier::attr(const AttrStmtNode* attr) {
  expr(attr->value);
  const auto* axis = attr->node.as<IterVarNode>();
  const bool is_launch = axis && (attr->attr_key == "thread_extent" || attr->attr_key == "virtual_thread");
  const bool is_new = is_launch && !variables_.contains(axis->var.get());
  if (is_new) {
    define(axis->var.get(), ObjectRef(attr));
    ranges_.emplace_back(axis->var, make_range(make_const_int(axis->var->dtype, 0), attr->value));
  }
  stmt(attr->body);
  if (!is_new) return;
  ranges_.pop_back();
  variables_.erase(axis->var.get());
}

void Verifier::stmt(const Stmt& stmt) {
  by_kind(
      stmt, [&](const ForNode* node) { loop(node); }, [&](const BlockRealizeNode* node) { block(node); },
      [&](const BlockNode*) { throw UserError(stmt, "a Block can only appear inside a BlockRealize"); },
      [&](const AttrStmtNode* node) { attr(node); },
      [&](const BufferStoreNode* node) {
        parts(stmt);
        use(node->buffer.get(), ObjectRef(node));
      },
      [&](const IfThenElseNode* node) {
        condition(node->condition, "if");
        inner(stmt);
      },
      [&](const WhileNode* node) {
        condition(node->condition, "while");
        inner(stmt);
      },
      [&](const AssertStmtNode* node) { condition(node->condition, "assert"); },
      [&](const LetStmtNode* node) {
        expr(node->value);
        if (node->var->dtype != node->value->dtype)
          throw UserError(node, "variable {} has dtype {}, but its value has {}", node->var->name_hint,
                          node->var->dtype.str(), node->value->dtype.str());
        define(node->var.get(), ObjectRef(node));
        inner(stmt);
        variables_.erase(node->var.get());
      },
      [&](const AllocBufferNode* node) {
        define(node->buffer.get(), true, ObjectRef(node));
        inner(stmt);
        forget(node->buffer.get(), true);
      },
      [&](const DeclBufferNode* node) {
        define(node->buffer.get(), false, ObjectRef(node));
        inner(stmt);
        forget(node->buffer.get(), false);
      },
      [&](const auto*) { parts(stmt); });
}

void Verifier::parts(const Stmt& stmt) {
  for_each_part(stmt, [&](const PrimExpr& part) { expr(part); }, [&](const Stmt& part) { this->stmt(part); });
}

void Verifier::inner(const Stmt& stmt) {
  for_each_inner(stmt, [&](const Stmt& part) { this->stmt(part); });
}

void Verifier::function(const PrimFunc& func) {
  for (const Var& param : func->params) define(param.get(), ObjectRef(func));
  // a variable that is by itself a dimension, stride or offset of a parameter is defined by it
  auto define_alone = [&](const PrimExpr& expr) {
    const auto* var = expr.as<VarNode>();
    if (var && variables_.insert(var).second) ever_defined_.insert(var);
  };
  for (const Buffer& buffer : func->buffers) {
    if (!buffer) continue;
    for (const PrimExpr& extent : buffer->shape) define_alone(extent);
    for (const PrimExpr& stride : buffer->strides) define_alone(stride);
    define_alone(buffer->elem_offset);
  }
  for (const Buffer& buffer : func->buffers) {
    if (buffer) define(buffer.get(), true, ObjectRef(func));
  }
  stmt(func->body);
}

void verify(const PrimFunc& func, const VerifyOptions& options) {
  Verifier(options).function(func);
  if (options.values_fit) verify_bounds(func);
}

void verify(const IRModule& module, const VerifyOptions& options) {
  for (const BaseFunc& func : module->functions) {
    if (!is<PrimFuncNode>(func)) continue;
    verify(ref_as<PrimFuncNode>(func), options);
    walk(func, [&](const CallNode* call) {
      if (const auto* callee = call->op.as<GlobalVarNode>(); callee && !module->find(callee->name_hint))
        throw UserError(call, "function {} is called, but the module has no function of that name",
                        callee->name_hint);
    });
  }
}

}  // namespace tilewright::analysis
