// Rule rows: threads reduce rows together, sums, maxima, softmax, norms, and all blocks of a row are one kernel.
//   for i, k: S[i] += A[i, k]
//   for i, j: B[i, j] = A[i, j] / S[i]
//   ->  for block in blockIdx.x: for row in threadIdx.y:
//         for ko, thread in threadIdx.x: S[row] += A[.., ko * 32 + thread]        # S in shared memory
//         for jo, thread in threadIdx.x: B[.., jo * 32 + thread] = A[..] / S[row]
// Short rows have a warp each, and a block several of them; a long one has a block.
#include <algorithm>
#include <bit>

#include "tilewright/analysis/update.h"
#include "tilewright/schedule/default/cpu/rules.h"
#include "tilewright/schedule/default/gpu/threads.h"
#include "tilewright/schedule/default/rows.h"
#include "tilewright/schedule/steps.h"
#include "tilewright/tir/builder.h"

namespace tilewright::schedule {
namespace {

struct RowPlan {
  size_t num_rows = 0;  // axes that all blocks begin with
  int64_t threads = 1;  // along a row
  int64_t rows_in_block = 1;
  std::vector<bool> is_kept;  // whether the values of each block are kept in shared memory, or computed again
};

// The number of elements or terms of a row.
int64_t row_length(const BlockShape& shape, size_t num_rows) {
  if (shape.is_reduction()) return num_steps(shape);
  int64_t length = 1;
  const std::vector<size_t> axes = spatial_axes(shape);
  for (size_t n = num_rows; n < axes.size(); ++n) length = product(length, shape.likely_extent(axes[n]));
  return length;
}

// The bytes of one row of what a block computes; nothing if they are known only at run time.
std::optional<int64_t> row_bytes(const BlockShape& shape, size_t num_rows) {
  int64_t bytes = std::max<int64_t>(1, shape.output()->dtype.num_bytes());
  const std::vector<size_t> axes = spatial_axes(shape);
  for (size_t n = num_rows; n < axes.size(); ++n) {
    if (shape.extent(axes[n]) == 0) return std::nullopt;
    bytes = product(bytes, shape.extent(axes[n]));
  }
  return bytes;
}

// A power of two of threads for rows of `length`.
int64_t threads_of_row(int64_t length, const GpuFeatures& features) {
  const auto wanted = static_cast<uint64_t>(std::max<int64_t>(1, length / kGpuCosts.terms_per_thread));
  const int64_t most = std::min(2 * kGpuCosts.block_threads, features.max_threads_per_block);
  return std::clamp<int64_t>(static_cast<int64_t>(std::bit_floor(wanted)), std::min(features.warp_size, most),
                             most);
}

bool reduces_contiguous(const BlockShape& sum) {
  for (size_t axis = 0; axis < sum.block->iter_vars.size(); ++axis) {
    if (sum.block->iter_vars[axis]->iter_type != IterType::kReduce || sum.extent(axis) == 1) continue;
    if (is_contiguous_alone(sum, axis)) return true;
  }
  return false;
}

// How many of the first axes of `last` are the rows of the first sum of `shapes`.
OrReason<size_t> num_rows_of(const std::vector<BlockShape>& shapes) {
  std::optional<size_t> num_rows;
  for (const BlockShape& shape : shapes) {
    if (!shape.is_reduction()) continue;
    if (!reduces_contiguous(shape))
      return Reason(Reason::kForm, "no axis along which block {} adds is contiguous in all that it reads",
                    shape.block->name_hint);
    const size_t count = spatial_axes(shape).size();
    if (num_rows && *num_rows != count)
      return Reason(Reason::kForm, "block {} reduces rows of {} axes, and a block before it of {}",
                    shape.block->name_hint, count, *num_rows);
    num_rows = count;
  }
  if (!num_rows) return Reason(Reason::kOther, "nothing is added up");
  for (const BlockShape& shape : shapes) {
    if (std::optional<Reason> why = why_other_rows(shape, shapes.back(), *num_rows, shapes)) return *why;
  }
  return *num_rows;
}

OrReason<RowPlan> plan_rows(const std::vector<BlockShape>& shapes, const GpuFeatures& features) {
  RowPlan plan;
  const OrReason<size_t> num_rows = num_rows_of(shapes);
  if (!num_rows) return num_rows.reason();
  plan.num_rows = *num_rows;
  int64_t length = 1;
  for (const BlockShape& shape : shapes) length = std::max(length, row_length(shape, plan.num_rows));
  if (shapes.size() == 1 && length < features.warp_size && plan.num_rows > 0)
    return Reason(Reason::kTooSmall, "rows of {} terms are shorter than the {} threads of a warp", length,
                  features.warp_size);
  plan.threads = threads_of_row(length, features);
  const BlockShape& last = shapes.back();
  // blocks of the grid count parts of an open number of rows only along one axis
  bool is_inner_open = false;
  for (size_t row = 1; row < plan.num_rows; ++row) is_inner_open |= last.extent(spatial_axes(last)[row]) == 0;
  if (plan.num_rows > 0 && plan.threads == features.warp_size && !is_inner_open) {
    const int64_t rows = last.likely_extent(spatial_axes(last)[plan.num_rows - 1]);
    const int64_t most = std::min(kGpuCosts.block_threads, features.max_threads_per_block) / plan.threads;
    plan.rows_in_block = std::clamp<int64_t>(
        static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(std::max<int64_t>(rows, 1)))), 1,
        std::max<int64_t>(most, 1));
  }
  // two blocks of a multiprocessor hide each other's waiting
  int64_t left = std::min(features.shared_bytes_per_block, features.shared_bytes_per_sm / 2);
  for (size_t n = 0; n + 1 < shapes.size(); ++n) {
    const std::optional<int64_t> bytes = row_bytes(shapes[n], plan.num_rows);
    const bool is_kept = shapes[n].is_reduction() || (bytes && product(*bytes, plan.rows_in_block) <= left);
    if (shapes[n].is_reduction() && !bytes)
      return Reason(Reason::kOpenExtent, "how much block {} keeps of a row is known only at run time",
                    shapes[n].block->name_hint);
    if (is_kept) left -= product(*bytes, plan.rows_in_block);
    plan.is_kept.push_back(is_kept);
  }
  if (left < 0)
    return Reason(Reason::kCost, "what the blocks keep of {} rows is more than the {} bytes of shared memory",
                  plan.rows_in_block, features.shared_bytes_per_block);
  return plan;
}

// The loops of rows of `last` as blocks of the grid and, inside, rows of a block.
//
// Returns  the loop of blocks
LoopRef bind_rows(Schedule& sch, const BlockShape& last, const RowPlan& plan) {
  const std::vector<size_t> axes = spatial_axes(last);
  const std::vector<LoopRef> loops = steps::get_loops(sch, last.ref);
  std::vector<LoopRef> rows, others;
  for (size_t row = 0; row < plan.num_rows; ++row)
    rows.push_back(loops_of_axis(sch, last.ref, axes[row], loops)[0]);
  for (LoopRef loop : loops) {
    const auto is_same = [&](LoopRef other) { return sch.state()[loop] == sch.state()[other]; };
    if (std::ranges::none_of(rows, is_same)) others.push_back(loop);
  }
  if (rows.empty()) {
    const LoopRef block = steps::add_unit_loop(sch, loops.empty() ? PlaceRef(last.ref) : PlaceRef(loops[0]));
    steps::bind(sch, block, "blockIdx.x");
    return block;
  }
  order_loops(sch, rows, others);
  std::optional<LoopRef> inner;
  if (plan.rows_in_block > 1) {
    const std::vector<LoopRef> parts = steps::split(sch, rows.back(), {None{}, plan.rows_in_block});
    rows.back() = parts[0];
    inner = parts[1];
  }
  const LoopRef block = fused(sch, rows);
  steps::bind(sch, block, "blockIdx.x");
  if (inner) steps::bind(sch, *inner, "threadIdx.y");
  return block;
}

// The loops that reduce, those of neighbours in memory innermost.
std::vector<LoopRef> reducing_loops(Schedule& sch, const BlockShape& sum, const std::vector<LoopRef>& loops) {
  std::vector<LoopRef> apart, contiguous;
  for (size_t axis = 0; axis < sum.block->iter_vars.size(); ++axis) {
    if (sum.block->iter_vars[axis]->iter_type != IterType::kReduce) continue;
    std::vector<LoopRef>& list = is_contiguous_alone(sum, axis) ? contiguous : apart;
    for (LoopRef loop : loops_of_axis(sch, sum.ref, axis, loops)) list.push_back(loop);
  }
  apart.insert(apart.end(), contiguous.begin(), contiguous.end());
  return apart;
}

// The threads of a block of the grid, the loop `outer`, along what `shape` computes or adds up of a row.
std::optional<Reason> bind_columns(Schedule& sch, const BlockShape& shape, LoopRef outer,
                                   const RowPlan& plan) {
  const std::vector<LoopRef> loops = loops_inside(sch, shape.ref, outer);
  const std::vector<size_t> axes = spatial_axes(shape);
  const auto is_bound = [&](LoopRef loop) {
    return sch.state().node(sch.state()[loop]).loop()->for_kind == ForKind::kThreadBinding;
  };
  std::vector<LoopRef> rows, columns;
  for (size_t n = 0; n < plan.num_rows; ++n) {
    for (LoopRef loop : loops_of_axis(sch, shape.ref, axes[n], loops)) rows.push_back(loop);
  }
  if (shape.is_reduction()) {
    columns = reducing_loops(sch, shape, loops);
  } else {
    for (LoopRef loop : loops) {
      const auto is_same = [&](LoopRef other) { return sch.state()[loop] == sch.state()[other]; };
      if (std::ranges::none_of(rows, is_same) && !is_bound(loop)) columns.push_back(loop);
    }
  }
  if (plan.rows_in_block > 1) {
    if (!rows.empty() && !is_bound(rows.back()) && extent_of(sch, rows.back()) != plan.rows_in_block)
      return Reason(Reason::kForm, "block {} computes {} of the {} rows of a block", shape.block->name_hint,
                    extent_of(sch, rows.back()), plan.rows_in_block);
    order_loops(sch, rows, columns);
    if (!rows.empty() && !is_bound(rows.back())) steps::bind(sch, rows.back(), "threadIdx.y");
  } else {
    order_loops(sch, rows, columns);
  }
  if (columns.empty()) columns.push_back(steps::add_unit_loop(sch, shape.ref));
  const std::vector<LoopRef> parts = steps::split(sch, fused(sch, columns), {None{}, plan.threads});
  steps::bind(sch, parts[1], "threadIdx.x");
  return std::nullopt;
}

}  // namespace

std::optional<Reason> reduce_rows_by_threads(Schedule& sch, const std::vector<BlockShape>& shapes,
                                             const GpuFeatures& features) {
  const OrReason<RowPlan> plan = plan_rows(shapes, features);
  if (!plan) return plan.reason();
  for (size_t n = 0; n + 1 < shapes.size(); ++n) {
    if (!plan->is_kept[n]) steps::compute_inline(sch, shapes[n].ref);
  }
  const LoopRef block = bind_rows(sch, shapes.back(), *plan);
  for (size_t n = shapes.size(); n-- > 0;) {
    const bool is_last = n + 1 == shapes.size();
    if (!is_last && !plan->is_kept[n]) continue;
    if (!is_last) {
      steps::set_scope(sch, shapes[n].ref, {int64_t{0}}, "shared");
      sch.call("compute_at", shapes[n].ref, block, true);
    }
    // others may have been computed in it since the plan was made
    const OrReason<BlockShape> shape = shape_of(sch, shapes[n].ref);
    if (!shape) return shape.reason();
    if (std::optional<Reason> why = bind_columns(sch, *shape, block, *plan)) return why;
  }
  return std::nullopt;
}

std::optional<Reason> choose_by_threads(Schedule& sch, BlockRef ref, const GpuFeatures& features) {
  const Block block = sch.get(ref);
  const std::optional<analysis::Update> update = analysis::update_of(block.get());
  if (!update || update->buffers.size() < 2)
    return Reason(Reason::kOther, "it does not choose one of several terms by comparing them");
  const LoopsByKind loops = loops_by_kind(sch, ref);
  if (loops.others.empty())
    return Reason(Reason::kTooSmall, "block {} chooses of one term", block->name_hint);
  const std::optional<int64_t> terms = num_iterations(sch, loops.others);
  if (terms && *terms < features.warp_size)
    return Reason(Reason::kTooSmall, "rows of {} terms are shorter than the {} threads of a warp", *terms,
                  features.warp_size);
  const int64_t threads =
      threads_of_row(terms.value_or(kLoopCosts.likely_extent * features.warp_size), features);
  order_loops(sch, loops.spatial, loops.others);
  // neighbours read neighbours; where the first of equal terms is kept, each thread has terms that follow each other
  const bool is_free = update->order == analysis::TermOrder::kFree;
  std::vector<LoopRef> parts = steps::split(sch, fused(sch, loops.others),
                                            is_free ? Factors{None{}, threads} : Factors{threads, None{}});
  if (is_free) std::swap(parts[0], parts[1]);
  const LoopRef row = loops.spatial.empty() ? steps::add_unit_loop(sch, parts[0]) : fused(sch, loops.spatial);
  steps::bind(sch, row, "blockIdx.x");
  steps::bind(sch, parts[0], "threadIdx.x");
  return std::nullopt;
}

}  // namespace tilewright::schedule
