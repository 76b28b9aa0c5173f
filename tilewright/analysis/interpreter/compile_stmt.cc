// Statements: loops, branches, lets, allocations, views.
#include <algorithm>
#include <tuple>

#include "tilewright/analysis/interpreter/compiler.h"
#include "tilewright/analysis/interpreter/kernel.h"
#include "tilewright/ir/services.h"
#include "tilewright/ir/walk.h"
#include "tilewright/support/error.h"
#include "tilewright/tir/builder.h"
#include "tilewright/tir/stmt.h"
#include "tilewright/tir/text.h"

namespace tilewright::analysis {
namespace {

std::vector<int64_t> compact_strides(const std::vector<int64_t>& shape) {
  std::vector<int64_t> strides(shape.size(), 1);
  for (size_t dim = shape.size(); dim-- > 1;) strides[dim - 1] = strides[dim] * shape[dim];
  return strides;
}

constexpr int64_t kMaxElements = int64_t{1} << 33;  // the limit for one buffer

// The extents of a new buffer; raises for a negative one.
std::vector<int64_t> extents(Frame& frame, const std::vector<CodePtr>& codes, const Site& site,
                             const std::string& name) {
  std::vector<int64_t> result;
  int64_t total = 1;
  for (const CodePtr& code : codes) {
    const int64_t extent = code->as_int(frame);
    if (extent < 0)
      throw UserError(site.node, "buffer {} has extent {} in dimension {}{}", name, extent, result.size(),
                      site.at(frame));
    if (__builtin_mul_overflow(total, extent, &total) || total > kMaxElements)
      throw UserError(site.node, "buffer {} has more than 2^33 elements{}", name, site.at(frame));
    result.push_back(extent);
  }
  return result;
}

// The number of elements of a new buffer, up to and including its last one.
int64_t num_elements(Frame& frame, const View& view, const Site& site, const std::string& name) {
  int64_t count = 1;
  for (size_t dim = 0; dim < view.shape.size(); ++dim) {
    const int64_t steps = view.shape[dim] - 1, stride = view.strides[dim];
    if (steps < 0) return 0;
    if (stride < 0)
      throw UserError(site.node, "buffer {} has stride {} in dimension {}{}", name, stride, dim,
                      site.at(frame));
    if (steps > 0 && stride > (kMaxElements - count) / steps)
      throw UserError(site.node, "buffer {} has more than 2^33 elements{}", name, site.at(frame));
    count += steps * stride;
  }
  return count;
}

}  // namespace

StmtCodePtr Compiler::stmt(const Stmt& stmt) {
  return by_kind(
      stmt, [&](const SeqStmtNode* node) { return sequence(node); },
      [&](const ForNode* node) { return loop(node); },
      [&](const BlockRealizeNode* node) { return block(node); },
      [&](const BufferStoreNode* node) { return store(node); },
      [&](const IfThenElseNode* node) { return branch(node); },
      [&](const WhileNode* node) { return while_loop(node); },
      [&](const LetStmtNode* node) { return let_stmt(node); },
      [&](const DeclBufferNode* node) { return declare(node); },
      [&](const AttrStmtNode* node) {
        const bool is_launch = is<IterVarNode>(node->node) &&
                               (node->attr_key == "thread_extent" || node->attr_key == "virtual_thread");
        return is_launch ? launch(node) : this->stmt(node->body);
      },
      [&](const AllocBufferNode* node) {
        StmtCodePtr make = allocate(node->buffer), body = this->stmt(node->body);
        return stmt_code([make = std::move(make), body = std::move(body)](Frame& frame) {
          make->run(frame);
          body->run(frame);
        });
      },
      [&](const EvaluateNode* node) {
        return stmt_code([value = expr(node->value)](Frame& frame) { const Lanes lanes(*value, frame); });
      },
      [&](const AssertStmtNode* node) { return assertion(node); },
      [&](const BlockNode*) -> StmtCodePtr {
        throw UserError(stmt, "a Block can only run inside a BlockRealize");
      });
}

StmtCodePtr Compiler::sequence(const SeqStmtNode* list) {
  std::vector<StmtCodePtr> codes;
  for (const Stmt& item : list->seq) codes.push_back(stmt(item));
  const bool waits = kernel_ && kernel_->waits_between_stages && !is_inside_stage_;
  return stmt_code([codes = std::move(codes), waits](Frame& frame) {
    for (const StmtCodePtr& code : codes) {
      code->run(frame);
      if (frame.signal != Signal::kNone) return;
      if (waits) frame.group->meet(frame, nullptr);
    }
  });
}

StmtCodePtr Compiler::assertion(const AssertStmtNode* node) {
  return stmt_code([condition = expr(node->condition), message = node->message,
                    where = site(ObjectRef(node))](Frame& frame) {
    if (!condition->as_int(frame))
      throw UserError(where->node, "assertion failed: {}{}", message, where->at(frame));
  });
}

// for var in [min, min + extent): body.  Each iteration of a concurrent loop gets its own strand.
StmtCodePtr Compiler::loop_code(const tir::Var& var, CodePtr min, CodePtr extent, bool is_concurrent,
                                const ObjectRef& node, const Stmt& body) {
  const size_t slot = new_slot(var.get());
  iterations_.emplace_back(var->name_hint, slot);
  SitePtr where = site(node);
  StmtCodePtr code = stmt(body);
  iterations_.pop_back();
  const bool makes_strands = is_concurrent && options_.check_races;
  std::vector<size_t> own;  // views of the buffers that are private to each iteration
  if (const auto found = privates_.find(static_cast<const StmtNode*>(node.get())); found != privates_.end()) {
    for (const Buffer& buffer : found->second) own.push_back(view_of(buffer, node));
  }
  return stmt_code([slot, min = std::move(min), extent = std::move(extent), code = std::move(code), where,
                    makes_strands, own = std::move(own),
                    name = std::make_unique<std::string>(var->name_hint)](Frame& frame) {
    const int64_t first = min->as_int(frame), end = first + extent->as_int(frame);
    const Strand* outer = frame.strand;
    const uint64_t epoch = frame.epoch;
    // after a barrier inside of the loop, the thread has another strand
    auto around = [&] { return frame.epoch == epoch ? outer : frame.thread_strand; };
    const uint64_t run = makes_strands ? ++frame.program->num_runs : 0;
    for (int64_t n = first; n < end; ++n) {
      frame.slots[slot].i = n;
      frame.program->step(*where);
      if (makes_strands) frame.strand = frame.program->new_strand({around(), run, n, 0, name.get()});
      for (const size_t view : own) frame.views[view].memory->forget_contents();
      code->run(frame);
      if (frame.signal == Signal::kNone) continue;
      if (frame.signal == Signal::kReturn) break;
      const bool ends = frame.signal == Signal::kBreak;
      frame.signal = Signal::kNone;
      if (ends) break;
    }
    frame.strand = around();
  });
}

StmtCodePtr Compiler::loop(const ForNode* loop) {
  if (loop->for_kind == ForKind::kThreadBinding && is_kernel_axis(loop->thread_tag))
    return kernel_ ? bound_loop(loop->loop_var, loop->thread_tag, loop->extent, ObjectRef(loop), loop->body)
                   : kernel(Stmt(loop));
  const bool is_concurrent = loop->for_kind == ForKind::kParallel || loop->for_kind == ForKind::kVectorized ||
                             loop->for_kind == ForKind::kThreadBinding;
  CodePtr min = expr(loop->min), extent = expr(loop->extent);
  return loop_code(loop->loop_var, std::move(min), std::move(extent), is_concurrent, ObjectRef(loop),
                   loop->body);
}

// T.launch_thread: runs the body once for each thread.
StmtCodePtr Compiler::launch(const AttrStmtNode* attr) {
  const auto* axis = attr->node.as<IterVarNode>();
  if (is_kernel_axis(axis->thread_tag))
    return kernel_ ? bound_loop(axis->var, axis->thread_tag, attr->value, ObjectRef(attr), attr->body)
                   : kernel(Stmt(attr));
  if (slots_.contains(axis->var.get())) return stmt(attr->body);  // it has its value already
  CodePtr min = int_literal(axis->var->dtype, 0), extent = expr(attr->value);
  return loop_code(axis->var, std::move(min), std::move(extent), true, ObjectRef(attr), attr->body);
}

StmtCodePtr Compiler::branch(const IfThenElseNode* branch) {
  return stmt_code([condition = expr(branch->condition), yes = stmt(branch->then_case),
                    no = branch->else_case ? stmt(branch->else_case) : nullptr](Frame& frame) {
    if (condition->as_int(frame))
      yes->run(frame);
    else if (no)
      no->run(frame);
  });
}

StmtCodePtr Compiler::while_loop(const WhileNode* loop) {
  return stmt_code([condition = expr(loop->condition), body = stmt(loop->body),
                    where = site(ObjectRef(loop))](Frame& frame) {
    while (condition->as_int(frame)) {
      frame.program->step(*where);
      body->run(frame);
      if (frame.signal == Signal::kReturn) return;
      const bool ends = frame.signal == Signal::kBreak;
      frame.signal = Signal::kNone;
      if (ends) return;
    }
  });
}

StmtCodePtr Compiler::let_stmt(const LetStmtNode* let) {
  CodePtr value = expr(let->value);
  const size_t slot = new_slot(let->var.get());
  return stmt_code([value = std::move(value), slot, body = stmt(let->body)](Frame& frame) {
    const Lanes lanes(*value, frame);
    for (size_t n = 0; n < lanes.size(); ++n) frame.slots[slot + n] = lanes[n];
    body->run(frame);
  });
}

// Allocates new memory each time it is executed.
StmtCodePtr Compiler::allocate(const Buffer& buffer) {
  std::vector<CodePtr> shape = exprs(buffer->shape), strides = exprs(buffer->strides);
  SitePtr where = site(buffer);
  const size_t view = new_view(buffer), data = new_slot(buffer->data.get()), allocation = num_allocations_++;
  depth_of_[buffer.get()] = blocks_.size();
  if (!kernel_) allocated_outside_.insert(buffer.get());
  const bool is_shared = kernel_ && buffer->scope().starts_with("shared");
  const bool is_of_warp = kernel_ && buffer->scope() == "warp";
  if (kernel_ && !is_shared && !is_of_warp) kernel_->own.insert(buffer->data.get());
  return stmt_code([shape = std::move(shape), strides = std::move(strides), where, view, data, allocation,
                    name = buffer->name, bits = bits_of(buffer->dtype), unit = unit_of(buffer->data.get()),
                    is_shared, is_of_warp](Frame& frame) {
    View& made = frame.views[view];
    made.shape = extents(frame, shape, *where, name);
    made.strides = compact_strides(made.shape);
    for (size_t dim = 0; dim < strides.size(); ++dim) made.strides[dim] = strides[dim]->as_int(frame);
    made.offset = 0;
    const int64_t count = num_elements(frame, made, *where, name);
    std::shared_ptr<Memory>& memory = frame.pool[allocation];
    bool is_new = true;
    if (is_shared || is_of_warp)
      std::tie(memory, is_new) = frame.group->shared(frame, allocation, is_of_warp);
    else if (!memory)
      memory = std::make_shared<Memory>();
    if (is_new) {
      memory->name = name;
      memory->unit = unit;
      memory->reset((count * bits + 7) / 8);
    }
    made.memory = memory;
    frame.slots[data] = int_scalar(0);
    frame.slots[data].memory = memory.get();
  });
}

namespace {

// The memory behind a pointer, shared with its owner.
std::shared_ptr<Memory> memory_of(const Scalar& pointer) {
  return std::shared_ptr<Memory>(std::shared_ptr<void>(), pointer.memory);
}

}  // namespace

// A view of the existing memory that `data` points to.
StmtCodePtr Compiler::declare(const DeclBufferNode* decl) {
  const Buffer& buffer = decl->buffer;
  const size_t data = slot_of(buffer->data.get());
  std::vector<CodePtr> shape = exprs(buffer->shape), strides = exprs(buffer->strides);
  CodePtr offset = buffer->elem_offset ? expr(buffer->elem_offset) : nullptr;
  SitePtr where = site(ObjectRef(decl));
  const size_t view = new_view(buffer);
  depth_of_[buffer.get()] = blocks_.size();  // enclosing blocks do not know the view
  StmtCodePtr body = stmt(decl->body);
  return stmt_code([=, shape = std::move(shape), strides = std::move(strides), offset = std::move(offset),
                    body = std::move(body), name = buffer->name, size = buffer->dtype.num_bytes(),
                    bits = bits_of(buffer->dtype)](Frame& frame) {
    View& made = frame.views[view];
    const Scalar& pointer = frame.slots[data];
    if (!pointer.memory)
      throw UserError(where->node, "buffer {} is declared over a null pointer{}", name, where->at(frame));
    if (pointer.i % size != 0)
      throw UserError(where->node,
                      "buffer {} starts at byte {} of {}, which is not a multiple of its element size {}{}",
                      name, pointer.i, pointer.memory->name, size, where->at(frame));
    made.memory = memory_of(pointer);
    made.shape = extents(frame, shape, *where, name);
    made.strides = compact_strides(made.shape);
    for (size_t dim = 0; dim < strides.size(); ++dim) made.strides[dim] = strides[dim]->as_int(frame);
    made.offset = pointer.i * 8 / bits + (offset ? offset->as_int(frame) : 0);
    body->run(frame);
  });
}

}  // namespace tilewright::analysis
