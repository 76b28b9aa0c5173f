// dot_products: a sum of products of bytes or bfloat16 is computed in tiles of instructions that add groups of products:
// VNNI, AVX512-BF16, tiles of AMX where the target has them; on padded copies if its extents fill no groups or vectors.
//   127 x 61 by 61 x 93  ->  127 x 64 by 64 x 96, in vectors of 16 columns and groups of 4 terms
// Designs differ in the size of tiles: no samples, as the number of rows decides which instructions there are.
// Sums of integers are the same in any order; those of bfloat16 are added in groups, which is another order than the
// program's.
#include <algorithm>

#include "tilewright/schedule/default/choices.h"
#include "tilewright/schedule/default/cpu/dots.h"
#include "tilewright/schedule/default/cpu/rules.h"
#include "tilewright/schedule/default/cpu/tile_sum.h"
#include "tilewright/schedule/steps.h"
#include "tilewright/tune/rule.h"

namespace tilewright::tune {
namespace {
namespace steps = schedule::steps;
using schedule::BlockShape;
using schedule::SumPlan;

constexpr int64_t kGroup = 4, kShortGroup = 2;  // elements of 8 and of 16 bits in 32
constexpr int64_t kTileRows = 16;               // of a tile register

// What each axis becomes a multiple of.
std::vector<int64_t> paddings_of(const BlockShape& sum, const Features& features) {
  const bool has_bytes = sum.output()->dtype.is_int();
  const bool has_tiles = has_bytes ? features.dots.byte_tiles : features.dots.bfloat_tiles;
  std::vector<int64_t> paddings(sum.block->iter_vars.size(), 1);
  std::optional<size_t> row;
  for (size_t axis = 0; axis < paddings.size(); ++axis) {
    if (sum.block->iter_vars[axis]->iter_type == tir::IterType::kReduce)
      paddings[axis] = has_bytes ? kGroup : kShortGroup;
    else if (sum.last_axis() == axis)
      paddings[axis] = features.vector_bytes / 4;
    else
      row = axis;
  }
  if (row && has_tiles) paddings[*row] = kTileRows;
  return paddings;
}

// What was padded, as vectors.
void vectorize_copies(Schedule& sch, const std::vector<BlockRef>& copies, const Features& features) {
  for (BlockRef copy : copies) {
    if (!sch.is_alive(copy)) continue;
    if (const OrReason<BlockShape> shape = schedule::shape_of(sch, copy))
      schedule::vectorize_elements(sch, *shape, features);
  }
}

/// A tile of the sum; of another size if the rules cannot use this one.
struct Tile {
  int64_t rows, vectors;
  bool operator==(const Tile&) const = default;
};

// The sum in such tiles; nothing if one of `tried` came out, to which it is added otherwise.
OrReason<Schedule> design_of(Schedule sch, BlockRef block, const std::vector<BlockRef>& copies, Tile tile,
                             const Features& features, std::vector<Tile>* tried) {
  const std::pair<std::string_view, int64_t> wishes[] = {{"tile_rows", tile.rows},
                                                         {"tile_vectors", tile.vectors}};
  for (const auto& [name, value] : wishes) {
    if (value != schedule::kByRules)
      sch.call("annotate", block, std::string(schedule::kPlan) + std::string(name), value);
  }
  const BlockShape sum = *schedule::shape_of(sch, block);
  const OrReason<SumPlan> plan = schedule::plan_sum(sum, features);
  if (!plan) return plan.reason();
  if (!plan->dot) return plan->dot.reason();
  const Tile found{plan->tile.rows, plan->tile.vectors};
  if (std::ranges::find(*tried, found) != tried->end())
    return Reason(Reason::kOther, "the rules have no tile of {} x {}", tile.rows, tile.vectors);
  tried->push_back(found);
  const auto place = schedule::tile_by_plan(sch, sum, std::nullopt, *plan, sum.num_instances(), features, {});
  if (!place) return place.reason();
  vectorize_copies(sch, copies, features);
  if (sch.is_alive(block)) schedule::remove_plan(sch, block);
  return sch;
}

// That of the rules first.
std::vector<Tile> tiles_to_try(const Features& features) {
  std::vector<Tile> tiles{{schedule::kByRules, schedule::kByRules}};
  for (int64_t vectors : {1, 2, 4}) {
    for (int64_t rows = 1; rows <= features.num_vector_registers / 2; rows *= 2)
      tiles.push_back({rows, vectors});
  }
  return tiles;
}

// Pads the axes of `block`, if they need it; gives the blocks that do it.
std::vector<BlockRef> pad(Schedule& sch, BlockRef block, const BlockShape& shape, const Features& features) {
  sch.call("pad_einsum", block, paddings_of(shape, features));
  std::vector<BlockRef> copies = sch.call("get_producers", block).blocks();
  for (BlockRef consumer : sch.call("get_consumers", block).blocks()) copies.push_back(consumer);
  return copies;
}

OrReason<std::vector<Schedule>> apply(const Schedule& sch, BlockRef block, const Features& features) {
  const OrReason<BlockShape> shape = schedule::shape_of(sch, block);
  if (!shape) return shape.reason();
  if (!shape->is_reduction()) return Reason(Reason::kForm, "it is no reduction");
  const std::optional<size_t> column = shape->last_axis();
  if (!column) return schedule::why_no_last_axis(*shape);
  const OrReason<schedule::DotSum> dot = schedule::dot_sum(*shape, *column, features);
  if (!dot && dot.reason().kind != Reason::kTooSmall && dot.reason().kind != Reason::kCost)
    return dot.reason();
  Schedule start = sch;
  std::vector<Schedule> designs;
  std::optional<Reason> refused;
  try {
    const std::vector<BlockRef> copies = dot ? std::vector<BlockRef>{} : pad(start, block, *shape, features);
    std::vector<Tile> tried;
    for (const Tile tile : tiles_to_try(features)) {
      if (OrReason<Schedule> made = design_of(start, block, copies, tile, features, &tried))
        designs.push_back(std::move(*made));
      else if (!refused)
        refused = made.reason();
    }
  } catch (const Error& error) {
    if (error.kind() == Error::Kind::kInternal) throw;
    refused = Reason(Reason::kRefused, "{}", error.text());
  }
  if (designs.empty()) return *refused;
  designs.push_back(sch);
  return designs;
}

}  // namespace

extern constinit const RuleInfo dot_products_info{
    "dot_products", "sums of bytes and bfloat16 in tiles of instructions that add groups of products", 5,
    &apply};
}  // namespace tilewright::tune
