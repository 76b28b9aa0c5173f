#include "tilewright/schedule/default/cpu/panels.h"

#include <algorithm>

#include "tilewright/schedule/core/loops.h"
#include "tilewright/tir/builder.h"

namespace tilewright::schedule {
namespace {

// 0 if the column count is unknown.
int64_t num_panels(const BlockShape& sum, const SumPlan& plan) {
  const int64_t columns = sum.extent(plan.column);
  return columns > 0 ? (columns - 1) / plan.panel_width() + 1 : 0;
}

// The part of an operand that a tile reads: rows of vectors.
struct PanelBytes {
  int64_t row = 0, all = 0;
};
PanelBytes panel_bytes(const BlockShape& sum, const BufferLoadNode* load, const SumPlan& plan) {
  const int64_t row = plan.panel_width() * load->dtype.num_bytes();
  int64_t num_rows = 1;
  for (size_t axis : plan.steps) {
    if (!is_spatial(sum, axis) && along(sum, load, axis) != Along::kStays)
      num_rows = product(num_rows, sum.likely_extent(axis));
  }
  return {row, product(num_rows, row)};
}

// True if it pays to copy panels that L2 holds and L1 does not: if very many tiles read them, or if they have
// many rows, which lie so far apart that they share a few sets of L1 and each is in a page of its own.
bool is_worth_packing_near(const BlockShape& sum, const BufferLoadNode* load, const SumPlan& plan,
                           const Features& features) {
  const PanelBytes bytes = panel_bytes(sum, load, plan);
  if (product(bytes.all, num_panels(sum, plan)) <= features.l1_bytes) return false;
  const int64_t uses = num_uses(sum, load, plan);
  const bool is_far_apart = !plan.steps.empty() && stride_bytes(sum, load, plan.steps.back()).value_or(0) >=
                                                       kTileCosts.near_packed_stride;
  return uses >= kTileCosts.near_packed_uses ||
         (is_far_apart && num_steps(sum) >= kTileCosts.near_packed_rows &&
          uses >= 2 * kTileCosts.packed_uses);
}

// How far the next panel is, whose number is an index of its own; 0: its place is none such.
int64_t bytes_to_next_panel(const BlockShape& sum, const BufferLoadNode* load, const SumPlan& plan) {
  const VarNode* column = sum.block->iter_vars[plan.column]->var.get();
  const auto moves = [&](const PrimExpr& index) { return uses(index, column); };
  const auto& indices = load->indices;
  const auto panel = std::find_if(indices.begin(), indices.end(), moves);
  if (std::count_if(panel, indices.end(), moves) != 2) return 0;
  int64_t bytes = load->dtype.num_bytes();
  for (size_t dim = static_cast<size_t>(panel - indices.begin()) + 1; dim < indices.size(); ++dim) {
    int64_t extent = 0;
    if (!as_const_int(load->buffer->shape[dim], &extent)) return 0;
    bytes = product(bytes, extent);
  }
  return bytes;
}

// The columns that matrix tiles of all rows read after these: the next part of a panel, if a block of sums
// reads it in parts, else the next panel.
std::optional<NextPanel> next_columns_of(const BlockShape& sum, const BufferLoadNode* load,
                                         const SumPlan& plan, const Features& features) {
  const MatrixTile& tile = *plan.matrix;
  const int64_t panel = bytes_to_next_panel(sum, load, plan), terms = sum.extent(plan.dot->axis);
  if (sum.num_bytes(load->buffer) <= features.l2_bytes / 8 || panel == 0) return std::nullopt;
  // terms of several parts of numbers do not lie behind each other
  const bool is_in_parts = tile.terms < terms && plan.tile.vectors == tile.across && num_steps(sum) == terms;
  return NextPanel{is_in_parts ? panel / terms * tile.terms : panel, 0};
}

}  // namespace

bool is_spatial(const BlockShape& sum, size_t axis) {
  return sum.block->iter_vars[axis]->iter_type == IterType::kSpatial;
}

// How often tiles read an element of an operand, columns counted by panels.
int64_t num_uses(const BlockShape& sum, const BufferLoadNode* load, const SumPlan& plan) {
  int64_t uses = 1;
  for (size_t axis = 0; axis < sum.block->iter_vars.size(); ++axis) {
    if (!is_spatial(sum, axis) || axis == plan.column || along(sum, load, axis) != Along::kStays) continue;
    const int64_t rows = plan.matrix ? plan.matrix->rows : plan.rows;
    const int64_t tile = axis == plan.row ? rows : axis == plan.outer_row ? plan.outer_rows : 1;
    uses = product(uses, (sum.likely_extent(axis) - 1) / tile + 1);
  }
  return uses;
}

bool has_axes_only(const BufferLoadNode* load) {
  return std::all_of(load->indices.begin(), load->indices.end(),
                     [](const PrimExpr& index) { return is<VarNode>(index) || is<IntImmNode>(index); });
}

// Packing repeats what windows share: every index must be an axis of its own, no row, and all sums use them
// all.
bool is_plain_matrix(const BlockShape& sum, const BufferLoadNode* load, const SumPlan& plan) {
  for (size_t axis = 0; axis < sum.block->iter_vars.size(); ++axis) {
    const bool stays = along(sum, load, axis) == Along::kStays;
    if (!is_spatial(sum, axis) && stays && sum.extent(axis) > 1) return false;
    if ((axis == plan.row || axis == plan.outer_row) && !stays) return false;
  }
  return has_axes_only(load);
}

bool has_several_panels(const BlockShape& sum, const SumPlan& plan) {
  return sum.extent(plan.column) > plan.panel_width();
}

// A panel of a vector operand is worth a copy if many tiles read it, and the whole does not stay near the
// core: rows that lie a power of two apart share a few sets of L2.
bool is_worth_packing(const BlockShape& sum, const BufferLoadNode* load, const SumPlan& plan,
                      const Features& features) {
  if (!is_plain_matrix(sum, load, plan) || !has_several_panels(sum, plan)) return false;
  if (sum.num_bytes(load->buffer) <= features.l2_bytes / 2)
    return is_worth_packing_near(sum, load, plan, features);
  return num_uses(sum, load, plan) >= kTileCosts.packed_uses;
}

// How far ahead of the loop the vectors of `load` are fetched, which come one after the other: farther if
// they come from memory, so that arithmetic waits for it, and each is used by few tiles.
int64_t fetch_ahead_of(const BlockShape& sum, const BufferLoadNode* load, const SumPlan& plan,
                       const Features& features) {
  if (plan.matrix || !plan.fetched) return 0;
  const bool is_packed = plan.packed && load->buffer == plan.packed->buffer;
  const PanelBytes bytes = panel_bytes(sum, load, plan);
  if (!is_packed && stride_bytes(sum, load, *plan.fetched) != bytes.row) return 0;
  // an open number of rows may be 1
  const bool has_few_uses = num_uses(sum, load, plan) <= kTileCosts.fetched_uses ||
                            (plan.row && sum.likely_extent(*plan.row, 0) == 0);
  if (!is_packed && sum.num_bytes(load->buffer) > features.l2_bytes && has_few_uses)
    return features.far_fetch_bytes();
  return !plan.dot && bytes.all > features.l1_bytes / 2 ? features.near_fetch_bytes() : 0;
}

// How many panels are copied together: as many as L2 keeps beside rows, which each of them then finds there.
// As long as groups are as even for threads as panels are, and few of them have the last panel if that lacks
// vectors: sums of a loop with whole tiles and parts of them do not stay in registers.
int64_t copied_panels_of(const BlockShape& sum, const SumPlan& plan, const Features& features) {
  if (plan.dot || plan.matrix) return 1;
  const auto ceil_div = [](int64_t a, int64_t b) { return (a - 1) / b + 1; };
  const bool is_last_whole = sum.extent(plan.column) % plan.panel_width() == 0;
  const int64_t panels = num_panels(sum, plan), cores = features.num_cores,
                least_groups =
                    std::max(cores > 1 ? 2 * cores : 1, is_last_whole ? 1 : kTileCosts.short_groups),
                bytes = panel_bytes(sum, plan.packed, plan).all;
  int64_t together = std::min(features.l2_bytes / 2 / std::max<int64_t>(1, bytes), panels / least_groups);
  const auto is_even = [&] {
    return panels % together == 0 && ceil_div(panels / together, cores) * together <= ceil_div(panels, cores);
  };
  while (together > 1 && !is_even()) --together;
  return std::max<int64_t>(1, together);
}

// The next panel, if it is fetched while this one is multiplied, by the tiles of all rows: without it the
// first of them waits for memory, and the others leave it idle.  Only if both panels fit into L2, and rows
// are not so many that the wait hardly counts; for matrix tiles, which are faster, always.
std::optional<NextPanel> next_panel_of(const BlockShape& sum, const BufferLoadNode* load, const SumPlan& plan,
                                       const Features& features) {
  if (plan.matrix) return next_columns_of(sum, load, plan, features);
  const PanelBytes bytes = panel_bytes(sum, load, plan);
  const int64_t uses = num_uses(sum, load, plan);
  if (plan.dot || plan.packed || plan.steps.empty() || sum.num_bytes(load->buffer) <= features.l2_bytes / 8 ||
      uses < 2 || uses > kTileCosts.next_panel_uses || bytes.all == 0 || bytes.all > features.l2_bytes / 3 ||
      stride_bytes(sum, load, plan.steps.back()) != bytes.row)
    return std::nullopt;
  const int64_t distance = bytes_to_next_panel(sum, load, plan);
  return distance > 0 ? std::optional(NextPanel{distance, bytes.row}) : std::nullopt;
}

}  // namespace tilewright::schedule
