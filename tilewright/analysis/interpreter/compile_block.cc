// Blocks: axes, declared regions, views, allocations, init.
#include <algorithm>
#include <utility>

#include "tilewright/analysis/interpreter/compiler.h"
#include "tilewright/ir/walk.h"
#include "tilewright/support/count_text.h"
#include "tilewright/support/error.h"
#include "tilewright/tir/builder.h"
#include "tilewright/tir/text.h"
#include "tilewright/tir/uses.h"

namespace tilewright::analysis {
namespace {

// The root block and blocks of lowered programs declare no regions.
bool declares_regions(const BlockNode* block) {
  return !block->iter_vars.empty() || !block->reads.empty() || !block->writes.empty();
}

}  // namespace

RegionBounds Compiler::new_bounds(const BufferRegion& region) {
  RegionBounds bounds{region, num_bounds_};
  num_bounds_ += region->region.size();
  return bounds;
}

StmtCodePtr Compiler::evaluate_region(const RegionBounds& bounds) {
  std::vector<CodePtr> mins, sizes;
  for (const Range& range : bounds.region->region) {
    mins.push_back(expr(range->min));
    sizes.push_back(expr(range->extent));
  }
  return stmt_code([first = bounds.first, mins = std::move(mins), sizes = std::move(sizes)](Frame& frame) {
    for (size_t dim = 0; dim < mins.size(); ++dim)
      frame.bounds[first + dim] = {mins[dim]->as_int(frame), sizes[dim]->as_int(frame)};
  });
}

StmtCodePtr Compiler::regions(const BlockNode* block, std::vector<RegionBounds>* reads,
                              std::vector<RegionBounds>* writes) {
  std::vector<StmtCodePtr> codes;
  if (options_.check_regions) {
    for (auto [list, bounds] : {std::pair(&block->reads, reads), std::pair(&block->writes, writes)}) {
      for (const BufferRegion& region : *list) {
        bounds->push_back(new_bounds(region));
        codes.push_back(evaluate_region(bounds->back()));
      }
    }
  }
  return stmt_code([codes = std::move(codes)](Frame& frame) {
    // evaluating a declared region is not a read by the program, even if the memory does not exist yet
    ++frame.speculative;
    for (const StmtCodePtr& code : codes) code->run(frame);
    --frame.speculative;
  });
}

// Evaluates all values before any axis is set: the values must not see the axes.
StmtCodePtr Compiler::axes(const BlockRealizeNode* realize) {
  struct Axis {
    CodePtr value, min, extent;
    size_t slot;
    std::string name;
    SitePtr where;
  };
  std::vector<Axis> axes;
  const BlockNode* block = realize->block.get();
  for (size_t n = 0; n < block->iter_vars.size(); ++n) {
    const IterVar& iter = block->iter_vars[n];
    axes.push_back({expr(realize->iter_values[n]), expr(iter->dom->min), expr(iter->dom->extent), 0,
                    iter->var->name_hint, site(realize->iter_values[n])});
  }
  for (size_t n = 0; n < axes.size(); ++n) axes[n].slot = new_slot(block->iter_vars[n]->var.get());
  return stmt_code(
      [axes = std::move(axes), checks = options_.check_axes, name = block->name_hint](Frame& frame) {
        for (const Axis& axis : axes) {
          const int64_t value = axis.value->as_int(frame);
          frame.slots[axis.slot].i = value;
          if (!checks) continue;
          const int64_t min = axis.min->as_int(frame), extent = axis.extent->as_int(frame);
          if (value >= min && value < min + extent) continue;
          throw UserError(axis.where->node, "axis {} of block {} is {}, outside of its domain [{}, {}){}",
                          axis.name, name, value, min, min + extent, axis.where->at(frame));
        }
      });
}

// The view of a region: element [i, j] is element [min + i, min + j] of the region's last dimensions.
StmtCodePtr Compiler::match_buffer(const MatchBufferRegionNode* match, const RegionBounds& source) {
  const Buffer& buffer = match->buffer;
  const size_t outer = view_of(match->source->buffer, buffer), view = new_view(buffer),
               data = new_slot(buffer->data.get());
  SitePtr where = site(match->source->buffer);
  // a variable that is a dimension by itself is bound to the region's extent; other dimensions are checked
  struct Dimension {
    std::optional<size_t> bound;
    CodePtr value;
  };
  auto dimension = [&](const PrimExpr& expr) {
    Dimension result;
    const auto* var = expr.as<tir::VarNode>();
    if (var && !slots_.contains(var))
      result.bound = new_slot(var);
    else
      result.value = this->expr(expr);
    return result;
  };
  std::vector<Dimension> shape, strides;
  for (const PrimExpr& extent : buffer->shape) shape.push_back(dimension(extent));
  for (const PrimExpr& stride : buffer->strides) strides.push_back(dimension(stride));
  std::optional<Dimension> offset;
  if (buffer->elem_offset) offset = dimension(buffer->elem_offset);
  if (buffer->shape.size() > match->source->region.size())
    throw UserError("match_buffer: view {} has {}, its region {} has {}", buffer->name,
                    count_text(buffer->shape.size(), "dimension"), region_text(match->source),
                    match->source->region.size());
  StmtCodePtr evaluate = evaluate_region(source);
  return stmt_code([=, shape = std::move(shape), strides = std::move(strides), offset = std::move(offset),
                    evaluate = std::move(evaluate), first = source.first, name = buffer->name,
                    bits = bits_of(buffer->dtype), region = match->source](Frame& frame) {
    evaluate->run(frame);
    const View& viewed = frame.views[outer];
    View made;
    made.memory = viewed.memory;
    made.offset = viewed.offset;
    const size_t ndim = viewed.shape.size(), leading = ndim - shape.size();
    for (size_t dim = 0; dim < ndim; ++dim) {
      const Bounds& bounds = frame.bounds[first + dim];
      if (bounds.min < 0 || bounds.min + bounds.extent > viewed.shape[dim])
        throw UserError(where->node, "match_buffer: {} reaches {}:{} in dimension {}, which has extent {}{}",
                        region_text(region), bounds.min, bounds.min + bounds.extent, dim, viewed.shape[dim],
                        where->at(frame));
      made.offset += bounds.min * viewed.strides[dim];
      if (dim < leading) continue;
      made.shape.push_back(bounds.extent);
      made.strides.push_back(viewed.strides[dim]);
    }
    auto settle = [&](const Dimension& dimension, int64_t actual, std::string_view what, size_t dim) {
      if (dimension.bound) return void(frame.slots[*dimension.bound] = int_scalar(actual));
      const int64_t expected = dimension.value->as_int(frame);
      if (expected != actual)
        throw UserError(where->node,
                        "match_buffer: view {} has {} {} in dimension {}, but its region {} has {}{}", name,
                        what, expected, dim, region_text(region), actual, where->at(frame));
    };
    for (size_t dim = 0; dim < shape.size(); ++dim) settle(shape[dim], made.shape[dim], "extent", dim);
    for (size_t dim = 0; dim < strides.size(); ++dim) settle(strides[dim], made.strides[dim], "stride", dim);
    if (offset && offset->bound) frame.slots[*offset->bound] = int_scalar(made.offset);
    frame.slots[data] = int_scalar(made.offset * bits / 8);
    frame.slots[data].memory = made.memory.get();
    frame.views[view] = std::move(made);
  });
}

namespace {

bool has_blocks_inside(const BlockNode* block) {
  bool found = false;
  walk(block->body, [&](const BlockNode*) { found = true; });
  return found;
}

}  // namespace

uint32_t Compiler::thread_axes_of(const PrimExpr& value) const {
  uint32_t axes = 0;
  for (const auto& [var, bits] : thread_vars_) {
    if (tir::uses(value, var)) axes |= bits;
  }
  return axes;
}

// Notes the block axes that are made of threads; returns the axes of threads that choose terms of its sum.
uint32_t Compiler::enter_axes(const BlockRealizeNode* realize) {
  uint32_t summed = 0;
  std::vector<std::pair<const tir::VarNode*, uint32_t>> found;
  for (size_t n = 0; n < realize->iter_values.size(); ++n) {
    const uint32_t axes = thread_axes_of(realize->iter_values[n]);
    const IterVar& iter = realize->block->iter_vars[n];
    if (axes) found.emplace_back(iter->var.get(), axes);
    if (iter->iter_type == IterType::kReduce) summed |= axes;
  }
  thread_vars_.insert(thread_vars_.end(), found.begin(), found.end());
  return summed;
}

// The buffers that the block writes are those of the sum.
std::vector<Compiler::SummedView> Compiler::enter_sum(const BlockNode* block) {
  std::vector<SummedView> views;
  for (const BufferRegion& write : block->writes) {
    const tir::VarNode* data = write->buffer->data.get();
    sums_.push_back(data);
    const size_t view = view_of(write->buffer, ObjectRef(block));
    const bool is_known =
        std::any_of(views.begin(), views.end(), [&](const SummedView& each) { return each.view == view; });
    if (!is_known) views.push_back({view, kernel_->own.contains(data)});
  }
  for (const MatchBufferRegion& match : block->match_buffers) {
    if (std::find(sums_.begin(), sums_.end(), match->source->buffer->data.get()) != sums_.end())
      sums_.push_back(match->buffer->data.get());
  }
  return views;
}

StmtCodePtr Compiler::block(const BlockRealizeNode* realize) {
  const BlockNode* block = realize->block.get();
  const size_t num_thread_vars = thread_vars_.size(), num_sums = sums_.size();
  const bool was_inside_stage = is_inside_stage_;
  CodePtr predicate = is_one(realize->predicate) ? nullptr : expr(realize->predicate);
  StmtCodePtr bind_axes = axes(realize);
  OpenBlock open{block, {}, {}, {}, declares_regions(block)};
  StmtCodePtr evaluate = regions(block, &open.reads, &open.writes);
  std::vector<StmtCodePtr> prepare;
  const size_t num_iterations = iterations_.size();
  for (const IterVar& axis : block->iter_vars)
    iterations_.emplace_back(axis->var->name_hint, slot_of(axis->var.get()));
  blocks_.push_back(std::move(open));
  for (const Buffer& buffer : block->alloc_buffers) prepare.push_back(allocate(buffer));
  for (const MatchBufferRegion& match : block->match_buffers) {
    const RegionBounds source = new_bounds(match->source);
    prepare.push_back(match_buffer(match.get(), source));
    blocks_.back().matched.emplace(match->buffer.get(), source);
  }
  std::vector<std::pair<size_t, CodePtr>> reduced;  // reduce axes and their first values
  for (const IterVar& axis : block->iter_vars) {
    if (axis->iter_type == IterType::kReduce)
      reduced.emplace_back(slot_of(axis->var.get()), expr(axis->dom->min));
  }
  // the threads of these axes add to one sum: it has one strand, and its memory is one while they do
  const uint32_t summed_axes = enter_axes(realize);
  const std::vector<SummedView> sums = summed_axes ? enter_sum(block) : std::vector<SummedView>();
  SitePtr where = site(ObjectRef(realize));
  is_inside_stage_ = is_inside_stage_ || summed_axes || !has_blocks_inside(block);
  StmtCodePtr init = block->init ? stmt(block->init) : nullptr;
  StmtCodePtr body = stmt(block->body);
  is_inside_stage_ = was_inside_stage;
  thread_vars_.resize(num_thread_vars);
  sums_.resize(num_sums);
  blocks_.pop_back();
  iterations_.resize(num_iterations);
  return stmt_code([=, predicate = std::move(predicate), bind_axes = std::move(bind_axes),
                    evaluate = std::move(evaluate), prepare = std::move(prepare),
                    reduced = std::move(reduced), init = std::move(init),
                    body = std::move(body)](Frame& frame) {
    if (predicate && !predicate->as_int(frame)) return;
    bind_axes->run(frame);
    evaluate->run(frame);
    const Strand* outer_sum = frame.sum_strand;
    std::vector<std::shared_ptr<Memory>> kept;
    if (summed_axes) {
      frame.sum_strand = frame.group->sum_strand(frame, summed_axes);
      for (const SummedView& sum : sums)
        kept.push_back(
            std::exchange(frame.views[sum.view].memory,
                          frame.group->sum_memory(frame, sum.view, summed_axes, sum.is_own, *where)));
    }
    for (const StmtCodePtr& code : prepare) code->run(frame);
    const bool starts = std::all_of(reduced.begin(), reduced.end(), [&](const auto& axis) {
      return frame.slots[axis.first].i == axis.second->as_int(frame);
    });
    if (init && starts) init->run(frame);
    body->run(frame);
    for (size_t n = 0; n < kept.size(); ++n) frame.views[sums[n].view].memory = std::move(kept[n]);
    frame.sum_strand = outer_sum;
  });
}

}  // namespace tilewright::analysis
