// annotate_buffer_access: a block says itself which region of a buffer it accesses.
#include <algorithm>

#include "tilewright/analysis/block_info.h"
#include "tilewright/ir/rewrite.h"
#include "tilewright/ir/walk.h"
#include "tilewright/schedule/core/primitive.h"
#include "tilewright/schedule/core/report.h"
#include "tilewright/schedule/legality/layout.h"
#include "tilewright/schedule/transforms/buffers.h"
#include "tilewright/support/count_text.h"
#include "tilewright/tir/builder.h"
#include "tilewright/tir/op.h"

namespace tilewright::schedule {
namespace {

struct Args {
  BlockRef block;
  BufferArg buffer_index;
  std::string buf_type;
  IndexMap gen_new_ranges;
  static constexpr std::string_view kRequired[] = {"buf_type"};
  static constexpr auto fields() {
    return std::tuple{
        field<&Args::block>("block", "what accesses the buffer"),
        field<&Args::buffer_index>("buffer_index", "which of the buffers it reads or writes"),
        field<&Args::buf_type>("buf_type", "\"read\" or \"write\""),
        field<&Args::gen_new_ranges>(
            "gen_new_ranges", "from the block's axes to begin and end of each dimension, or to one element")};
  }
};

// Lists region `index` in the annotation of regions that the user gave, which are not computed again.
void note(AttrMap& annotations, const std::string& key, int64_t index) {
  std::vector<ObjectRef> indices;
  if (const auto* known = annotations.get(key).as<ArrayNode>()) indices = known->items;
  const bool is_known = std::any_of(indices.begin(), indices.end(), [&](const ObjectRef& each) {
    return is_const_int(ref_as<PrimExprNode>(each), index);
  });
  if (!is_known) indices.push_back(imm(index, kInt64));
  annotations.set(key, ArrayNode::make(std::move(indices)));
}

// True if conditions may keep accesses inside of the region, so that a counterexample proves nothing.
bool has_conditions(const BlockNode* block) {
  bool found =
      analysis::has_conditional_statements(block->body) || analysis::has_conditional_values(block->body);
  walk(block->body, [&](const BlockRealizeNode*) { found = true; });
  return found;
}

// The first and last values of axes and of loops inside of the block, in every combination.
std::vector<Substitution> corners_of(const BlockNode* block) {
  std::vector<Substitution> corners(1);
  auto add = [&](const Var& var, const PrimExpr& min, const PrimExpr& extent) {
    if (corners.size() > 256) return;
    std::vector<Substitution> next;
    for (const Substitution& corner : corners) {
      for (const PrimExpr& value : {min, min + extent - 1}) {
        next.push_back(corner);
        next.back()[var.get()] = cast(var->dtype, arith::simplify(substitute(value, corner)));
      }
    }
    corners = std::move(next);
  };
  for (const IterVar& axis : block->iter_vars) add(axis->var, axis->dom->min, axis->dom->extent);
  walk(block->body, [&](const ForNode* loop) { add(loop->loop_var, loop->min, loop->extent); });
  return corners;
}

// Looks for an access outside of the region where axes and loops begin and end.
void require_covered(const State& state, NodeId id, const BufferRegion& region) {
  const BlockNode* block = state.node(id).block();
  const std::vector<Substitution> corners = corners_of(block);
  auto check = [&](const Buffer& buffer, const std::vector<PrimExpr>& indices) {
    for (size_t n = 0; n < indices.size() && buffer == region->buffer; ++n) {
      const Range& said = region->region[n];
      const PrimExpr inside = logical_and(said->min <= indices[n], indices[n] < said->min + said->extent);
      for (const Substitution& corner : corners) {
        if (is_const_int(arith::simplify(substitute(inside, corner)), 0))
          throw refuse(state, id,
                       "block {} accesses {} outside of {}: index {} is {} where that begins at {}",
                       block->name_hint, buffer->name, text(region), text(indices[n]),
                       text(arith::simplify(substitute(indices[n], corner))),
                       text(arith::simplify(substitute(said->min, corner))));
      }
    }
  };
  walk(
      block->body, [&](const BufferLoadNode* load) { check(load->buffer, load->indices); },
      [&](const BufferStoreNode* store) { check(store->buffer, store->indices); });
}

void apply(State& state, Args& args) {
  const NodeId id = state[args.block];
  if (args.buf_type != "read" && args.buf_type != "write")
    throw refuse(state, id, "a buffer is in list \"read\" or \"write\", not \"{}\"", args.buf_type);
  const BufferPlace place = require_buffer(state, id, &args.buffer_index, args.buf_type == "read");
  const BlockRealizeNode* realize = state.node(id).realize();
  const size_t ndim = place.buffer->shape.size(), num_axes = realize->block->iter_vars.size();
  if (args.gen_new_ranges->initial_indices.size() != num_axes)
    throw refuse(state, id, "the map takes {} indices, but block {} has {} axes",
                 args.gen_new_ranges->initial_indices.size(), realize->block->name_hint, num_axes);
  const size_t num_ends = args.gen_new_ranges->final_indices.size();
  if (num_ends != ndim && num_ends != 2 * ndim)
    throw refuse(state, id, "the map gives {} numbers instead of begin and end of {}", num_ends,
                 count_text(ndim, "dimension"));
  arith::Analyzer analyzer;
  std::vector<PrimExpr> axes;
  for (const IterVar& axis : realize->block->iter_vars) {
    axes.push_back(axis->var);
    analyzer.bind(axis->var, axis->dom);
  }
  const std::vector<PrimExpr> ends = apply_map(args.gen_new_ranges, axes, analyzer);
  std::vector<Range> ranges;
  for (size_t n = 0; n < ndim; ++n)
    ranges.push_back(num_ends == ndim
                         ? make_range(ends[n], imm(1, ends[n]->dtype))
                         : make_range(ends[2 * n], analyzer.simplify(ends[2 * n + 1] - ends[2 * n])));
  const BufferRegion region = BufferRegionNode::make(place.buffer, ranges);
  const Block block = with(realize->block, [&](BlockNode& n) {
    (place.is_read ? n.reads : n.writes)[place.index] = region;
    note(n.annotations, place.is_read ? "explicit_read_region" : "explicit_write_region",
         static_cast<int64_t>(place.index));
  });
  if (!has_conditions(realize->block.get())) require_covered(state, id, region);
  state.replace(id, with(realize, [&](BlockRealizeNode& n) { n.block = block; }),
                {{realize->block.get(), block}});
}

}  // namespace

extern constinit const PrimitiveInfo annotate_buffer_access_info =
    primitive<apply>("annotate_buffer_access", R"(
Says which region of a buffer a block accesses, where what is found in its body would be too large.

    T.reads(A[0:128])    ->    T.reads(A[vi - 1:vi + 2])
                               T.block_attr({"explicit_read_region": [0]})
                                         annotate_buffer_access(block, 0, "read", lambda vi: (vi - 1, vi + 2))

block           stays valid
buffer_index    which of the buffers it reads or writes: its number, its name or the buffer
buf_type        "read" or "write"
gen_new_ranges  from the block's axes to begin and end (exclusive) of each dimension, one after the other or as pairs, or to one
                index for each dimension
Raises          UserError if the block accesses an element outside of the region.
)");
}  // namespace tilewright::schedule
