// multi_level_tiling: the loops of a sum become tiles for threads, caches and registers, of sampled sizes.
//   for i, j, k  ->  for i0, j0: for i1, j1: for k0: for i2, j2: for k1: for i3: vectorized j3
// Only the outermost summed axis is cut, and the others stay inside of it, so that each sum adds its terms in
// the order of the program.  Source: Zheng et al., Ansor, OSDI 2020, section 4.1 (structure "SSRSRS").
#include "tilewright/schedule/default/cpu/shape.h"
#include "tilewright/schedule/steps.h"
#include "tilewright/tune/rule.h"

namespace tilewright::tune {
namespace {
namespace steps = schedule::steps;
using schedule::BlockShape;
using schedule::ExprRef;
using schedule::LoopRef;

constexpr int64_t kSpatialTiles = 4, kReductionTiles = 2, kMostInnermost = 64;

std::vector<LoopRef> tiled(Schedule& sch, LoopRef loop, int64_t count) {
  const std::vector<ExprRef> sizes = sch.call("sample_perfect_tile", loop, count, kMostInnermost).exprs();
  return steps::split(sch, loop, schedule::Factors(sizes.begin(), sizes.end()));
}

/// The loops of a block by what they do; of spatial ones that of contiguous results comes last.
struct Loops {
  std::vector<LoopRef> spatial, reducing;
};

OrReason<Loops> loops_of(Schedule& sch, const BlockShape& sum) {
  const std::vector<LoopRef> all = steps::get_loops(sch, sum.ref);
  const std::optional<size_t> last = sum.last_axis();
  Loops loops;
  std::vector<LoopRef> contiguous;
  for (size_t axis = 0; axis < sum.block->iter_vars.size(); ++axis) {
    if (sum.extent(axis) == 0) return schedule::open_extent(sum, axis);
    const std::vector<LoopRef> found = schedule::loops_of_axis(sch, sum.ref, axis, all);
    if (found.size() > 1) return Reason(Reason::kForm, "axis {} has several loops", axis_name(sum, axis));
    const bool is_spatial = sum.block->iter_vars[axis]->iter_type == tir::IterType::kSpatial;
    std::vector<LoopRef>& list = !is_spatial ? loops.reducing : axis == last ? contiguous : loops.spatial;
    list.insert(list.end(), found.begin(), found.end());
  }
  loops.spatial.insert(loops.spatial.end(), contiguous.begin(), contiguous.end());
  if (loops.spatial.empty()) return Reason(Reason::kForm, "there is a single result");
  if (loops.reducing.empty()) return Reason(Reason::kForm, "no loop adds terms");
  return loops;
}

// The block tiled; `where` says at which level of tiles the results are copied out of a tile of their own: 0
// nowhere, 1 outside of the tiles for caches, 2 inside.
Schedule design_of(Schedule sch, BlockRef block, Loops loops, int where, const Features& features) {
  std::optional<BlockRef> writer;
  if (where > 0) writer = steps::cache_write(sch, block, steps::written_buffer(0), "global");
  std::vector<std::vector<LoopRef>> levels(kSpatialTiles);
  for (LoopRef loop : loops.spatial) {
    const std::vector<LoopRef> tiles = tiled(sch, loop, kSpatialTiles);
    for (size_t level = 0; level < tiles.size(); ++level) levels[level].push_back(tiles[level]);
  }
  const std::vector<LoopRef> terms = tiled(sch, loops.reducing[0], kReductionTiles);
  std::vector<LoopRef> order = levels[0];
  const auto add = [&](const std::vector<LoopRef>& more) {
    order.insert(order.end(), more.begin(), more.end());
  };
  add(levels[1]);
  add({terms[0]});
  add(levels[2]);
  add({terms[1]});
  add({loops.reducing.begin() + 1, loops.reducing.end()});
  add(levels[3]);
  steps::reorder(sch, order);
  const LoopRef outer = levels[0].size() > 1 ? steps::fuse(sch, levels[0]) : levels[0][0];
  if (writer) steps::reverse_compute_at(sch, *writer, where == 1 ? outer : levels[1].back());
  if (features.num_cores > 1) steps::parallel(sch, outer);
  for (size_t n = 0; n + 1 < levels[3].size(); ++n) steps::unroll(sch, levels[3][n]);
  steps::vectorize(sch, levels[3].back());
  const BlockRef init = steps::decompose_reduction(sch, block, terms[0]);
  steps::vectorize(sch, steps::get_loops(sch, init).back());
  return sch;
}

OrReason<std::vector<Schedule>> apply(const Schedule& sch, BlockRef block, const Features& features) {
  const OrReason<BlockShape> shape = schedule::shape_of(sch, block);
  if (!shape) return shape.reason();
  if (!shape->is_reduction()) return Reason(Reason::kForm, "it is no reduction");
  Schedule start = sch;
  const OrReason<Loops> loops = loops_of(start, *shape);
  if (!loops) return loops.reason();
  std::vector<Schedule> designs;
  std::string refused;
  for (int where = 0; where <= 2; ++where) {
    try {
      designs.push_back(design_of(start, block, *loops, where, features));
    } catch (const Error& error) {
      if (error.kind() == Error::Kind::kInternal) throw;
      refused = error.text();
    }
  }
  if (designs.empty()) return Reason(Reason::kRefused, "{}", refused);
  return designs;
}

}  // namespace

extern constinit const RuleInfo multi_level_tiling_info{
    "multi_level_tiling", "the loops of a sum become tiles for threads, caches and registers", 20, &apply};
}  // namespace tilewright::tune
