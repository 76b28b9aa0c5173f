#include "tilewright/schedule/stages/tile_intrinsic.h"

#include <algorithm>
#include <map>
#include <optional>

#include "tilewright/schedule/steps.h"
#include "tilewright/support/error.h"
#include "tilewright/te/operation.h"

namespace tilewright::schedule {
namespace {

bool is_reduce(const IterVar& axis) { return axis->iter_type == IterType::kReduce; }

// The axis of the operation that a leaf is a part of.
IterVar root_of(const TensorStage& stage, IterVar axis) {
  const std::vector<AxisStep>& steps = stage.steps();
  for (size_t n = steps.size(); n-- > 0;) {
    const auto* split = std::get_if<AxisSplit>(&steps[n]);
    if (split && (axis == split->outer || axis == split->inner)) axis = split->parent;
  }
  return axis;
}

// The loops of the tile in the order of the operation's axes, as the description has them.
std::vector<LoopRef> loops_of_tile(const StageTile& tile) {
  const std::vector<IterVar> roots = tile.stage.roots();
  std::multimap<long, LoopRef> placed;
  for (size_t n = tile.first; n < tile.leaves.size(); ++n) {
    const IterVar root = root_of(tile.stage, tile.leaves[n]);
    placed.emplace(std::find(roots.begin(), roots.end(), root) - roots.begin(), tile.loops[n]);
  }
  std::vector<LoopRef> loops;
  for (const auto& each : placed) loops.push_back(each.second);
  return loops;
}

// The loop over terms that is outside of the tile, the outermost of several.
std::optional<size_t> outer_reduction(const StageTile& tile) {
  for (size_t n = 0; n < tile.first; ++n) {
    if (is_reduce(tile.leaves[n])) return n;
  }
  return std::nullopt;
}

// What sets the results before terms are added: the loops of the tile among those of `init` are the innermost.
void tensorize_reset(Schedule& sch, const StageTile& tile, BlockRef init) {
  const auto count = static_cast<size_t>(std::count_if(tile.leaves.begin() + static_cast<long>(tile.first),
                                                       tile.leaves.end(),
                                                       [](const IterVar& leaf) { return !is_reduce(leaf); }));
  const std::vector<LoopRef> loops = steps::get_loops(sch, init);
  if (tile.intrinsic.reset.empty() || count == 0 || count > loops.size()) return;
  steps::tensorize(sch, loops[loops.size() - count], tile.intrinsic.reset);
}

}  // namespace

void tensorize_tile(Schedule& sch, const StageTile& tile) {
  const TileIntrinsic& intrinsic = tile.intrinsic;
  const std::vector<LoopRef> loops = loops_of_tile(tile);
  const bool is_in_order =
      std::equal(loops.begin(), loops.end(), tile.loops.begin() + static_cast<long>(tile.first));
  if (!is_in_order) steps::reorder(sch, loops);
  const bool is_reduction = !te::reduce_axes_of(tile.stage.op()).empty();
  const std::optional<size_t> outer = outer_reduction(tile);
  if (!outer && !intrinsic.whole.empty()) {
    sch.call("tensorize", loops[0], intrinsic.whole, false);  // without outer axes of one iteration
    return;
  }
  if (intrinsic.update.empty())
    throw UserError(
        "tensorize: loop {} of stage {} adds terms around the tile, and intrinsic {} has no update",
        outer ? tile.leaves[*outer]->var->name_hint : "", tile.stage.name(), intrinsic.name)
        .help("let fcompute return (body, reset, update)");
  if (!is_reduction) {
    steps::tensorize(sch, loops[0], intrinsic.update);
    return;
  }
  const BlockRef init = steps::decompose_reduction(sch, tile.block, outer ? tile.loops[*outer] : loops[0]);
  steps::tensorize(sch, loops[0], intrinsic.update);
  tensorize_reset(sch, tile, init);
}

}  // namespace tilewright::schedule
