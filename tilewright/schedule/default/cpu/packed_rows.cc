#include "tilewright/schedule/default/cpu/packed_rows.h"

#include <algorithm>

#include "tilewright/schedule/core/loops.h"
#include "tilewright/schedule/default/cpu/panels.h"
#include "tilewright/schedule/default/cpu/rules.h"
#include "tilewright/schedule/steps.h"
#include "tilewright/tir/builder.h"

namespace tilewright::schedule {
namespace {

// The dimensions of the operand: that along which rows lie, that of the terms a tile takes, those of parts of
// numbers, and others.
struct RowDims {
  size_t row = 0, terms = 0;
  bool is_window = false;  // neighbouring rows read in part the same places
  std::vector<size_t> parts, others;
};

std::optional<RowDims> row_dims(const BlockShape& sum, const SumPlan& plan) {
  const BufferLoadNode* load = plan.dot->row;
  const auto& axes = sum.block->iter_vars;
  RowDims dims;
  int num_rows = 0, num_terms = 0;
  for (size_t dim = 0; dim < load->indices.size(); ++dim) {
    const PrimExpr& index = load->indices[dim];
    const auto is_whole_axis = [&](size_t axis) {
      return index.as<VarNode>() == axes[axis]->var.get() &&
             is_const_int(load->buffer->shape[dim], sum.extent(axis));
    };
    const auto uses_any = [&](IterType type) {
      return std::any_of(axes.begin(), axes.end(), [&](const IterVar& axis) {
        return axis->iter_type == type && uses(index, axis->var.get());
      });
    };
    if (uses(index, axes[*plan.row]->var.get())) {
      dims.row = dim, dims.is_window = !is_whole_axis(*plan.row), ++num_rows;
    } else if (uses(index, axes[plan.dot->axis]->var.get())) {
      dims.terms = dim, num_terms += is_whole_axis(plan.dot->axis) ? 1 : 2;
    } else {
      const bool is_part = uses_any(IterType::kReduce) && !uses_any(IterType::kSpatial);
      (is_part ? dims.parts : dims.others).push_back(dim);
    }
  }
  return num_rows == 1 && num_terms == 1 ? std::optional(dims) : std::nullopt;
}

int64_t tile_height(const SumPlan& plan) { return plan.matrix->down * plan.matrix->rows; }
int64_t tile_terms(const SumPlan& plan) { return plan.matrix->groups * plan.dot->group; }

IndexMap tile_map(const Buffer& buffer, const RowDims& dims, int64_t height, int64_t terms) {
  const std::vector<Var> from = index_vars(buffer);
  std::vector<PrimExpr> to;
  for (const size_t dim : dims.others) to.push_back(from[dim]);
  const PrimExpr row = from[dims.row], term = from[dims.terms];
  if (!dims.is_window) to.push_back(floordiv(row, height));
  to.push_back(floordiv(term, terms));
  for (const size_t dim : dims.parts) to.push_back(from[dim]);
  to.push_back(dims.is_window ? row : floormod(row, height));
  to.push_back(floormod(term, terms));
  return IndexMapNode::make(from, to);
}

}  // namespace

bool can_pack_rows(const BlockShape& sum, const SumPlan& plan) {
  return plan.matrix && plan.row && !has_several_shared(sum, plan) && row_dims(sum, plan);
}

// Each of its axes is the dimension of the same number of what it stores.
bool can_make_rows(const BlockShape& block, const SumPlan& plan) {
  const auto& indices = block.store->indices;
  if (block.output() != plan.dot->row->buffer || block.is_reduction() ||
      indices.size() != block.block->iter_vars.size())
    return false;
  for (size_t dim = 0; dim < indices.size(); ++dim) {
    if (indices[dim].as<VarNode>() != block.block->iter_vars[dim]->var.get()) return false;
  }
  return true;
}

bool are_rows_apart(const BlockShape& sum, const SumPlan& plan) {
  const auto& indices = plan.dot->row->indices;
  return std::none_of(indices.begin(), indices.end(), [&](const PrimExpr& index) {
    bool has_row = false, has_place = false;  // of a window
    for (size_t axis = 0; axis < sum.block->iter_vars.size(); ++axis) {
      if (sum.extent(axis) == 1 || !uses(index, sum.block->iter_vars[axis]->var.get())) continue;
      (is_spatial(sum, axis) ? has_row : has_place) = true;
    }
    return has_row && has_place;
  });
}

bool are_rows_copied(const BlockShape& sum, const SumPlan& plan) {
  return can_pack_rows(sum, plan) && !row_dims(sum, plan)->is_window &&
         sum.extent(plan.column) >= product(kTileCosts.packed_uses, plan.panel_width());
}

void pack_rows(Schedule& sch, const BlockShape& sum, const SumPlan& plan, const RowPlace& place,
               const Features& features) {
  const RowDims dims = *row_dims(sum, plan);
  const BlockRef maker = place.maker ? *place.maker : copy_of_operand(sch, sum, plan.dot->row->buffer);
  const OrReason<BlockShape> shape = shape_of(sch, maker);
  if (place.loop) steps::compute_at(sch, maker, *place.loop);
  const std::vector<LoopRef> loops = loops_inside(sch, maker, place.loop);
  std::vector<LoopRef> order;
  const auto take = [&](size_t dim) {
    const std::vector<LoopRef> found = loops_of_axis(sch, maker, dim, loops);
    order.insert(order.end(), found.begin(), found.end());
  };
  for (const size_t dim : dims.others) take(dim);
  take(dims.row);
  const size_t num_outer = order.size();
  const std::vector<LoopRef> terms = loops_of_axis(sch, maker, dims.terms, loops);
  TILEWRIGHT_CHECK(terms.size() == 1, "the terms of rows have {} loops", terms.size());
  const std::vector<LoopRef> of_terms = steps::split(sch, terms[0], {None{}, tile_terms(plan)});
  order.push_back(of_terms[0]);
  for (const size_t dim : dims.parts) {
    take(dim);
    if (extent_of(sch, order.back()) <= kLoopCosts.unrolled_parts) steps::unroll(sch, order.back());
  }
  order.push_back(of_terms[1]);
  steps::reorder(sch, order);
  steps::vectorize(sch, of_terms[1]);
  if (shape) fetch_far(sch, *shape, of_terms[0], features);
  const bool is_parallel =
      !place.loop && features.num_cores > 1 && shape &&
      product(shape->num_instances(), kLoopCosts.element_work) >= features.min_parallel_work();
  if (is_parallel) parallelize(sch, order, num_outer, features);
  steps::transform_layout(sch, maker, steps::written_buffer(0),
                          tile_map(plan.dot->row->buffer, dims, tile_height(plan), tile_terms(plan)));
}

}  // namespace tilewright::schedule
