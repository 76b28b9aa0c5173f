#include "tilewright/te/regions.h"

#include <optional>

#include "tilewright/ir/services.h"
#include "tilewright/ir/walk.h"
#include "tilewright/tir/builder.h"

namespace tilewright::te {
namespace {
using namespace tir;

// index = base + offset with constant offset
struct Shifted {
  PrimExpr base;  // null: 0
  int64_t offset;
};

Shifted split_offset(const PrimExpr& index) {
  int64_t value;
  if (as_const_int(index, &value)) return {nullptr, value};
  if (const auto* add = index.as<AddNode>(); add && as_const_int(add->b, &value)) {
    Shifted inner = split_offset(add->a);
    return {inner.base, inner.offset + value};
  }
  if (const auto* sub = index.as<SubNode>(); sub && as_const_int(sub->b, &value)) {
    Shifted inner = split_offset(sub->a);
    return {inner.base, inner.offset - value};
  }
  return {index, 0};
}

bool reads_memory(const PrimExpr& index) {
  bool found = false;
  walk(index, [&](const BufferLoadNode*) { found = true; });
  return found;
}

Range whole(const Buffer& buffer, size_t axis) {
  const PrimExpr& extent = buffer->shape[axis];
  return make_range(make_const_int(extent->dtype, 0), extent);
}

// The indices met in one dimension: all base + offsets[low .. high], or everything.
struct Touched {
  PrimExpr base, first;
  int64_t low = 0, high = 0;
  bool everything = false;

  void add(const PrimExpr& index) {
    if (everything || reads_memory(index)) {
      everything = true;
      return;
    }
    const Shifted shifted = split_offset(index);
    if (!first) {
      first = index;
      base = shifted.base;
      low = high = shifted.offset;
      return;
    }
    const bool same_base = (!base && !shifted.base) || (base && shifted.base && structural_equal(base, shifted.base));
    if (!same_base) everything = true;
    low = std::min(low, shifted.offset);
    high = std::max(high, shifted.offset);
  }
  Range range(const Buffer& buffer, size_t axis) const {
    if (everything) return whole(buffer, axis);
    if (low == high) return make_range(first, make_const_int(first->dtype, 1));
    PrimExpr min = base ? base + low : make_const_int(first->dtype, low);
    return make_range(min, make_const_int(first->dtype, high - low + 1));
  }
};

}  // namespace

std::vector<BufferRegion> read_regions(const std::vector<PrimExpr>& values) {
  std::vector<std::pair<Buffer, std::vector<Touched>>> found;
  auto visit = [&](const BufferLoadNode* load) {
    auto it = std::find_if(found.begin(), found.end(), [&](const auto& entry) { return entry.first == load->buffer; });
    if (it == found.end()) it = found.insert(found.end(), {load->buffer, std::vector<Touched>(load->indices.size())});
    for (size_t axis = 0; axis < load->indices.size(); ++axis) it->second[axis].add(load->indices[axis]);
  };
  for (const PrimExpr& value : values) walk(value, visit);

  std::vector<BufferRegion> regions;
  for (const auto& [buffer, axes] : found) {
    std::vector<Range> region;
    for (size_t axis = 0; axis < axes.size(); ++axis) region.push_back(axes[axis].range(buffer, axis));
    regions.push_back(BufferRegionNode::make(buffer, std::move(region)));
  }
  return regions;
}

}  // namespace tilewright::te
