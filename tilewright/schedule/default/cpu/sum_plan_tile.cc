// Plan of a sum, part register tile: counts the loads of one step and lets register_tile.h choose by them.
#include <algorithm>
#include <numeric>

#include "tilewright/ir/walk.h"
#include "tilewright/schedule/default/cpu/sum_plan.h"
#include "tilewright/tir/op.h"
#include "tilewright/tir/uses.h"

namespace tilewright::schedule {
namespace {

// The extent of `axis`; if that is unknown, a likely one where the guards of a tile leave its loops, because each
// row reads what is its own (lower/common/open_rows.h), or windows of vectors (lower/common/smaller_tiles.h); else
// as many rows as a tile takes.  Measured on a Zen 4: of 1 x 1 convolutions by tiles of 14 rows with guards,
// 15 x 15 pixels take 1.15 times as long as by tiles of 4.
int64_t num_rows(const BlockShape& sum, size_t axis, const std::vector<const BufferLoadNode*>& vectors) {
  if (sum.extent(axis)) return sum.extent(axis);
  if (vectors.size() == sum.loads.size()) return sum.likely_extent(axis, kTileCosts.open_rows);
  const VarNode* row = sum.block->iter_vars[axis]->var.get();
  const bool is_free = std::all_of(sum.loads.begin(), sum.loads.end(), [&](const BufferLoadNode* load) {
    return std::all_of(load->indices.begin(), load->indices.end(),
                       [&](const PrimExpr& index) { return index.get() == row || !uses(index, row); });
  });
  return is_free ? sum.likely_extent(axis) : kTileCosts.open_rows;
}

// Where each row has vectors of its own, as in pooling by two, a tile is one row of neighbours in memory:
// nothing is gained by others, whose lines lie apart.
std::optional<RegisterTile> tile_of_neighbours(const BlockShape& sum, const SumPlan& plan,
                                               const std::vector<const BufferLoadNode*>& vectors,
                                               int64_t lanes) {
  constexpr int64_t kMostVectors = 8;
  const bool has_own = plan.row && !plan.dot && vectors.size() == sum.loads.size() &&
                       std::all_of(vectors.begin(), vectors.end(), [&](const BufferLoadNode* load) {
                         const int64_t own_bytes =
                             sum.extent(plan.column) * std::max<int64_t>(1, load->dtype.num_bytes());
                         return along(sum, load, plan.column) == Along::kContiguous &&
                                stride_bytes(sum, load, *plan.row).value_or(0) >= 2 * own_bytes;
                       });
  const int64_t num_vectors = sum.extent(plan.column) / lanes;
  if (!has_own || num_vectors < 2) return std::nullopt;
  RegisterTile tile{.rows = 1, .vectors = std::min(num_vectors, kMostVectors), .lanes = lanes};
  while (num_vectors % tile.vectors != 0 && 2 * tile.vectors > kMostVectors) --tile.vectors;
  return tile;
}

// True if panels come from beyond L2, or at least through it, for each of few rows of tiles: neither a panel
// stays in L1, nor all panels in L2.
bool are_panels_far(const BlockShape& sum, const std::vector<const BufferLoadNode*>& vectors,
                    const SumPlan& plan, const Features& features) {
  if (num_steps(sum) <= features.l1_bytes / (4 * features.vector_bytes)) return false;
  int64_t num_rows = plan.row ? sum.likely_extent(*plan.row) : 1;
  for (size_t axis : plan.others) num_rows = product(num_rows, sum.likely_extent(axis));
  return num_rows <= kTileCosts.hidden_rows &&
         std::any_of(vectors.begin(), vectors.end(),
                     [&](const auto* load) { return sum.num_bytes(load->buffer) > features.l2_bytes / 2; });
}

// True if rows of panels that are read where they are lie so far apart that they share a few sets of L1: each
// tile then reads its panel from L2.
bool do_panels_conflict(const BlockShape& sum, const std::vector<const BufferLoadNode*>& vectors,
                        const SumPlan& plan, const Features& features) {
  std::optional<size_t> innermost;
  for (size_t axis = 0; axis < sum.block->iter_vars.size(); ++axis) {
    if (sum.block->iter_vars[axis]->iter_type == IterType::kReduce && sum.extent(axis) > 1) innermost = axis;
  }
  if (!innermost || plan.dot) return false;
  return std::any_of(vectors.begin(), vectors.end(), [&](const BufferLoadNode* load) {
    const bool may_be_packed = load == plan.packed || sum.num_bytes(load->buffer) > features.l2_bytes / 2;
    const int64_t stride = stride_bytes(sum, load, *innermost).value_or(0);
    return !may_be_packed && stride >= kTileCosts.conflict_stride &&
           num_kept_rows(stride, features) < sum.extent(*innermost);
  });
}

// True if a tile takes all of the row axis, and some of the next one.
bool takes_rows_whole(const BlockShape& sum, const SumPlan& plan, int64_t row_extent, bool is_far,
                      const Features& features) {
  if (!plan.row || plan.others.empty() || sum.likely_extent(plan.others.back(), 0) <= 1) return false;
  if (row_extent <= kTileCosts.short_row) return true;
  if (row_extent > kTileCosts.short_far_row || !is_far) return false;
  return std::all_of(sum.loads.begin(), sum.loads.end(), [&](const BufferLoadNode* load) {
    const std::optional<int64_t> stride = stride_bytes(sum, load, *plan.row);
    return stride && (*stride == 0 || num_kept_rows(*stride, features) >= 2 * row_extent);
  });
}

// True if the rows of an operand that is read where it is do not begin with a vector: parts of larger rows,
// as of groups of channels, or rows of odd length.
bool is_misaligned(const BlockShape& sum, const BufferLoadNode* load, int64_t vector_bytes) {
  for (size_t axis = 0; axis < sum.block->iter_vars.size(); ++axis) {
    if (along(sum, load, axis) != Along::kStrided || sum.extent(axis) <= 1) continue;
    if (stride_bytes(sum, load, axis).value_or(0) % vector_bytes != 0) return true;
  }
  return false;
}

// True of vectors of integers whose products are added as floats.
bool has_integers(const BlockShape& sum, const std::vector<const BufferLoadNode*>& vectors) {
  return sum.output()->dtype.is_float() &&
         std::any_of(vectors.begin(), vectors.end(), [](const BufferLoadNode* load) {
           return load->dtype.is_int() || load->dtype.is_uint();
         });
}

// The instructions that make factors of integers: the operations on vectors alone.
int64_t num_conversions(const BlockShape& sum, const std::vector<const BufferLoadNode*>& vectors) {
  if (!has_integers(sum, vectors)) return 0;
  const auto is_vector = [&](const BufferLoadNode* load) {
    return std::find(vectors.begin(), vectors.end(), load) != vectors.end();
  };
  int64_t count = 0;
  ir::walk(sum.store->value, [&](const PrimExprNode* node) {
    const PrimExpr expr(node);
    bool has_vectors = false, has_others = false;
    ir::walk(expr, [&](const BufferLoadNode* load) { (is_vector(load) ? has_vectors : has_others) = true; });
    const bool is_operation =
        !expr.as<BufferLoadNode>() && !is_call_of(expr.as<CallNode>(), "tir.reinterpret");
    count += is_operation && has_vectors && !has_others;
  });
  return count;
}

// The least vectors of a tile.  Converting takes so long that about one multiply-add starts in a cycle: an open
// number of rows may be 1, and sums of one row do not wait for each other if they are as many as one takes
// cycles.  Unless registers then hold few rows.
int64_t least_vectors_of(const BlockShape& sum, const SumPlan& plan, const TileLoads& loads,
                         const Features& features) {
  const int64_t latency = features.rates.fma_latency;
  const bool is_open = plan.row && sum.extent(*plan.row) == 0,
             has_room = latency * (latency + 2) <= features.num_vector_registers;
  return loads.conversions > 0 && is_open && has_room ? latency : 1;
}

// How many vectors a column of vectors, and how many scalars a row needs in one step.
TileLoads loads_of(const BlockShape& sum, const SumPlan& plan,
                   const std::vector<const BufferLoadNode*>& vectors, const Features& features,
                   bool is_packing_free) {
  TileLoads loads;
  for (const BufferLoadNode* load : sum.loads) {
    const bool is_vector = std::find(vectors.begin(), vectors.end(), load) != vectors.end();
    loads.vectors += is_vector;
    loads.misaligned += is_vector && !is_packing_free && load != plan.packed &&
                        is_misaligned(sum, load, features.vector_bytes);
    if (!plan.row || along(sum, load, *plan.row) == Along::kStays) continue;
    ++(is_vector ? loads.own_vectors : loads.rows);
    if (is_vector) continue;
    const int64_t stride = stride_bytes(sum, load, *plan.row).value_or(0);
    if (stride > 0) loads.kept_rows = std::min(loads.kept_rows, num_kept_rows(stride, features));
  }
  // vectors of several groups have scalars of their own: few columns are better than few loads
  const bool is_grouped = std::any_of(sum.loads.begin(), sum.loads.end(), [&](const BufferLoadNode* load) {
    return std::find(vectors.begin(), vectors.end(), load) == vectors.end() &&
           along(sum, load, plan.column) != Along::kStays;
  });
  if (!plan.dot && !is_grouped) loads.steps = num_steps(sum);
  return loads;
}

// Numbers that are taken out of words need the word, what is left of it, and a mask.
int64_t num_reserved_registers(const BlockShape& sum, const std::vector<const BufferLoadNode*>& vectors) {
  const bool has_words = has_integers(sum, vectors) &&
                         std::any_of(vectors.begin(), vectors.end(), [](const BufferLoadNode* load) {
                           return !load->dtype.is_float() && load->dtype.bits == 32;
                         });
  return has_words ? 2 : 0;
}

// The tile that the plan of the block names, if registers hold its sums and its vectors, and panels that are
// already packed are as wide.
void take_planned_tile(const BlockShape& sum, const TileLoads& loads, bool is_in_fixed_panels, bool is_whole,
                       int64_t num_rows, int64_t num_columns, int64_t row_step, const Features& features,
                       RegisterTile& tile) {
  const int64_t rows = sum.planned("tile_rows", tile.rows),
                vectors = is_in_fixed_panels ? tile.vectors : sum.planned("tile_vectors", tile.vectors),
                num_vectors = (num_columns - 1) / tile.lanes + 1,
                registers = rows * vectors + vectors * loads.vectors + 1;
  if (rows < 1 || vectors < 1 || rows > num_rows || vectors > num_vectors || rows % row_step != 0) return;
  if (registers > features.num_vector_registers || (is_whole && num_vectors % vectors != 0)) return;
  tile.rows = rows;
  tile.vectors = vectors;
}

}  // namespace

int64_t num_kept_rows(int64_t stride_bytes, const Features& features) {
  const int64_t way_bytes = std::max<int64_t>(1, features.l1_bytes / features.l1_ways);
  return features.l1_ways * (way_bytes / std::gcd(stride_bytes, way_bytes));
}

// Rows that are too few for a good tile are taken whole, together with some of the next axis.
void choose_tile(const BlockShape& sum, const std::vector<const BufferLoadNode*>& vectors, int64_t lanes,
                 const Features& features, bool is_packing_free, SumPlan& plan) {
  if (const auto tile = tile_of_neighbours(sum, plan, vectors, lanes)) {
    plan.tile = *tile;
    plan.rows = 1;
    return;
  }
  const int64_t element_bytes = std::max<int64_t>(1, sum.output()->dtype.num_bytes());
  Features with_lanes = features;
  with_lanes.vector_bytes = lanes * element_bytes;
  with_lanes.num_vector_registers -= num_reserved_registers(sum, vectors);
  choose_matrix_tile(sum, plan, with_lanes);
  if (plan.matrix) return;
  TileLoads loads = loads_of(sum, plan, vectors, with_lanes, is_packing_free);
  loads.conversions = num_conversions(sum, vectors);
  loads.least_vectors = least_vectors_of(sum, plan, loads, with_lanes);
  if (plan.groups) loads.steps = product(loads.steps, sum.likely_extent(*plan.groups));
  loads.window = size_of_windows(sum, plan, vectors, features);
  loads.is_far = are_panels_far(sum, vectors, plan, features);
  // what lies in panels has the tile that it was packed for
  const bool are_panels_packed = std::any_of(vectors.begin(), vectors.end(), [&](const auto* load) {
    return is_in_panels(load->buffer, load->indices, sum.block->iter_vars[plan.column]->var);
  });
  is_packing_free |= !plan.dot && are_panels_packed;
  if (!is_packing_free) {
    loads.far_pieces = std::count_if(vectors.begin(), vectors.end(), [&](const auto* load) {
      const bool is_shared = !plan.row || along(sum, load, *plan.row) == Along::kStays;
      return is_shared && load != plan.packed && sum.num_bytes(load->buffer) > features.l2_bytes / 2;
    });
  }
  const bool is_whole = static_cast<bool>(plan.dot);  // dot products have no masks
  const int64_t row_extent = plan.row ? num_rows(sum, *plan.row, vectors) : 1,
                columns = sum.likely_extent(plan.column);
  int64_t rows = row_extent, row_step = 1;
  if (takes_rows_whole(sum, plan, row_extent, loads.is_far, features)) {
    plan.outer_row = plan.others.back();
    plan.others.pop_back();
    rows = product(row_extent, sum.likely_extent(*plan.outer_row, 0));
    row_step = row_extent;
  }
  loads.is_read_again =
      std::any_of(plan.others.begin(), plan.others.end(), [&](size_t axis) { return sum.extent(axis) != 1; });
  loads.is_far |= !is_packing_free && do_panels_conflict(sum, vectors, plan, features);
  plan.tile = choose_register_tile(rows, columns, element_bytes, loads, with_lanes, is_whole, row_step);
  take_planned_tile(sum, loads, are_panels_packed, is_whole, rows, columns, row_step, with_lanes, plan.tile);
  plan.rows = plan.outer_row ? row_extent : plan.tile.rows;
  plan.outer_rows = plan.tile.rows / plan.rows;
}

}  // namespace tilewright::schedule
