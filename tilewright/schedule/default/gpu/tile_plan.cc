#include "tilewright/schedule/default/gpu/tile_plan.h"

#include <algorithm>
#include <bit>

#include "tilewright/target/gpu_work.h"
#include "tilewright/tir/builder.h"
#include "tilewright/tir/uses.h"

namespace tilewright::schedule {
namespace {

bool depends(const BlockShape& sum, const Buffer& buffer, size_t axis) {
  return std::ranges::any_of(sum.loads, [&](const BufferLoadNode* load) {
    return load->buffer == buffer && std::ranges::any_of(load->indices, [&](const PrimExpr& index) {
             return tir::uses(index, sum.block->iter_vars[axis]->var.get());
           });
  });
}

// The two buffers whose elements are multiplied.
OrReason<std::pair<Buffer, Buffer>> operands_of(const BlockShape& sum) {
  const auto* add = sum.store->value.as<AddNode>();
  if (!sum.is_reduction() || !add)
    return Reason(Reason::kOther, "block {} does not add up", sum.block->name_hint);
  std::vector<Buffer> buffers;
  for (const BufferLoadNode* load : sum.loads) {
    if (std::ranges::find(buffers, load->buffer) == buffers.end()) buffers.push_back(load->buffer);
  }
  if (buffers.size() == 2) return std::pair(buffers[0], buffers[1]);
  return Reason(Reason::kForm, "block {} reads {} buffers, and products of matrices two",
                sum.block->name_hint, buffers.size());
}

// True if an axis but the first of several is open: as parts of one number they would be divided by it.
bool has_open_divisor(const BlockShape& sum, const std::vector<size_t>& axes) {
  return axes.size() > 1 &&
         std::any_of(axes.begin() + 1, axes.end(), [&](size_t axis) { return sum.extent(axis) == 0; });
}

int64_t extent_of_all(const BlockShape& sum, const std::vector<size_t>& axes) {
  int64_t extent = 1;
  for (size_t axis : axes) extent = product(extent, sum.likely_extent(axis, kLoopCosts.likely_extent * 16));
  return extent;
}

int64_t rounded_up(int64_t value, int64_t part) { return (value + part - 1) / part * part; }

struct Sizes : ProductSizes {
  int64_t operand_bytes, result_bytes;
};

int64_t shared_bytes(const TilePlan& plan, const Sizes& sizes, const GpuFeatures& features) {
  const int64_t padding = features.vector_load_bytes / sizes.operand_bytes;  // of each row
  return (plan.rows + plan.columns + 2 * padding) * plan.terms * sizes.operand_bytes;
}

int64_t registers_of_thread(const TilePlan& plan, const Sizes& sizes) {
  constexpr int64_t kRegisterBytes = 4;
  const int64_t sums = plan.thread_rows * plan.thread_columns * std::max(sizes.result_bytes, kRegisterBytes);
  const int64_t factors = (plan.thread_rows + plan.thread_columns) * kRegisterBytes;
  return (sums + factors) / kRegisterBytes + kGpuCosts.other_registers;
}

/// The cycles that a block takes for one term of all its results.
struct StepCycles {
  double instructions;  // multiply-adds, and loads from shared memory
  double
      shared;  // memory, which gives vectors of neighbouring threads in parts and one of all threads at once
  double cache;  // that all multiprocessors share
};

StepCycles cycles_of_step(const TilePlan& plan, const Sizes& sizes, const GpuFeatures& features) {
  const auto vectors = [&](int64_t elements) {
    return static_cast<double>(rounded_up(elements * sizes.operand_bytes, features.vector_load_bytes) /
                               features.vector_load_bytes);
  };
  const auto warp = static_cast<double>(features.warp_size),
             warps = static_cast<double>(plan.threads()) / warp,
             rate = static_cast<double>(features.fma_per_cycle_per_sm),
             bank_bytes = static_cast<double>(features.banks * features.bank_bytes),
             tile = static_cast<double>(plan.rows + plan.columns),
             bytes = static_cast<double>(sizes.operand_bytes);
  const double multiply_adds = static_cast<double>(plan.thread_rows * plan.thread_columns),
               loads = vectors(plan.thread_rows) + vectors(plan.thread_columns),
               copied = tile / static_cast<double>(plan.threads());  // loaded and stored again by each thread
  const double columns = static_cast<double>(plan.thread_columns) * bytes * warp / bank_bytes;
  return {.instructions = warps * (multiply_adds + loads + 2 * copied) * warp / rate,
          .shared = warps * (columns + vectors(plan.thread_rows)) + tile * bytes / bank_bytes,
          .cache = tile * bytes * static_cast<double>(features.num_sms) /
                   static_cast<double>(features.l2_bytes_per_cycle)};
}

// The cycles that the busiest multiprocessor takes; nothing if the tiles do not fit.
std::optional<double> cycles_of(const TilePlan& plan, const Sizes& sizes, const GpuFeatures& features) {
  if (plan.threads() < features.warp_size) return std::nullopt;
  const int64_t blocks =
      product(sizes.batch, product(rounded_up(sizes.rows, plan.rows) / plan.rows,
                                   rounded_up(sizes.columns, plan.columns) / plan.columns));
  const auto terms = static_cast<double>(rounded_up(sizes.terms, plan.terms));
  const StepCycles step = cycles_of_step(plan, sizes, features);
  return target::cycles_of({.blocks = blocks,
                            .threads = plan.threads(),
                            .registers_per_thread = registers_of_thread(plan, sizes),
                            .shared_bytes = shared_bytes(plan, sizes, features),
                            .instructions = terms * step.instructions,
                            .shared = terms * step.shared,
                            .cache = terms * step.cache},
                           features);
}

}  // namespace

OrReason<ProductAxes> product_axes(const BlockShape& sum) {
  const auto operands = operands_of(sum);
  if (!operands) return operands.reason();
  const auto& [first, second] = *operands;
  const std::optional<size_t> last = sum.last_axis();
  if (!last) return why_no_last_axis(sum);
  ProductAxes axes;
  const bool is_of_first = depends(sum, first, *last);
  axes.column_operand = is_of_first ? first : second;
  axes.row_operand = is_of_first ? second : first;
  for (size_t axis = 0; axis < sum.block->iter_vars.size(); ++axis) {
    const bool is_row = depends(sum, axes.row_operand, axis),
               is_column = depends(sum, axes.column_operand, axis);
    const bool is_sum = sum.block->iter_vars[axis]->iter_type == IterType::kReduce;
    if (is_sum && is_row && is_column)
      axes.terms.push_back(axis);
    else if (!is_sum && (is_row || is_column))
      (is_row && is_column ? axes.batch : is_row ? axes.rows : axes.columns).push_back(axis);
    else if (sum.extent(axis) != 1)
      return Reason(Reason::kForm, "not both operands of block {} depend on axis {}, along which it adds up",
                    sum.block->name_hint, axis_name(sum, axis));
    else
      (is_sum ? axes.terms : axes.rows).push_back(axis);
  }
  if (axes.rows.empty() || axes.columns.empty() || axes.terms.empty())
    return Reason(Reason::kForm, "no factor of block {} is used for several results", sum.block->name_hint);
  for (std::vector<size_t>* group : {&axes.rows, &axes.columns}) {
    while (has_open_divisor(sum, *group)) {
      axes.batch.push_back(group->front());
      group->erase(group->begin());
    }
  }
  std::ranges::sort(axes.batch);
  if (has_open_divisor(sum, axes.batch))
    return Reason(Reason::kOpenExtent,
                  "axes {} and {} of block {} together would be divided by an open extent",
                  axis_name(sum, axes.batch[0]), axis_name(sum, axes.batch[1]), sum.block->name_hint);
  return axes;
}

ProductSizes product_sizes(const BlockShape& sum, const ProductAxes& axes) {
  return {extent_of_all(sum, axes.batch), extent_of_all(sum, axes.rows), extent_of_all(sum, axes.columns),
          extent_of_all(sum, axes.terms)};
}

std::optional<Reason> too_few_results(const BlockShape& sum, const ProductSizes& sizes) {
  for (const auto& [extent, what] : {std::pair(sizes.rows, "rows"), std::pair(sizes.columns, "columns")}) {
    if (extent < kGpuCosts.least_tile_rows)
      return Reason(Reason::kTooSmall, "block {} has {} {}, fewer than the {} of a tile",
                    sum.block->name_hint, extent, what, kGpuCosts.least_tile_rows);
  }
  return std::nullopt;
}

OrReason<TilePlan> plan_tiles(const BlockShape& sum, const GpuFeatures& features) {
  const OrReason<ProductAxes> axes = product_axes(sum);
  if (!axes) return axes.reason();
  int64_t operand_bytes = 1;
  for (const BufferLoadNode* load : sum.loads)
    operand_bytes = std::max<int64_t>(operand_bytes, load->dtype.num_bytes());
  const Sizes sizes{product_sizes(sum, *axes), operand_bytes,
                    std::max<int64_t>(1, sum.output()->dtype.num_bytes())};
  if (const auto reason = too_few_results(sum, sizes)) return *reason;
  TilePlan plan;
  plan.axes = *axes;
  plan.terms = std::max<int64_t>(1, kGpuCosts.sectors_of_row * features.sector_bytes / operand_bytes);
  plan.terms = std::min(plan.terms, static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(sizes.terms))));
  // a thread reads the factors of its columns as one vector
  const int64_t most_columns =
      std::max<int64_t>(1, features.vector_load_bytes / std::max<int64_t>(operand_bytes, 4));
  std::optional<double> least;
  TilePlan best = plan;
  for (plan.thread_columns = 1; plan.thread_columns <= most_columns; plan.thread_columns *= 2) {
    for (plan.thread_rows = 1; plan.thread_rows <= 16; plan.thread_rows *= 2) {
      for (plan.rows = std::max(plan.thread_rows, kGpuCosts.least_tile_rows);
           plan.rows <= features.max_threads_per_block; plan.rows *= 2) {
        for (plan.columns = plan.thread_columns; plan.columns <= features.max_threads_per_block;
             plan.columns *= 2) {
          if (plan.threads() > std::min(kGpuCosts.block_threads, features.max_threads_per_block)) break;
          const std::optional<double> cycles = cycles_of(plan, sizes, features);
          if (!cycles || (least && *cycles >= *least)) continue;
          least = cycles;
          best = plan;
        }
      }
    }
  }
  if (!least)
    return Reason(Reason::kForm,
                  "no tile of block {} fits into {} bytes of shared memory and {} registers of a block",
                  sum.block->name_hint, features.shared_bytes_per_block, features.registers_per_block);
  best.registers_per_thread = registers_of_thread(best, sizes);
  best.shared_bytes = shared_bytes(best, sizes, features);
  return best;
}

}  // namespace tilewright::schedule
