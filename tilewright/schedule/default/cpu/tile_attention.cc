// Rule tile_attention: attention in blocks of queries, which are lanes of vectors
// (te/topi/attention_steps.h).
//   products[io, j, i] += queries[io, d, i] * key[j, d];  scores = f(products)
//   largest[io, i] = max_j scores;  weights = exp(scores - largest);  sum[io, i] += weights[io, j, i]
//   mixed[io, e, i] += weights[io, j, i] * value[j, e];  scaled[io, e, i] = mixed / sum[io, i]
//   rows[io, i, e] = scaled[io, e, i];  result[i, e] = rows[i // 32, i % 32, e]
//   ->  parallel for io: queries; for blocks of keys: all others up to mixed; what merges the blocks; the
//           result.  Sums in register tiles, with scores and scaled as epilogues.
// All that a block of queries needs stays near the core.
#include <algorithm>

#include "tilewright/ir/walk.h"
#include "tilewright/schedule/default/cpu/rules.h"
#include "tilewright/schedule/steps.h"
#include "tilewright/tir/block_roles.h"
#include "tilewright/tir/builder.h"

namespace tilewright::schedule {
namespace {

using Shapes = std::vector<BlockShape>;

struct Parts {
  const BlockShape *products, *scores, *largest, *weights, *sum, *mixed, *merged, *scaled, *result;
  bool has_key_blocks = false;
};

OrReason<Parts> parts_of(const Shapes& shapes) {
  Parts parts{};
  const std::pair<const BlockShape**, std::string_view> roles[] = {
      {&parts.products, kAttentionProducts}, {&parts.scores, kAttentionScores},
      {&parts.largest, kAttentionLargest},   {&parts.weights, kAttentionWeights},
      {&parts.sum, kAttentionSum},           {&parts.mixed, kAttentionMixed},
      {&parts.scaled, kAttentionScaled}};
  bool has_any = false;
  for (const auto& [part, role] : roles) {
    *part = block_in_role(shapes, role);
    has_any |= *part != nullptr;
  }
  for (const auto& [part, role] : roles)
    if (!*part)
      return Reason(has_any ? Reason::kForm : Reason::kOther, "no block, or more than one, has the role {}",
                    role);
  parts.merged = block_in_role(shapes, kAttentionMerged);
  parts.has_key_blocks = parts.merged != nullptr;
  if (!parts.merged) parts.merged = parts.mixed;
  parts.result = &shapes.back();
  if (parts.result->is_reduction())
    return Reason(Reason::kForm, "block {}, the last one, reduces", parts.result->block->name_hint);
  return parts;
}

// The axes of the result: of the batch, as the rows have them, and that of the queries, which are `size` to a
// block.
struct ResultAxes {
  std::vector<size_t> batch;
  size_t query = 0;
  int64_t size = 0;
};
OrReason<ResultAxes> axes_of(const BlockShape& result) {
  if (result.loads.size() != 1)
    return Reason(Reason::kForm, "block {} reads {} elements for each result, not one",
                  result.block->name_hint, result.loads.size());
  ResultAxes axes;
  for (const PrimExpr& index : result.loads[0]->indices) {
    const auto* block = index.as<FloorDivNode>();
    const auto axis = axis_of(result, block ? block->a : index);
    if (axis && block && as_const_int(block->b, &axes.size)) {
      axes.query = *axis;
      break;
    }
    if (axis) axes.batch.push_back(*axis);
  }
  if (axes.size == 0)
    return Reason(Reason::kForm, "no axis of block {} is divided into blocks of queries",
                  result.block->name_hint);
  return axes;
}

// Nothing if each axis has a loop; one of a single value may stand at a constant.
std::optional<Reason> why_no_loops(Schedule& sch, const BlockShape& shape) {
  const std::vector<LoopRef> all = steps::get_loops(sch, shape.ref);
  for (size_t axis = 0; axis < shape.block->iter_vars.size(); ++axis) {
    if (loops_of_axis(sch, shape.ref, axis, all).empty())
      return Reason(Reason::kTooSmall, "axis {} of block {} has one value", axis_name(shape, axis),
                    shape.block->name_hint);
  }
  return std::nullopt;
}

class Attention {
 public:
  Attention(Schedule& sch, const Shapes& shapes, const Parts& parts, ResultAxes axes,
            const Features& features)
      : sch_(sch), shapes_(shapes), parts_(parts), axes_(std::move(axes)), features_(features) {}

  // The reason if a sum has no tiles: of one term.
  std::optional<Reason> run() {
    const LoopRef rows = tile_result();
    if (parts_.has_key_blocks)
      for (const BlockShape* sum : {parts_.sum, parts_.mixed})
        copies_.push_back(steps::cache_write(sch_, sum->ref, {0}, "local"));
    compute_in(rows);
    const LoopRef keys = parts_.has_key_blocks ? compute_in_key_blocks(rows) : rows;
    for (const BlockShape& shape : shapes_) {
      if (const std::optional<Reason> why = schedule(shape, is_of_keys(shape) ? keys : rows)) return why;
    }
    return std::nullopt;
  }

 private:
  // batch, blocks of queries, queries, others; gives the loop over blocks.
  LoopRef tile_result() {
    const BlockShape& result = *parts_.result;
    const std::vector<LoopRef> all = steps::get_loops(sch_, result.ref);
    const auto loop_of = [&](size_t axis) { return loops_of_axis(sch_, result.ref, axis, all)[0]; };
    std::vector<LoopRef> order, used;
    for (size_t axis : axes_.batch) order.push_back(loop_of(axis));
    used = order;
    used.push_back(loop_of(axes_.query));
    const std::vector<LoopRef> queries = steps::split(sch_, used.back(), {None{}, axes_.size});
    order.push_back(queries[0]);
    std::vector<LoopRef> inner{queries[1]};
    for (LoopRef loop : all) {
      if (sch_.is_alive(loop) &&
          std::none_of(used.begin(), used.end(), [&](LoopRef other) { return loop == other; }))
        inner.push_back(loop);
    }
    std::vector<LoopRef> both = order;
    both.insert(both.end(), inner.begin(), inner.end());
    steps::reorder(sch_, both);
    if (features_.num_cores > 1 && parts_.products->num_instances() >= features_.min_parallel_work() / 2)
      order = parallelize(sch_, order, order.size(), features_);
    return order.back();
  }

  void compute_in(LoopRef rows) {
    for (size_t n = shapes_.size() - 1; n-- > 0;) {
      const BlockShape& shape = shapes_[n];
      if (is_shared(shape) || (parts_.has_key_blocks && is_before_largest(shape))) continue;
      if (const auto copied = copy_of(shape)) steps::compute_at(sch_, *copied, rows);
      steps::compute_at(sch_, shape.ref, rows);
    }
  }
  // `largest` has the loop over blocks of keys, to which all others are moved.
  LoopRef compute_in_key_blocks(LoopRef rows) {
    const LoopRef keys = loops_inside(sch_, parts_.largest->ref, rows)[0];
    steps::reverse_compute_at(sch_, parts_.weights->ref, keys);
    for (const BlockShape* sum : {parts_.sum, parts_.mixed}) {
      steps::reverse_compute_at(sch_, sum->ref, keys);
      steps::reverse_compute_at(sch_, *copy_of(*sum), keys);
    }
    for (size_t n = shapes_.size(); n-- > 0;) {
      const BlockShape& shape = shapes_[n];
      if (is_before_largest(shape) && !is_shared(shape))
        steps::compute_at(sch_, shape.ref, is_of_rows(shape) ? rows : keys);
    }
    return keys;
  }

  // The block that stores the results of a block of keys.
  std::optional<BlockRef> copy_of(const BlockShape& shape) const {
    if (copies_.empty() || (&shape != parts_.sum && &shape != parts_.mixed)) return std::nullopt;
    return copies_[&shape == parts_.sum ? 0 : 1];
  }
  bool is_before_largest(const BlockShape& shape) const { return &shape < parts_.largest; }
  // True if all blocks of keys use the same values of `shape`.
  bool is_of_rows(const BlockShape& shape) const {
    return reads(*parts_.products, shape.output()) ||
           std::any_of(shapes_.begin(), shapes_.end(), [&](const BlockShape& other) {
             return reads(*parts_.products, other.output()) && reads(other, shape.output());
           });
  }
  // Biases that the whole batch has: made once, before all else.
  bool is_shared(const BlockShape& shape) const {
    return is_before_largest(shape) && !shape.is_reduction() && &shape != parts_.scores &&
           !is_of_rows(shape) && shape.store->indices.size() < parts_.scores->store->indices.size();
  }
  bool is_of_keys(const BlockShape& shape) const {
    return (is_before_largest(shape) && !is_of_rows(shape)) || &shape == parts_.largest ||
           &shape == parts_.weights || &shape == parts_.sum || &shape == parts_.mixed;
  }

  std::optional<Reason> schedule(const BlockShape& shape, LoopRef place) {
    if (&shape == parts_.scores || &shape == parts_.scaled) return std::nullopt;  // epilogues
    const OrReason<BlockShape> now = shape_of(sch_, shape.ref);
    // element by element blocks that get no vectors keep their loops: the rule applies all the same
    if (is_shared(shape)) {
      vectorize_elements(sch_, *now, features_);
      return std::nullopt;
    }
    if (!shape.is_reduction()) {
      std::vector<LoopRef> loops = loops_inside(sch_, shape.ref, place);
      vectorize_last_axis(sch_, *now, &loops, features_);
      return std::nullopt;
    }
    std::optional<BlockShape> epilogue;
    if (&shape == parts_.products) epilogue = shape_of(sch_, parts_.scores->ref).value();
    if (&shape == parts_.merged) epilogue = shape_of(sch_, parts_.scaled->ref).value();
    if (const auto copied = copy_of(shape)) epilogue = shape_of(sch_, *copied).value();
    Features one_core = features_;
    one_core.num_cores = 1;                                    // blocks of queries run in parallel
    one_core.l1_bytes = one_core.l2_bytes = int64_t{1} << 50;  // all operands are near: none is packed
    return tile_sum(sch_, *now, epilogue, one_core, {.within = place});
  }

  Schedule& sch_;
  const Shapes& shapes_;
  const Parts& parts_;
  const ResultAxes axes_;
  const Features& features_;
  std::vector<BlockRef> copies_;  // of sum and mixed, if there are blocks of keys
};

}  // namespace

std::optional<Reason> tile_attention(Schedule& sch, const std::vector<BlockShape>& shapes,
                                     const Features& features) {
  const OrReason<Parts> parts = parts_of(shapes);
  if (!parts) return parts.reason();
  const OrReason<ResultAxes> axes = axes_of(*parts->result);
  if (!axes) return axes.reason();
  if (const std::optional<Reason> why = why_no_loops(sch, *parts->result)) return why;
  return Attention(sch, shapes, *parts, *axes, features).run();
}

}  // namespace tilewright::schedule
