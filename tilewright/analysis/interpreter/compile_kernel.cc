// Kernels: the outermost loop over blocks or threads of a GPU, with all that is bound inside of it.
#include <algorithm>

#include "tilewright/analysis/interpreter/compiler.h"
#include "tilewright/analysis/interpreter/kernel.h"
#include "tilewright/ir/walk.h"
#include "tilewright/support/error.h"

namespace tilewright::analysis {
namespace {

constexpr int64_t kMaxThreads = 4096;  // each has a stack; no GPU has blocks of more than 1,024

struct BoundAxis {
  std::string tag;
  PrimExpr extent;
};

// Calls visit(node, axis, extent) for each loop and T.launch_thread in `stmt`; the axis of a plain loop is "".
template <class Visit>
void for_each_loop(const Stmt& stmt, const Visit& visit) {
  walk(
      stmt, [&](const ForNode* loop) { visit(loop, loop->thread_tag, loop->extent); },
      [&](const AttrStmtNode* attr) {
        const auto* axis = attr->node.as<IterVarNode>();
        if (axis && (attr->attr_key == "thread_extent" || attr->attr_key == "virtual_thread"))
          visit(attr, axis->thread_tag, attr->value);
      });
}

// The axes of the kernel `stmt`, each once, those of blocks first, x before y.
std::vector<BoundAxis> axes_in(const Stmt& stmt) {
  std::vector<BoundAxis> axes;
  for_each_loop(stmt, [&](const StmtNode*, const std::string& tag, const PrimExpr& extent) {
    const bool is_known =
        std::any_of(axes.begin(), axes.end(), [&](const BoundAxis& axis) { return axis.tag == tag; });
    if (!is_known && is_kernel_axis(tag)) axes.push_back({tag, extent});
  });
  std::sort(axes.begin(), axes.end(), [](const BoundAxis& a, const BoundAxis& b) { return a.tag < b.tag; });
  return axes;
}

bool has_blocks(const Stmt& stmt) {
  bool found = false;
  walk(stmt, [&](const BlockNode* block) { found = found || !block->iter_vars.empty(); });
  return found;
}

// The bit of `tag` among those of the axes of threads in `tags`.
uint32_t thread_axis_bit(const std::vector<std::string>& tags, const std::string& tag) {
  uint32_t bit = 1;
  for (const std::string& other : tags) {
    if (other == tag) break;
    if (other.starts_with("threadIdx.")) bit <<= 1;
  }
  return bit;
}

Grid grid_of(const std::vector<std::pair<std::string, CodePtr>>& axes, Frame& frame) {
  Grid grid;
  for (const auto& [tag, extent] : axes) grid.axes.emplace_back(tag, extent->as_int(frame));
  return grid;
}

}  // namespace

bool is_kernel_axis(std::string_view tag) {
  return tag.starts_with("blockIdx.") || tag.starts_with("threadIdx.");
}

// Buffers from outside of the kernel that an iteration of a loop in it has for itself: each block has its own, or each thread.
void Compiler::private_views(const Stmt& stmt, std::vector<size_t>* of_blocks,
                             std::vector<OwnBuffer>* of_threads) {
  for_each_loop(stmt, [&](const StmtNode* loop, const std::string& tag, const PrimExpr&) {
    const auto found = privates_.find(loop);
    if (found == privates_.end()) return;
    for (const Buffer& buffer : found->second) {
      const auto view = views_.find(buffer.get());
      if (view == views_.end()) continue;
      if (buffer->scope() == "warp") continue;
      if (tag.starts_with("blockIdx."))
        of_blocks->push_back(view->second);
      else
        of_threads->push_back({view->second, slot_of(buffer->data.get())});
    }
  });
  // registers, wherever the kernel uses them, and memory of warps
  for (const auto& [buffer, view] : views_) {
    const auto is_listed = [view = view](const OwnBuffer& listed) { return listed.view == view; };
    const bool is_of_warp = buffer->scope() == "warp";
    if ((buffer->scope() == "local" || is_of_warp) && allocated_outside_.contains(buffer) &&
        std::none_of(of_threads->begin(), of_threads->end(), is_listed))
      of_threads->push_back({view, slot_of(buffer->data.get()), is_of_warp});
  }
  for (const auto& [buffer, view] : views_) {
    const auto is_listed = [view = view](const OwnBuffer& listed) { return listed.view == view; };
    if (buffer->scope() != "warp" && std::any_of(of_threads->begin(), of_threads->end(), is_listed))
      kernel_->own.insert(buffer->data.get());
  }
}

StmtCodePtr Compiler::kernel(const Stmt& stmt) {
  Kernel kernel;
  std::vector<std::pair<std::string, CodePtr>> block_axes, thread_axes;
  for (const BoundAxis& axis : axes_in(stmt)) {
    auto& axes = axis.tag.starts_with("blockIdx.") ? block_axes : thread_axes;
    axes.emplace_back(axis.tag, expr(axis.extent));
    kernel.tags.push_back(axis.tag);
  }
  // a program of blocks has no barriers: one stage begins when the one before it has ended
  kernel.waits_between_stages = has_blocks(stmt);
  std::vector<size_t> of_blocks;
  std::vector<OwnBuffer> of_threads;
  SitePtr where = site(stmt);
  kernel_ = &kernel;
  private_views(stmt, &of_blocks, &of_threads);
  StmtCodePtr body = this->stmt(stmt);
  kernel_ = nullptr;
  return stmt_code([block_axes = std::move(block_axes), thread_axes = std::move(thread_axes),
                    of_blocks = std::move(of_blocks), of_threads = std::move(of_threads), where,
                    body = std::move(body)](Frame& frame) {
    const Grid blocks = grid_of(block_axes, frame), threads = grid_of(thread_axes, frame);
    if (threads.size() > kMaxThreads)
      throw Unsupported(where->node, "the interpreter runs blocks of up to {} threads, found {}{}",
                        kMaxThreads, threads.size(), where->at(frame));
    if (blocks.size() <= 0 || threads.size() <= 0) return;
    Program& program = *frame.program;
    ThreadGroup& group = program.group_of(threads);
    const Grid& kept = program.keep(blocks);
    const uint64_t run = ++program.num_runs;
    for (int64_t block = 0; block < blocks.size(); ++block) {
      for (const size_t view : of_blocks) frame.views[view].memory->forget_contents();
      const Strand* strand = program.options.check_races && !blocks.axes.empty()
                                 ? program.new_strand({frame.strand, run, block, 0, nullptr, &kept})
                                 : frame.strand;
      group.run(frame, strand, of_threads, [&](Frame& mine) {
        mine.axis_values.clear();
        for (size_t n = 0; n < blocks.axes.size(); ++n)
          mine.axis_values.emplace_back(blocks.value(n, block), blocks.axes[n].second);
        for (size_t n = 0; n < threads.axes.size(); ++n)
          mine.axis_values.emplace_back(threads.value(n, static_cast<int64_t>(mine.thread)),
                                        threads.axes[n].second);
        body->run(mine);
      });
    }
  });
}

// A loop over blocks or threads, inside of a kernel: each thread runs its own iteration.
StmtCodePtr Compiler::bound_loop(const tir::Var& var, const std::string& tag, const PrimExpr& extent,
                                 const ObjectRef& node, const Stmt& body) {
  const size_t axis =
      static_cast<size_t>(std::find(kernel_->tags.begin(), kernel_->tags.end(), tag) - kernel_->tags.begin());
  CodePtr size = expr(extent);
  const bool is_same = slots_.contains(var.get());  // T.launch_thread of a variable that has its value
  const size_t slot = is_same ? slot_of(var.get()) : new_slot(var.get());
  SitePtr around = site(node);
  if (!is_same) iterations_.emplace_back(var->name_hint, slot);
  SitePtr where = site(node);
  const bool is_thread = tag.starts_with("threadIdx.");
  if (is_thread) thread_vars_.emplace_back(var.get(), thread_axis_bit(kernel_->tags, tag));
  StmtCodePtr code = stmt(body);
  if (is_thread) thread_vars_.pop_back();
  if (!is_same) iterations_.pop_back();
  return stmt_code([axis, slot, size = std::move(size), code = std::move(code), around, where, tag,
                    name = var->name_hint](Frame& frame) {
    const auto& [value, of_kernel] = frame.axis_values[axis];
    if (const int64_t own = size->as_int(frame); own != of_kernel)
      throw UserError(around->node, "{} over {} has extent {}, but the kernel has {} of {}{}", name, tag, own,
                      of_kernel, tag, around->at(frame));
    frame.slots[slot].i = value;
    frame.program->step(*where);
    code->run(frame);
    if (frame.signal != Signal::kReturn) frame.signal = Signal::kNone;
  });
}

}  // namespace tilewright::analysis
