// Checks blocks: their axes against the loops, their declared regions against their accesses.
#include <algorithm>

#include "tilewright/analysis/block_info.h"
#include "tilewright/analysis/index_range.h"
#include "tilewright/analysis/regions.h"
#include "tilewright/analysis/update.h"
#include "tilewright/analysis/verifier.h"
#include "tilewright/ir/services.h"
#include "tilewright/ir/walk.h"
#include "tilewright/support/count_text.h"
#include "tilewright/support/error.h"
#include "tilewright/tir/builder.h"
#include "tilewright/tir/op.h"
#include "tilewright/tir/text.h"
#include "tilewright/tir/uses.h"

namespace tilewright::analysis {
namespace {

std::string range_text(const Range& range) {
  return fmt::format("[{}, {})", expr_text(range->min), expr_text(range->min + range->extent));
}

// The first index that the user wrote in this entry of T.reads or T.writes, else the block.
ObjectRef place_of(const BufferRegion& region, const BlockNode* block) {
  for (const Range& range : region->region) {
    if (range->min->span && !is<VarNode>(range->min)) return range->min;
  }
  return ObjectRef(block);
}

// The first access to `buffer` that the user wrote in the block, else the block.
ObjectRef first_access(const Buffer& buffer, const BlockNode* block, bool is_write) {
  ObjectRef found;
  auto meet = [&](const Buffer& accessed, const auto* node) {
    if (!found && accessed == buffer && node->span) found = ObjectRef(node);
  };
  for (const Stmt& part : {block->init, block->body}) {
    if (!part) continue;
    walk(
        part,
        [&](const BufferLoadNode* load) {
          if (!is_write) meet(load->buffer, load);
        },
        [&](const BufferStoreNode* store) {
          if (is_write) meet(store->buffer, store);
        });
  }
  return found ? found : ObjectRef(block);
}

// True if the block declares that it reads or writes the buffer, and passes its pointer (or that of a view)
// to calls that do not declare their accesses: then the declaration of the other kind of access counts as
// well.
bool is_said_of_pointer(const BlockNode* block, const Buffer& buffer, bool is_write) {
  if (!has_region_of(is_write ? block->reads : block->writes, buffer.get())) return false;
  std::vector<Buffer> same = {buffer};
  for (const MatchBufferRegion& view : block->match_buffers) {
    if (view->source->buffer == buffer) same.push_back(view->buffer);
  }
  const auto is_same = [&](const Buffer& other) {
    return std::find(same.begin(), same.end(), other) != same.end();
  };
  const auto is_pointer = [&](const Object* var) {
    return std::any_of(same.begin(), same.end(), [&](const Buffer& each) { return each->data.get() == var; });
  };
  bool is_seen = false;
  for (const Stmt& part : {block->init, block->body}) {
    if (!part) continue;
    walk(
        part, [&](const BufferLoadNode* load) { is_seen |= !is_write && is_same(load->buffer); },
        [&](const BufferStoreNode* store) { is_seen |= is_write && is_same(store->buffer); },
        [&](const DeclBufferNode* view) { is_seen |= is_pointer(view->buffer->data.get()); },
        [&](const BlockNode* inner) {
          for (const BufferRegion& region : is_write ? inner->writes : inner->reads)
            is_seen |= is_same(region->buffer);
          return false;
        },
        [&](const CallNode* call) {
          const auto* op = call->op.as<OpNode>();
          if (!op || op->name != "tir.tvm_access_ptr" || !is_pointer(call->args[1].get())) return;
          int64_t mask = 3;
          as_const_int(call->args.back(), &mask);
          is_seen |= (mask & (is_write ? 2 : 1)) != 0;
        });
  }
  return !is_seen;
}

bool is_root(const BlockNode* block) {
  return block->iter_vars.empty() && block->reads.empty() && block->writes.empty();
}

}  // namespace

// Checks that the value does not leave the domain in any iteration of the loops for which the block runs.
void Verifier::axis_range(const BlockRealizeNode* realize, const IterVar& axis, const PrimExpr& value) {
  if (!options_.values_fit) return;
  const PrimExpr inside = logical_and(axis->dom->min <= value, value < axis->dom->min + axis->dom->extent);
  const auto corner = corner_against(inside, realize->predicate, ranges_);
  if (!corner) return;
  const auto reached = evaluate_at(value, *corner);
  throw UserError(axis->var->span ? ObjectRef(axis->var) : ObjectRef(realize),
                  "axis {} of block {} has domain {}, but its value {} is {} at {}", axis->var->name_hint,
                  realize->block->name_hint, range_text(axis->dom), expr_text(value), *reached,
                  values_text(*corner))
      .help(
          "make the domain as large as the loops, or say with T.where(...) for which values the block runs");
}

void Verifier::axis_matches_loop(const BlockRealizeNode* realize, const IterVar& axis,
                                 const PrimExpr& value) {
  const auto* var = value.as<VarNode>();
  auto found = var ? loops_.find(var) : loops_.end();
  if (found == loops_.end() || !options_.axes_match_loops || !is_one(realize->predicate) ||
      axis->iter_type == IterType::kOpaque)
    return;
  const ForNode* loop = found->second;
  int64_t extent, loop_extent, min, loop_min;
  const bool is_constant = as_const_int(axis->dom->extent, &extent) &&
                           as_const_int(loop->extent, &loop_extent) && as_const_int(axis->dom->min, &min) &&
                           as_const_int(loop->min, &loop_min);
  if (!is_constant || (extent == loop_extent && min == loop_min)) return;
  throw UserError(axis->var->span ? ObjectRef(axis->var) : ObjectRef(realize),
                  "axis {} of block {} has domain {}, but loop {} runs over {}", axis->var->name_hint,
                  realize->block->name_hint, range_text(axis->dom), var->name_hint,
                  range_text(make_range(loop->min, loop->extent)))
      .note(ObjectRef(loop), "loop {} is here", var->name_hint)
      .help("give both the same extent, or say with T.where(...) for which values the block runs");
}

void Verifier::axes(const BlockRealizeNode* realize) {
  const BlockNode* block = realize->block.get();
  for (const PrimExpr& value : realize->iter_values) expr(value);
  condition(realize->predicate, fmt::format("block {}", block->name_hint));
  for (size_t n = 0; n < block->iter_vars.size(); ++n) {
    const IterVar& axis = block->iter_vars[n];
    const PrimExpr& value = realize->iter_values[n];
    if (!axis->dom)
      throw UserError(ObjectRef(realize), "axis {} of block {} has no domain", axis->var->name_hint,
                      block->name_hint);
    expr(axis->dom->min);
    expr(axis->dom->extent);
    if (value->dtype != axis->var->dtype || axis->dom->extent->dtype != axis->var->dtype)
      throw UserError(ObjectRef(realize), "axis {} of block {} has dtype {}, its domain {}, its value {}",
                      axis->var->name_hint, block->name_hint, axis->var->dtype.str(),
                      axis->dom->extent->dtype.str(), value->dtype.str());
    axis_matches_loop(realize, axis, value);
    axis_range(realize, axis, value);
  }
  for (const IterVar& axis : block->iter_vars) define(axis->var.get(), ObjectRef(realize));
}

// Threads that a reduce axis runs over add to one sum: lowering has to know how two parts of it are put together.
void Verifier::sum_over_threads(const BlockRealizeNode* realize) {
  const BlockNode* block = realize->block.get();
  if (!block->init) return;
  for (const ForNode* loop : threads_) {
    if (!loop->thread_tag.starts_with("threadIdx.")) continue;
    for (size_t n = 0; n < block->iter_vars.size(); ++n) {
      if (block->iter_vars[n]->iter_type != IterType::kReduce ||
          !uses(realize->iter_values[n], loop->loop_var.get()) || update_of(block))
        continue;
      throw UserError(
          ObjectRef(realize),
          "loop {} over {} has terms of block {}, but threads can only add up parts of + * min max and or, "
          "and choices by comparisons",
          loop->loop_var->name_hint, loop->thread_tag, block->name_hint)
          .note(ObjectRef(loop), "loop {} is here", loop->loop_var->name_hint)
          .help("let the loop run in order");
    }
  }
}

void Verifier::region(const BufferRegion& region, const BlockNode* block) {
  const ObjectRef where = place_of(region, block);
  use(region->buffer.get(), where);
  if (region->region.size() != region->buffer->shape.size())
    throw UserError(where, "block {}: region {} has {}, but buffer {} has {}", block->name_hint,
                    region_text(region), count_text(region->region.size(), "dimension"), region->buffer->name,
                    region->buffer->shape.size());
  for (const Range& range : region->region) {
    expr(range->min);
    expr(range->extent);
  }
}

// Checks the accesses to one buffer against the block's declaration.
void Verifier::promise(const BlockNode* block, const BufferRegion& access,
                       const std::vector<BufferRegion>& declared, bool is_write) {
  const std::string_view function = is_write ? "T.writes" : "T.reads", verb = is_write ? "writes" : "reads";
  std::vector<BufferRegion> same;
  for (const BufferRegion& region : declared) {
    if (region->buffer == access->buffer) same.push_back(region);
  }
  if (same.empty() && is_said_of_pointer(block, access->buffer, is_write)) return;
  if (same.empty())
    throw UserError(first_access(access->buffer, block, is_write),
                    "block {} {} {}, but its {} does not name the buffer", block->name_hint, verb,
                    region_text(access), function)
        .help("add {} to {}, or omit {} to have it inferred", region_text(access), function, function);
  if (same.size() > 1 || region_covers(same[0], access)) return;
  // conditions make accesses rarer than their region says
  if (has_conditional_statements(block->body) || has_conditional_values(block->body)) return;
  for (size_t dim = 0; dim < access->region.size(); ++dim) {
    const Range &said = same[0]->region[dim], &done = access->region[dim];
    if (!is_one(done->extent)) continue;  // a range may be wider than the accesses
    PrimExpr inside =
        logical_and(said->min <= done->min, done->min + done->extent <= said->min + said->extent);
    const auto corner = corner_against(inside, nullptr, ranges_);
    if (!corner) continue;
    throw UserError(place_of(same[0], block),
                    "block {} {} {}, but its {} says {}: dimension {} is exceeded at {}", block->name_hint,
                    verb, region_text(access), function, region_text(same[0]), dim, values_text(*corner))
        .help("write {} there, or omit {} to have it inferred", region_text(access), function);
  }
  each_access(block, block->body, same[0], access, is_write);
}

// The hull of several accesses may be too large, so this checks the indices of each access against the
// region.
void Verifier::each_access(const BlockNode* block, const Stmt& stmt, const BufferRegion& said,
                           const BufferRegion& all, bool is_write) {
  auto check = [&](const Object* where, const std::vector<PrimExpr>& indices) {
    for (size_t dim = 0; dim < indices.size(); ++dim) {
      if (!indices[dim]->dtype.is_scalar()) continue;
      const Range& range = said->region[dim];
      const PrimExpr inside =
          logical_and(range->min <= indices[dim], indices[dim] < range->min + range->extent);
      const auto corner = corner_against(inside, nullptr, ranges_);
      if (!corner) continue;
      std::vector<Range> place;
      for (const PrimExpr& index : indices) place.push_back(make_range(index, imm(1, index->dtype)));
      const std::string_view function = is_write ? "T.writes" : "T.reads";
      throw UserError(ObjectRef(where), "block {} {} {}, but its {} says {}: dimension {} is exceeded at {}",
                      block->name_hint, is_write ? "writes" : "reads",
                      region_text(BufferRegionNode::make(said->buffer, place)), function, region_text(said),
                      dim, values_text(*corner))
          .help("write {} there, or omit {} to have it inferred", region_text(all), function);
    }
  };
  walk(
      stmt,
      [&](const ForNode* loop) {
        ranges_.emplace_back(loop->loop_var, make_range(loop->min, loop->extent));
        each_access(block, loop->body, said, all, is_write);
        ranges_.pop_back();
        return false;
      },
      [&](const BlockNode*) { return false; },
      [&](const BufferLoadNode* load) {
        if (!is_write && load->buffer == said->buffer) check(load, load->indices);
      },
      [&](const BufferStoreNode* store) {
        if (is_write && store->buffer == said->buffer) check(store, store->indices);
      });
}

void Verifier::promises(const BlockNode* block) {
  if (!options_.regions_cover_accesses || is_root(block)) return;
  const AccessRegions found = access_regions(Stmt(block));
  // the previous value of a sum is none of them
  for (const BufferRegion& access : found.reads) promise(block, access, block->reads, false);
  for (const BufferRegion& access : found.writes) promise(block, access, block->writes, true);
}

void Verifier::block(const BlockRealizeNode* realize) {
  const BlockNode* block = realize->block.get();
  axes(realize);
  sum_over_threads(realize);
  const std::vector<RangedVar> outer = ranges_;
  const auto outer_loops = std::exchange(loops_, {});
  // inside the block, an axis has any value of its domain
  for (const IterVar& axis : block->iter_vars) ranges_.emplace_back(axis->var, axis->dom);
  for (const BufferRegion& item : block->reads) region(item, block);
  for (const BufferRegion& item : block->writes) region(item, block);
  for (const Buffer& buffer : block->alloc_buffers) define(buffer.get(), true, ObjectRef(block));
  std::vector<const VarNode*> bound;
  for (const MatchBufferRegion& match : block->match_buffers) {
    region(match->source, block);
    auto define_alone = [&](const PrimExpr& expr) {
      const auto* var = expr.as<VarNode>();
      if (var && variables_.insert(var).second) bound.push_back(var), ever_defined_.insert(var);
    };
    for (const PrimExpr& extent : match->buffer->shape) define_alone(extent);
    for (const PrimExpr& stride : match->buffer->strides) define_alone(stride);
    define_alone(match->buffer->elem_offset);
    define(match->buffer.get(), true, ObjectRef(block));
    if (match->buffer->shape.size() > match->source->region.size())
      throw UserError(ObjectRef(block), "match_buffer: view {} has {}, its region {} has {}",
                      match->buffer->name, count_text(match->buffer->shape.size(), "dimension"),
                      region_text(match->source), match->source->region.size());
  }
  ranges_.erase(ranges_.begin(),
                // declarations must hold for all axis values
                ranges_.begin() + static_cast<ptrdiff_t>(outer.size()));
  promises(block);
  if (block->init) stmt(block->init);
  stmt(block->body);
  for (const MatchBufferRegion& match : block->match_buffers) forget(match->buffer.get(), true);
  for (const Buffer& buffer : block->alloc_buffers) forget(buffer.get(), true);
  for (const VarNode* var : bound) variables_.erase(var);
  for (const IterVar& axis : block->iter_vars) variables_.erase(axis->var.get());
  loops_ = outer_loops;
  ranges_ = outer;
}

}  // namespace tilewright::analysis
