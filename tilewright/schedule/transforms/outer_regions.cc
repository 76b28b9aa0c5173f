#include "tilewright/schedule/transforms/outer_regions.h"

#include <algorithm>

#include "tilewright/analysis/regions.h"

namespace tilewright::schedule {
namespace {

// A region found inside replaces one that does not hold all of it.
bool add_missing(const std::vector<BufferRegion>& found, std::vector<BufferRegion>* declared) {
  bool has_changed = false;
  for (const BufferRegion& region : found) {
    auto known = std::find_if(declared->begin(), declared->end(),
                              [&](const BufferRegion& each) { return each->buffer == region->buffer; });
    if (known != declared->end() && analysis::region_covers(*known, region)) continue;
    has_changed = true;
    if (known == declared->end())
      declared->push_back(region);
    else
      *known = region;
  }
  return has_changed;
}

}  // namespace

void complete_outer_regions(State& state, NodeId id) {
  for (id = state.scope_of(id); id != kNoNode && state.scope_of(id) != kNoNode; id = state.scope_of(id)) {
    const BlockRealizeNode* realize = state.node(id).realize();
    const analysis::AccessRegions found = analysis::access_regions(realize->block);
    std::vector<BufferRegion> reads = realize->block->reads, writes = realize->block->writes;
    const bool has_read = add_missing(found.reads, &reads), has_write = add_missing(found.writes, &writes);
    if (!has_read && !has_write) continue;
    const Block block = with(realize->block, [&](BlockNode& n) { n.reads = reads, n.writes = writes; });
    state.replace(id, with(realize, [&](BlockRealizeNode& n) { n.block = block; }),
                  {{realize->block.get(), block}});
  }
}

}  // namespace tilewright::schedule
