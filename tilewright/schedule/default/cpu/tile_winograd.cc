// Rule tile_winograd: sums between small transforms, as Winograd's convolutions have them.
//   inner = B^T d,  data = inner B                     of small tiles: a, b are axes of a few values
//   sum[a, b, tile, o] += data[a, b, tile, c] * U[a, b, c, o]
//   rows = A^T sum,  result[h, w, o] = rows A          tile (h // m, w // m)
//   ->  for strips of tiles: data, with inner in registers, for all a, b;  the sum in register tiles;
//           result, with rows in registers, for all of a tile
// A border around d is read where it is, not copied.
// A formula that differs from value to value of a small axis is written out for each value.
#include <algorithm>

#include "tilewright/ir/walk.h"
#include "tilewright/schedule/core/loops.h"
#include "tilewright/schedule/default/cpu/rules.h"
#include "tilewright/schedule/default/cpu/sum_plan.h"
#include "tilewright/schedule/steps.h"
#include "tilewright/tir/block_roles.h"
#include "tilewright/tir/builder.h"

namespace tilewright::schedule {
namespace {

struct Parts {
  const BlockShape *padding, *inner, *data, *sum, *rows, *result;  // padding: null, if there is none
};

const BlockShape* only_reader_of(const std::vector<BlockShape>& shapes, const BlockShape& writer) {
  const BlockShape* found = nullptr;
  for (const BlockShape& shape : shapes) {
    if (shape.ref == writer.ref || !reads(shape, writer.output())) continue;
    if (found) return nullptr;
    found = &shape;
  }
  return found;
}

// The padded image, if only `inner` reads it.
const BlockShape* padding_of(const std::vector<BlockShape>& shapes, const BlockShape& inner) {
  for (const BlockShape& shape : shapes) {
    if (!is_padding(shape) || !reads(inner, shape.output())) continue;
    const auto num_readers = std::count_if(shapes.begin(), shapes.end(), [&](const BlockShape& reader) {
      return reads(reader, shape.output());
    });
    return num_readers == 1 ? &shape : nullptr;
  }
  return nullptr;
}

OrReason<Parts> parts_of(const std::vector<BlockShape>& shapes, const BlockShape& sum) {
  Parts parts{};
  parts.sum = block_in_role(shapes, kWinogradProducts);
  parts.inner = block_in_role(shapes, kWinogradColumns);
  parts.data = block_in_role(shapes, kWinogradPatches);
  parts.rows = block_in_role(shapes, kWinogradRows);
  if (!parts.sum || parts.sum->ref != sum.ref)
    return Reason(Reason::kOther, "it has not the role {}", kWinogradProducts);
  const std::pair<const BlockShape*, std::string_view> others[] = {
      {parts.inner, kWinogradColumns}, {parts.data, kWinogradPatches}, {parts.rows, kWinogradRows}};
  for (const auto& [part, role] : others)
    if (!part) return Reason(Reason::kForm, "no block, or more than one, has the role {}", role);
  // with what was fused to it
  parts.result = only_reader_of(shapes, *parts.rows);
  if (!parts.result)
    return Reason(Reason::kForm, "not exactly one block reads {}", parts.rows->output()->name);
  if (!is_chosen_by_axis(*parts.result))
    return Reason(Reason::kForm, "block {} does not differ by the place in a tile",
                  parts.result->block->name_hint);
  parts.padding = padding_of(shapes, *parts.inner);
  return parts;
}

// The axes of results: h and w, which are in tile (h // m, w // m), and m.
struct ResultAxes {
  std::vector<size_t> tiled, others;  // axes; the last of the others is that of the vectors
  int64_t tile = 0;
};
OrReason<ResultAxes> axes_of(const Parts& parts) {
  const BlockShape& result = *parts.result;
  ResultAxes axes;
  const auto load = std::find_if(result.loads.begin(), result.loads.end(), [&](const BufferLoadNode* each) {
    return each->buffer == parts.rows->output();
  });
  for (size_t axis = 0; axis < result.block->iter_vars.size(); ++axis) {
    bool is_tiled = false;
    for (const PrimExpr& index : (*load)->indices) {
      const auto* quotient = index.as<FloorDivNode>();
      int64_t divisor;
      if (!quotient || quotient->a.get() != result.block->iter_vars[axis]->var.get() ||
          !as_const_int(quotient->b, &divisor) || (axes.tile && axes.tile != divisor))
        continue;
      axes.tile = divisor;
      is_tiled = true;
    }
    (is_tiled ? axes.tiled : axes.others).push_back(axis);
  }
  if (axes.tiled.size() != 2)
    return Reason(Reason::kForm, "{} axes of block {} are in tiles, not two", axes.tiled.size(),
                  result.block->name_hint);
  if (axes.others.empty() || result.last_axis() != axes.others.back())
    return Reason(Reason::kForm, "channels are not the last axis of block {}", result.block->name_hint);
  return axes;
}

// `producer` in registers, at the loop over vectors of its consumer.
void compute_in_registers(Schedule& sch, const BlockShape& producer, LoopRef place) {
  steps::compute_at(sch, producer.ref, place);
  steps::set_scope(sch, producer.ref, {0}, "local");
  expand(sch, loops_inside(sch, producer.ref, place));
}

class Winograd {
 public:
  Winograd(Schedule& sch, const Parts& parts, ResultAxes axes, const SumPlan& plan, const Features& features)
      : sch_(sch), parts_(parts), axes_(std::move(axes)), plan_(plan), features_(features) {
    if (parts.sum->num_instances() < features.min_parallel_work()) features_.num_cores = 1;
  }

  // Gives the blocks that are done, or the reason if the sum has no tiles.
  OrReason<std::vector<BlockRef>> run(bool may_have_strips) {
    const int64_t strip_tiles = may_have_strips ? planned_strip() : 0;
    const std::optional<LoopRef> strip = tile_result(strip_tiles);
    if (strip) {
      steps::compute_at(sch_, parts_.sum->ref, *strip);
      steps::compute_at(sch_, parts_.data->ref, *strip);
    }
    transform_data(strip);
    Features one_core = features_;
    if (strip) one_core.num_cores = 1;  // strips run in parallel
    if (auto why = tile_sum(sch_, *parts_.sum, std::nullopt, one_core, {.within = strip}))
      return std::move(*why);
    std::vector<BlockRef> done = {parts_.inner->ref, parts_.data->ref, parts_.sum->ref, parts_.rows->ref,
                                  parts_.result->ref};
    if (inlines_padding()) done.push_back(parts_.padding->ref);
    return done;
  }

 private:
  // False if it is a result of the function, too.
  bool inlines_padding() {
    return parts_.padding && !try_rule(sch_, [&](Schedule& copy) {
             steps::compute_inline(copy, parts_.padding->ref);
             return std::nullopt;
           });
  }

  int64_t extent(const BlockShape& shape, size_t axis) const { return shape.likely_extent(axis); }

  // Strips that even out what the cores get: the largest of those with the least rows for the busiest one.
  int64_t even_strip(int64_t rows, int64_t most, bool are_weights_near) const {
    int64_t best = 0, best_rows = rows + 1;
    for (int64_t strip = std::min(rows, most); strip > 0; --strip) {
      const int64_t of_core = ((rows - 1) / strip) / features_.num_cores + 1;
      const int64_t busiest = std::min(rows, of_core * strip);
      if (busiest < best_rows) best = strip, best_rows = busiest;
    }
    // 5 rows on two cores, 3 and 2, are slower than all steps one by one; 7, if weights come from far
    const int64_t shares = best_rows * features_.num_cores;
    const bool is_even = are_weights_near ? 8 * rows >= 7 * shares : 10 * rows >= 9 * shares;
    return is_even ? best : 0;
  }

  // The bytes that each strip reads besides its tiles.
  int64_t weight_bytes() const {
    int64_t weights = parts_.sum->output()->dtype.num_bytes();
    for (size_t axis = 0; axis < parts_.sum->block->iter_vars.size(); ++axis) {
      const bool is_shared = std::find(plan_.shared.begin(), plan_.shared.end(), axis) != plan_.shared.end();
      const bool is_summed = parts_.sum->block->iter_vars[axis]->iter_type == IterType::kReduce;
      if (is_shared || is_summed || axis == plan_.column)
        weights = product(weights, extent(*parts_.sum, axis));
    }
    return weights;
  }

  // Rows of tiles that go through all steps while they are near the core; 0: all at once, if they are few or
  // the weights, which each strip reads, are larger than what is saved: with several cores also what one
  // step would read from where another core has written it.  Weights that stay in L2 leave an
  // eighth of it to the strip, and cost little to read again.
  int64_t tiles_of_strip() const {
    const int64_t rows = (extent(*parts_.result, axes_.tiled[0]) - 1) / axes_.tile + 1;
    const int64_t bytes =
        std::min(parts_.data->num_bytes(parts_.data->output(), kLoopCosts.likely_extent), kMostBytes) +
        std::min(parts_.sum->num_bytes(parts_.sum->output(), kLoopCosts.likely_extent), kMostBytes);
    const int64_t per_row = std::max<int64_t>(1, bytes / rows),
                  weights = std::min(weight_bytes(), kMostBytes);
    const int64_t share = features_.l2_bytes / 8;
    const bool are_near = weights <= features_.l2_bytes - share;
    if (features_.num_cores == 1 && bytes + weights <= features_.l2_bytes) return 0;
    const int64_t most = (are_near ? share : features_.l2_bytes) / per_row;
    const int64_t strip = even_strip(rows, std::max<int64_t>(1, most), are_near);
    if (strip == 0 || strip >= rows) return 0;
    const int64_t num_strips = (rows - 1) / strip + 1;
    const int64_t most_read = product(are_near || features_.num_cores > 1 ? 4 : 2, bytes);
    return product(weights, num_strips) > most_read ? 0 : strip;
  }

  int64_t planned_strip() const {
    const int64_t rows = (extent(*parts_.result, axes_.tiled[0]) - 1) / axes_.tile + 1,
                  by_rules = tiles_of_strip(), wish = parts_.sum->planned("strip_tiles", by_rules);
    return wish < 0 || wish >= rows ? by_rules : wish;
  }

  LoopRef loop_of(const BlockShape& shape, size_t axis) const {
    const std::vector<LoopRef> loops =
        loops_of_axis(sch_, shape.ref, axis, steps::get_loops(sch_, shape.ref));
    TILEWRIGHT_CHECK(!loops.empty(), "axis {} of block {} has no loop", axis, shape.block->name_hint);
    return loops[0];
  }

  // others, tile rows, tile columns, vectors, then a tile; gives the loop over strips, if there are any.
  std::optional<LoopRef> tile_result(int64_t strip_tiles) {
    const BlockShape& result = *parts_.result;
    std::vector<LoopRef> order, inside;
    for (size_t n = 0; n + 1 < axes_.others.size(); ++n) order.push_back(loop_of(result, axes_.others[n]));
    const LoopRef row = loop_of(result, axes_.tiled[0]), column = loop_of(result, axes_.tiled[1]),
                  last = loop_of(result, axes_.others.back());
    const Factors row_factors =
        strip_tiles ? Factors{None{}, strip_tiles, axes_.tile} : Factors{None{}, axes_.tile};
    const std::vector<LoopRef> rows = steps::split(sch_, row, row_factors);
    const std::vector<LoopRef> columns = steps::split(sch_, column, {None{}, axes_.tile});
    const std::vector<LoopRef> vectors = steps::split(sch_, last, {None{}, plan_.tile.lanes});
    order.insert(order.end(), rows.begin(), rows.end() - 1);
    const size_t num_parallel = strip_tiles ? order.size() - 1 : order.size() + 1;  // strips, or tiles
    order.push_back(columns[0]);
    order.push_back(vectors[0]);
    inside = {rows.back(), columns[1], vectors[1]};
    std::vector<LoopRef> all = order;
    all.insert(all.end(), inside.begin(), inside.end());
    steps::reorder(sch_, all);
    expand(sch_, inside);
    compute_in_registers(sch_, *parts_.rows, vectors[0]);
    if (features_.num_cores > 1) order = parallelize(sch_, order, num_parallel, features_);
    if (!strip_tiles) return std::nullopt;
    return order[order.size() - 4];  // strips, tile rows, tile columns, vectors
  }

  // The other axes, vectors, then all of a tile.
  void transform_data(std::optional<LoopRef> strip) {
    const BlockShape& data = *parts_.data;
    const std::vector<LoopRef> loops = loops_inside(sch_, data.ref, strip);
    const std::optional<size_t> last = data.last_axis();
    std::vector<LoopRef> order, tile;
    for (size_t axis = 0; axis < data.block->iter_vars.size(); ++axis) {
      if (axis == last) continue;
      for (LoopRef loop : loops_of_axis(sch_, data.ref, axis, loops))
        (is_of_tile(data, axis) ? tile : order).push_back(loop);
    }
    const LoopRef column = loops_of_axis(sch_, data.ref, *last, loops).back();
    const std::vector<LoopRef> vectors = steps::split(sch_, column, {None{}, plan_.tile.lanes});
    order.push_back(vectors[0]);
    std::vector<LoopRef> all = order;
    all.insert(all.end(), tile.begin(), tile.end());
    all.push_back(vectors[1]);
    steps::reorder(sch_, all);
    for (LoopRef loop : tile) steps::unroll(sch_, loop);
    steps::vectorize(sch_, vectors[1]);
    compute_in_registers(sch_, *parts_.inner, vectors[0]);
    if (!strip && features_.num_cores > 1) parallelize(sch_, order, order.size() - 1, features_);
  }

  // True if the sum uses the dimension that `axis` of its data stands for as an axis that its weights have,
  // too.
  bool is_of_tile(const BlockShape& data, size_t axis) const {
    for (size_t dim = 0; dim < data.store->indices.size(); ++dim) {
      if (data.store->indices[dim].as<VarNode>() != data.block->iter_vars[axis]->var.get()) continue;
      for (const BufferLoadNode* load : parts_.sum->loads) {
        if (load->buffer != data.output()) continue;
        return std::any_of(plan_.shared.begin(), plan_.shared.end(), [&](size_t shared) {
          return load->indices[dim].get() == parts_.sum->block->iter_vars[shared]->var.get();
        });
      }
    }
    return false;
  }

  Schedule& sch_;
  const Parts& parts_;
  const ResultAxes axes_;
  const SumPlan& plan_;
  Features features_;  // one core, if there is little work
};

}  // namespace

bool is_chosen_by_axis(const BlockShape& shape) {
  bool found = false;
  walk(shape.store->value, [&](const SelectNode* choice) {
    const auto* test = choice->condition.as<EQNode>();
    found |= test && is<IntImmNode>(test->b) && (is<VarNode>(test->a) || is<FloorModNode>(test->a));
  });
  return found && !shape.is_reduction();
}

OrReason<std::vector<BlockRef>> tile_winograd(Schedule& sch, const std::vector<BlockShape>& shapes,
                                              const BlockShape& sum, const Features& features,
                                              bool may_have_strips) {
  const OrReason<Parts> parts = parts_of(shapes, sum);
  if (!parts) return parts.reason();
  const OrReason<ResultAxes> axes = axes_of(*parts);
  if (!axes) return axes.reason();
  const OrReason<SumPlan> plan = plan_sum(sum, features);
  if (!plan) return plan.reason();
  if (!parts->data->last_axis()) return why_no_last_axis(*parts->data);
  return Winograd(sch, *parts, *axes, *plan, features).run(may_have_strips);
}

}  // namespace tilewright::schedule
