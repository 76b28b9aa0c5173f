#include "tilewright/schedule/default/cpu/sum_plan.h"

#include <algorithm>
#include <numeric>

#include "tilewright/arith/analyzer.h"
#include "tilewright/ir/rewrite.h"
#include "tilewright/schedule/core/loops.h"
#include "tilewright/schedule/default/cpu/panels.h"
#include "tilewright/target/costs.h"
#include "tilewright/tir/builder.h"

namespace tilewright::schedule {
namespace {

constexpr int64_t kMaxParts = 8;  // of an element of a vector that steps take apart

// The elements of float32 in a line of a cache.
int64_t line_elements(const Features& features) { return features.line_bytes / 4; }

// A strided convolution reads every second element of a row; lanes may be gathered when they are that near.
bool is_near(const BlockShape& sum, const BufferLoadNode* load, size_t axis) {
  const Var& var = sum.block->iter_vars[axis]->var;
  int64_t stride = 0;
  for (size_t dim = 0; dim < load->indices.size(); ++dim) {
    const PrimExpr step = step_along(load->indices[dim], var);
    if (is_zero(step)) continue;
    if (dim + 1 != load->indices.size() || !as_const_int(step, &stride)) return false;
  }
  return stride > 0 && stride <= kTileCosts.gather_stride;
}

// True if the lanes of one vector read the same element: v // 128 * 48 + k, the group of a convolution.
bool stays_in_vectors(const BlockShape& sum, const BufferLoadNode* load, size_t axis, int64_t lanes) {
  const Var& var = sum.block->iter_vars[axis]->var;
  const Var vector = make_var("vector", var->dtype), lane = make_var("lane", var->dtype);
  arith::Analyzer analyzer;
  analyzer.bind(lane, make_range(imm(0, var->dtype), imm(lanes, var->dtype)));
  return std::none_of(load->indices.begin(), load->indices.end(), [&](const PrimExpr& index) {
    return uses(analyzer.simplify(substitute(index, {{var.get(), vector * lanes + lane}})), lane.get());
  });
}

// How a load moves along the columns, and the most lanes with which it does.
Along along_columns(const BlockShape& sum, const BufferLoadNode* load, size_t column, int64_t* lanes) {
  const Along moves = along(sum, load, column);
  if (moves != Along::kStrided) return moves;
  for (int64_t fewer = *lanes; fewer >= target::kGraphCosts.group_lanes; fewer /= 2) {
    if (!stays_in_vectors(sum, load, column, fewer)) continue;
    *lanes = fewer;
    return Along::kStays;
  }
  return moves;
}

// The innermost axis along which some vector stays the same, else the innermost other one.
std::optional<size_t> row_axis(const BlockShape& sum, size_t column,
                               const std::vector<const BufferLoadNode*>& vectors,
                               std::optional<size_t> outer_axis) {
  std::optional<size_t> any, reused;
  for (size_t axis = 0; axis < sum.block->iter_vars.size(); ++axis) {
    if (axis == column || axis == outer_axis || !is_spatial(sum, axis) || sum.likely_extent(axis) <= 1)
      continue;
    any = axis;
    for (const BufferLoadNode* load : vectors) {
      if (along(sum, load, axis) == Along::kStays) reused = axis;
    }
  }
  return reused ? reused : any;
}

// The dimension that alone moves along the rows; nothing if there are others, or it is the last.
std::optional<size_t> row_dimension(const BlockShape& sum, const BufferLoadNode* load, const SumPlan& plan) {
  std::optional<size_t> found;
  for (size_t dim = 0; dim < load->indices.size(); ++dim) {
    if (!uses(load->indices[dim], sum.block->iter_vars[*plan.row]->var.get())) continue;
    if (found) return std::nullopt;
    found = dim;
  }
  return found && *found + 1 < load->indices.size() ? found : std::nullopt;
}

// True of rows so far apart that all their lines belong in the same few sets of L1: each step of the sum
// would read them from L2.
bool has_conflicts(const BlockShape& sum, const BufferLoadNode* load, const SumPlan& plan,
                   const Features& features) {
  // a matrix tile takes whole lines of its rows at once
  if (!plan.row || plan.matrix || along(sum, load, plan.column) != Along::kStays ||
      !row_dimension(sum, load, plan))
    return false;
  const bool has_lines = std::any_of(plan.steps.begin(), plan.steps.end(), [&](size_t axis) {
    return along(sum, load, axis) == Along::kContiguous && sum.extent(axis) % line_elements(features) == 0;
  });
  int64_t last = 0;
  const std::optional<int64_t> stride = stride_bytes(sum, load, *plan.row);
  if (!has_lines || !stride || *stride == 0 || !as_const_int(load->buffer->shape.back(), &last) ||
      last % line_elements(features) != 0)
    return false;
  return plan.rows > num_kept_rows(*stride, features) &&
         (sum.extent(plan.column) - 1) / plan.panel_width() + 1 >= kTileCosts.packed_uses;
}

// The axes around a tile as they are, but those along which the rows are contiguous last: all elements of a
// line are used while it is near, and few lines are in use at once.
std::vector<size_t> step_order(const BlockShape& sum, const SumPlan& plan,
                               const std::vector<const BufferLoadNode*>& vectors) {
  const auto is_contiguous = [&](size_t axis) {
    return std::any_of(sum.loads.begin(), sum.loads.end(), [&](const BufferLoadNode* load) {
      const bool is_vector = std::find(vectors.begin(), vectors.end(), load) != vectors.end();
      return !is_vector && along(sum, load, axis) == Along::kContiguous;
    });
  };
  std::vector<size_t> order, last;
  for (size_t axis = 0; axis < sum.block->iter_vars.size(); ++axis) {
    if (axis != plan.column && axis != plan.row && axis != plan.outer_row)
      (is_contiguous(axis) ? last : order).push_back(axis);
  }
  order.insert(order.end(), last.begin(), last.end());
  return order;
}

// The operands that are read in vectors, and the most lanes with which they can be; or why lanes would be
// gathered.
OrReason<std::vector<const BufferLoadNode*>> vector_operands(const BlockShape& sum, SumPlan& plan,
                                                             int64_t* lanes) {
  std::vector<const BufferLoadNode*> vectors;
  if (plan.dot) {
    *lanes = plan.dot->lanes;
    if (!plan.dot->is_grouped) plan.packed = plan.dot->column;
    return std::vector{plan.dot->column};
  }
  for (const BufferLoadNode* load : sum.loads) {
    const Along moves = along_columns(sum, load, plan.column, lanes);
    if (moves == Along::kStrided && !is_near(sum, load, plan.column)) {
      const bool is_read_twice = std::any_of(
          sum.loads.begin(), sum.loads.end(),
          [&](const BufferLoadNode* other) { return other != load && other->buffer == load->buffer; });
      if (plan.packed || is_read_twice || !has_axes_only(load)) {
        return Reason(Reason::kForm,
                      "neighbours along axis {} are not neighbours in {}, which cannot be copied for it: {}",
                      axis_name(sum, plan.column), load->buffer->name,
                      plan.packed     ? fmt::format("{} is copied already", plan.packed->buffer->name)
                      : is_read_twice ? "it is read in several places"
                                      : "an index of it is more than an axis");
      }
      plan.packed = load;
    }
    if (moves != Along::kStays) vectors.push_back(load);
  }
  if (vectors.empty())
    return Reason(Reason::kForm,
                  "nothing that it reads changes along axis {}, which would be that of its vectors",
                  axis_name(sum, plan.column));
  return vectors;
}

// The axes around a tile, by whether vectors depend on them.
void divide_axes(const BlockShape& sum, const std::vector<const BufferLoadNode*>& vectors, SumPlan& plan) {
  for (size_t axis = 0; axis < sum.block->iter_vars.size(); ++axis) {
    if (axis == plan.column || axis == plan.row || !is_spatial(sum, axis)) continue;
    const bool is_shared = std::any_of(vectors.begin(), vectors.end(), [&](const BufferLoadNode* load) {
      return along(sum, load, axis) != Along::kStays;
    });
    (is_shared ? plan.shared : plan.others).push_back(axis);
  }
}

// True if some step reads what is contiguous and nothing else, so that terms are vectors without a copy.
bool has_rows_of_terms(const BlockShape& sum) {
  for (size_t axis = 0; axis < sum.block->iter_vars.size(); ++axis) {
    if (is_spatial(sum, axis) || sum.likely_extent(axis) <= 1) continue;
    const auto moves = [&](Along how) {
      return std::any_of(sum.loads.begin(), sum.loads.end(),
                         [&](const BufferLoadNode* load) { return along(sum, load, axis) == how; });
    };
    if (moves(Along::kContiguous) && !moves(Along::kStrided)) return true;
  }
  return false;
}

bool packs(const BlockShape& sum, const BufferLoadNode* load, const SumPlan& plan, const Features& features) {
  const int64_t wish = sum.planned("packs_panels", kByRules);
  if (wish == kByRules) return is_worth_packing(sum, load, plan, features);
  return wish == 1 && is_plain_matrix(sum, load, plan) && has_several_panels(sum, plan);
}

// Groups of copied panels divide all panels.
int64_t planned_panels(const BlockShape& sum, const SumPlan& plan, const Features& features) {
  const int64_t by_rules = copied_panels_of(sum, plan, features),
                wish = sum.planned("copied_panels", by_rules),
                panels = (sum.extent(plan.column, 1) - 1) / plan.panel_width() + 1;
  return wish > 0 && panels % wish == 0 && !plan.dot && !plan.matrix ? wish : by_rules;
}

void choose_copies(const BlockShape& sum, const std::vector<const BufferLoadNode*>& vectors,
                   const Features& features, SumPlan& plan) {
  for (const BufferLoadNode* load : sum.loads) {
    const bool is_copied = plan.packed && load->buffer == plan.packed->buffer;  // one copy of a buffer
    if (!plan.spread && !is_copied && has_conflicts(sum, load, plan, features)) plan.spread = load;
  }
  if (plan.dot) return;
  for (const BufferLoadNode* load : vectors) {
    if (plan.spread && load->buffer == plan.spread->buffer) continue;
    if (!plan.packed && packs(sum, load, plan, features)) plan.packed = load;
  }
}

// The step that takes parts of the vectors' elements one by one, as numbers of 4 bits.
std::optional<size_t> axis_of_parts(const BlockShape& sum, const SumPlan& plan,
                                    const std::vector<const BufferLoadNode*>& vectors) {
  for (size_t axis : plan.steps) {
    const bool stays = std::all_of(vectors.begin(), vectors.end(), [&](const BufferLoadNode* load) {
      return along(sum, load, axis) == Along::kStays;
    });
    if (stays && !is_spatial(sum, axis) && sum.extent(axis) > 1 && sum.extent(axis) <= kMaxParts) return axis;
  }
  return std::nullopt;
}

// The innermost step along which vectors move: parts of their elements are inside of it.
std::optional<size_t> axis_to_fetch(const BlockShape& sum, const SumPlan& plan,
                                    const std::vector<const BufferLoadNode*>& vectors) {
  const auto moves = [&](size_t axis) {
    return std::any_of(vectors.begin(), vectors.end(),
                       [&](const BufferLoadNode* load) { return along(sum, load, axis) != Along::kStays; });
  };
  const auto found = std::find_if(plan.steps.rbegin(), plan.steps.rend(), moves);
  return found == plan.steps.rend() ? std::nullopt : std::optional(*found);
}

// The axis of the vectors.
OrReason<size_t> column_axis(const BlockShape& sum) {
  if (sum.output()->dtype.is_bool()) return Reason(Reason::kForm, "{} is of bool", sum.output()->name);
  const std::optional<size_t> column = sum.last_axis();
  if (!column) return why_no_last_axis(sum);
  if (num_steps(sum) <= 1) return Reason(Reason::kTooSmall, "each result has one term");
  if (sum.likely_extent(*column) < 2)
    return Reason(Reason::kTooSmall, "axis {} has one value, and would be that of its vectors",
                  axis_name(sum, *column));
  return *column;
}

// Why plan.packed is not copied before tiles read it.
Reason why_no_copy(const BlockShape& sum, const SumPlan& plan) {
  const std::string& name = plan.packed->buffer->name;
  if (!is_plain_matrix(sum, plan.packed, plan))
    return Reason(Reason::kForm, "{} is no plain matrix that could be copied for its vectors", name);
  return Reason(Reason::kCost, "a copy of {} for its vectors pays from {} uses on, and would have {}", name,
                kTileCosts.packed_uses, num_uses(sum, plan.packed, plan));
}

}  // namespace

OrReason<SumPlan> plan_sum(const BlockShape& sum, const Features& features, bool is_packing_free,
                           std::optional<size_t> outer_axis) {
  SumPlan plan;
  plan.groups = outer_axis;
  const OrReason<size_t> column = column_axis(sum);
  if (!column) return column.reason();
  plan.column = *column;
  int64_t lanes =
      std::max<int64_t>(1, features.vector_bytes / std::max<int64_t>(1, sum.output()->dtype.num_bytes()));
  plan.dot = dot_sum(sum, plan.column, features);
  const OrReason<std::vector<const BufferLoadNode*>> operands = vector_operands(sum, plan, &lanes);
  if (!operands) return operands.reason();
  const std::vector<const BufferLoadNode*>& vectors = *operands;
  // without AVX512BW, masked 8- and 16-bit loads compile to branches
  plan.has_masks = features.has_masks && !plan.dot &&
                   std::all_of(vectors.begin(), vectors.end(),
                               [](const auto* load) { return load->dtype.element().num_bytes() >= 4; });
  plan.row = row_axis(sum, plan.column, vectors, outer_axis);
  divide_axes(sum, vectors, plan);
  // weights of groups have the same tile before and after they are packed
  choose_tile(sum, vectors, lanes, features, is_packing_free || outer_axis, plan);
  plan.steps = step_order(sum, plan, vectors);
  plan.fetched = axis_to_fetch(sum, plan, vectors);
  plan.unrolled = axis_of_parts(sum, plan, vectors);
  if (!plan.unrolled && (plan.unrolled = axis_of_windows(sum, plan, vectors)))
    plan.keeps_loops = needs_loops(sum, plan, vectors, features);
  plan.is_copy_needed = plan.packed != nullptr;
  const auto pays = [&] {
    return num_uses(sum, plan.packed, plan) >= kTileCosts.packed_uses ||
           (!plan.dot && !has_rows_of_terms(sum));
  };
  if (plan.is_copy_needed && !is_packing_free && (!is_plain_matrix(sum, plan.packed, plan) || !pays())) {
    const Reason reason = why_no_copy(sum, plan);
    if (!plan.dot) return reason;
    Features without_dots = features;
    without_dots.dots = {};
    OrReason<SumPlan> other = plan_sum(sum, without_dots, false, outer_axis);
    if (other) other->dot = reason;
    return other;
  }
  choose_copies(sum, vectors, features, plan);
  if (plan.packed) plan.copied_panels = planned_panels(sum, plan, features);
  int64_t distance = 0;
  for (const BufferLoadNode* load : vectors)
    distance = std::max(distance, fetch_ahead_of(sum, load, plan, features));
  if (plan.fetched) distance = sum.planned("fetch_ahead", distance);
  plan.fetch_ahead = prefetch_at(distance, features);
  // few rows read so fast that the processor sees their stream; beyond its page it would be another one
  if (plan.row && sum.extent(*plan.row) == 0 && plan.fetch_ahead.distance >= features.page_bytes)
    plan.few_ahead = features.page_bytes / 2;
  if (vectors.size() == 1 && sum.planned("fetches_next_panel", 1) != 0)
    plan.next_panel = next_panel_of(sum, vectors[0], plan, features);
  return plan;
}

bool has_several_shared(const BlockShape& sum, const SumPlan& plan) {
  return std::any_of(plan.shared.begin(), plan.shared.end(),
                     [&](size_t axis) { return sum.extent(axis) != 1; });
}

bool needs_tiles(const BlockShape& sum, const Features& features, bool is_packing_free) {
  const OrReason<SumPlan> plan = plan_sum(sum, features, is_packing_free);
  return plan && (plan->dot || plan->is_copy_needed);
}

std::optional<Panels> wanted_panels(const BlockShape& sum, const Features& features) {
  const OrReason<SumPlan> plan = plan_sum(sum, features, true);
  if (!plan) return std::nullopt;
  if (plan->is_copy_needed) return Panels{plan->packed->buffer, panel_layout(sum, *plan, plan->packed)};
  if (plan->dot) return std::nullopt;
  if (!has_several_panels(sum, *plan)) return std::nullopt;
  for (const BufferLoadNode* load : sum.loads) {
    if (along(sum, load, plan->column) == Along::kContiguous && is_plain_matrix(sum, load, *plan) &&
        sum.num_bytes(load->buffer) > features.l1_bytes / 2)
      return Panels{load->buffer, panel_layout(sum, *plan, load)};
  }
  return std::nullopt;
}

std::vector<Var> index_vars(const Buffer& buffer) {
  std::vector<Var> vars;
  for (size_t dim = 0; dim < buffer->shape.size(); ++dim)
    vars.push_back(make_var(fmt::format("i{}", dim), buffer->shape[dim]->dtype));
  return vars;
}

IndexMap line_map(const BlockShape& sum, const SumPlan& plan, const Features& features) {
  const int64_t line = line_elements(features);
  const size_t row = *row_dimension(sum, plan.spread, plan);
  const std::vector<Var> from = index_vars(plan.spread->buffer);
  std::vector<PrimExpr> to(from.begin(), from.end() - 1);
  to.insert(to.begin() + static_cast<std::ptrdiff_t>(row), floordiv(PrimExpr(from.back()), line));
  to.push_back(floormod(PrimExpr(from.back()), line));
  return IndexMapNode::make(from, to);
}

PanelLayout panel_layout(const BlockShape& sum, const SumPlan& plan, const BufferLoadNode* operand) {
  const auto dimension = [&](size_t axis) {
    size_t dim = 0;
    while (!uses(operand->indices[dim], sum.block->iter_vars[axis]->var.get())) ++dim;
    return dim;
  };
  PanelLayout layout{.width = std::min(plan.panel_width(), sum.extent(plan.column, plan.panel_width())),
                     .column = dimension(plan.column)};
  if (plan.dot) layout.group = plan.dot->group, layout.grouped = dimension(plan.dot->axis);
  // tiles read one panel after the other for each value of these
  const auto is_shared = [&](const PrimExpr& index) {
    return std::any_of(plan.shared.begin(), plan.shared.end(),
                       [&](size_t axis) { return index.get() == sum.block->iter_vars[axis]->var.get(); });
  };
  while (is_shared(operand->indices[layout.outside])) ++layout.outside;
  return layout;
}

IndexMap panel_map(const Buffer& buffer, const PanelLayout& layout) {
  const std::vector<Var> from = index_vars(buffer);
  const bool has_groups = layout.group > 1;
  const PrimExpr column = from[layout.column], grouped = from[layout.grouped];
  std::vector<PrimExpr> to;
  for (size_t dim = 0; dim < from.size(); ++dim) {
    if (dim == layout.outside) to.push_back(floordiv(column, layout.width));
    if (dim == layout.column) continue;
    to.push_back(has_groups && dim == layout.grouped ? floordiv(grouped, layout.group) : PrimExpr(from[dim]));
  }
  to.push_back(floormod(column, layout.width));
  if (has_groups) to.push_back(floormod(grouped, layout.group));
  return IndexMapNode::make(from, to);
}

}  // namespace tilewright::schedule
