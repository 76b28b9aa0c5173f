// B = T.match_buffer(A[i:i + n, ...], shape): accesses of B become accesses of A; B's symbolic strides and
// offset are replaced by their values.
#include "tilewright/ir/rewrite.h"
#include "tilewright/lower/common/ramps.h"
#include "tilewright/lower/step.h"
#include "tilewright/support/error.h"
#include "tilewright/tir/builder.h"
#include "tilewright/tir/strides.h"

namespace tilewright::lower {
namespace {

struct View {
  BufferRegion source;
  size_t num_leading;  // leading dimensions of the source that the view does not have; their extent is 1
};
using Views = std::unordered_map<const BufferNode*, View>;

// Binds the symbolic shape, strides and elem_offset of the view to their values.
void bind_view(const MatchBufferRegion& match, const View& view, Substitution* values) {
  const std::vector<PrimExpr> strides = strides_of(match->source->buffer);
  auto bind = [&](const PrimExpr& pattern, const PrimExpr& value) {
    const auto* var = pattern.as<VarNode>();
    if (var && !values->count(var)) (*values)[var] = cast(var->dtype, value);
  };
  for (size_t axis = 0; axis < match->buffer->shape.size(); ++axis) {
    bind(match->buffer->shape[axis], match->source->region[axis + view.num_leading]->extent);
    if (!match->buffer->strides.empty()) bind(match->buffer->strides[axis], strides[axis + view.num_leading]);
  }
  if (!match->buffer->elem_offset) return;
  PrimExpr offset = match->source->buffer->elem_offset ? match->source->buffer->elem_offset : imm(0);
  for (size_t axis = 0; axis < strides.size(); ++axis)
    offset = offset + match->source->region[axis]->min * strides[axis];
  bind(match->buffer->elem_offset, offset);
}

// A ramp stays a ramp, so that later passes can see its range.
PrimExpr shifted(const PrimExpr& first, const PrimExpr& index) {
  const auto* ramp = index.as<RampNode>();
  return ramp && first->dtype.is_scalar() ? PrimExpr(with_base(ramp, first + ramp->base)) : first + index;
}

template <class Node>
std::vector<PrimExpr> source_indices(const Node& access, const View& view) {
  std::vector<PrimExpr> indices;
  for (size_t axis = 0; axis < view.source->region.size(); ++axis) {
    PrimExpr index = view.source->region[axis]->min;
    if (axis >= view.num_leading) index = shifted(index, access->indices[axis - view.num_leading]);
    indices.push_back(std::move(index));
  }
  return indices;
}

// Translates a region of the view to a region of its source.
BufferRegion source_region(const BufferRegion& region, const View& view) {
  std::vector<Range> ranges;
  for (size_t axis = 0; axis < view.source->region.size(); ++axis) {
    const Range& whole = view.source->region[axis];
    if (axis < view.num_leading) {
      ranges.push_back(whole);
      continue;
    }
    const Range& part = region->region[axis - view.num_leading];
    ranges.push_back(make_range(whole->min + part->min, part->extent));
  }
  return BufferRegionNode::make(view.source->buffer, std::move(ranges));
}

PrimFunc lower_match_buffer(const PrimFunc& func) {
  Views views;
  return rewrite(
      func,
      [&](auto& self, const BlockNode* node) -> Stmt {
        if (node->match_buffers.empty()) return self.children(node);
        Substitution values;
        for (const MatchBufferRegion& match : node->match_buffers) {
          const size_t ndim = match->buffer->shape.size(), source_ndim = match->source->region.size();
          TILEWRIGHT_CHECK(ndim <= source_ndim, "match_buffer: {} has {} dimensions, its source {}",
                           match->buffer->name, ndim, source_ndim);
          const View view{match->source, source_ndim - ndim};
          bind_view(match, view, &values);
          values[match->buffer->data.get()] = match->source->buffer->data;
          views[match->buffer.get()] = view;
        }
        Block bare = with(node, [](BlockNode& changed) { changed.match_buffers.clear(); });
        return self.children(substitute(bare, values).get());
      },
      [&](auto& self, const BufferLoadNode* node) -> PrimExpr {
        BufferLoad load = self.children(node);
        auto view = views.find(load->buffer.get());
        if (view == views.end()) return load;
        return self(PrimExpr(BufferLoadNode::make(view->second.source->buffer,
                                                  source_indices(load, view->second), load->predicate)));
      },
      [&](auto& self, const BufferStoreNode* node) -> Stmt {
        BufferStore store = self.children(node);
        auto view = views.find(store->buffer.get());
        if (view == views.end()) return store;
        return self(Stmt(BufferStoreNode::make(view->second.source->buffer, store->value,
                                               source_indices(store, view->second), store->predicate)));
      },
      [&](auto& self, const BufferRegionNode* node) -> ObjectRef {
        const BufferRegion region = ref_as<BufferRegionNode>(self.children(node));
        auto view = views.find(region->buffer.get());
        if (view == views.end()) return region;
        return self(ObjectRef(source_region(region, view->second)));
      });
}

}  // namespace

extern constinit const StepInfo lower_match_buffer_info = {
    .name = "lower_match_buffer",
    .doc = "views of regions are accesses of what they view",
    .uses = kBlocks,
    .ends = kViews,
    .run = without_options<lower_match_buffer>,
};

}  // namespace tilewright::lower
