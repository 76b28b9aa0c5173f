// Rule transpose: blocks that read along one axis and write along another, through a square of shared memory.
//   for i, j: B[i, j] = A[j, i]
//   ->  for block in blockIdx.x: S[32, 32 + 1] = A[.., ..], neighbouring threads along i
//                                B[.., ..] = S, neighbouring threads along j
// One element more in a row of the square puts the elements of a column into different banks.
#include <algorithm>

#include "tilewright/ir/services.h"
#include "tilewright/schedule/default/cpu/rules.h"
#include "tilewright/schedule/default/gpu/threads.h"
#include "tilewright/schedule/steps.h"
#include "tilewright/tir/builder.h"
#include "tilewright/tir/uses.h"

namespace tilewright::schedule {
namespace {

/// What is read along another axis than it is written along.
struct Transposed {
  const BufferLoadNode* load;
  size_t row, column;  // axes: neighbours along `row` are read, along `column` written
  int64_t column_dim;  // of the buffer that is read
};

OrReason<Transposed> transposed(const BlockShape& shape, const GpuFeatures& features) {
  const std::optional<size_t> column = shape.last_axis();
  if (shape.is_reduction()) return Reason(Reason::kOther, "it is a reduction");
  if (!column) return why_no_last_axis(shape);
  std::optional<Transposed> found;
  for (const BufferLoadNode* load : shape.loads) {
    if (along(shape, load, *column) != Along::kStrided) continue;
    if (found && !ir::structural_equal(ObjectRef(found->load), ObjectRef(load)))
      return Reason(Reason::kForm, "block {} reads several buffers along other axes", shape.block->name_hint);
    const size_t last = last_dimension(load->buffer);
    const std::optional<size_t> row = axis_of(shape, load->indices[last]);
    int64_t column_dim = -1;
    for (size_t dim = 0; dim < load->indices.size(); ++dim) {
      if (load->indices[dim].get() == shape.block->iter_vars[*column]->var.get())
        column_dim = static_cast<int64_t>(dim);
    }
    if (!row || *row == *column || column_dim < 0)
      return Reason(Reason::kForm, "the last index of {} is no axis that neighbours lie along",
                    load->buffer->name);
    found = Transposed{load, *row, *column, column_dim};
  }
  if (!found) return Reason(Reason::kOther, "all is read along the axis that is written along");
  for (size_t axis : {found->row, found->column}) {
    const int64_t extent = shape.likely_extent(axis, kLoopCosts.likely_extent * features.warp_size);
    if (extent < features.warp_size / 2)
      return Reason(Reason::kTooSmall, "axis {} has {} values, fewer than half of the {} threads of a warp",
                    axis_name(shape, axis), extent, features.warp_size);
  }
  return *found;
}

// Blocks of the grid for all squares: along one axis, or along three where an open number of squares in a row would
// have to be divided by.
//
// Returns  the innermost loop
LoopRef bind_squares(Schedule& sch, const std::vector<LoopRef>& others, LoopRef row, LoopRef column,
                     const GpuFeatures& features) {
  std::vector<LoopRef> all = others;
  all.insert(all.end(), {row, column});
  if (num_iterations(sch, all)) {
    const LoopRef block = fused(sch, all);
    steps::bind(sch, block, "blockIdx.x");
    return block;
  }
  std::vector<LoopRef> grid = {column, row};
  if (!others.empty()) grid.push_back(fused(sch, others));
  bind_blocks(sch, grid, features);
  return column;
}

}  // namespace

std::optional<Reason> transpose_in_shared_memory(Schedule& sch, const BlockShape& shape,
                                                 const GpuFeatures& features) {
  const OrReason<Transposed> found = transposed(shape, features);
  if (!found) return found.reason();
  const std::vector<BufferRegion>& reads = shape.block->reads;
  const auto read = std::ranges::find_if(
      reads, [&](const BufferRegion& each) { return each->buffer == found->load->buffer; });
  if (read == reads.end())
    return Reason(Reason::kForm, "{} is not among what it reads", found->load->buffer->name);
  const BlockRef copy =
      steps::cache_read(sch, shape.ref, {static_cast<int64_t>(read - reads.begin())}, "shared");
  const std::vector<LoopRef> loops = steps::get_loops(sch, shape.ref);
  const std::vector<LoopRef> row = loops_of_axis(sch, shape.ref, found->row, loops),
                             column = loops_of_axis(sch, shape.ref, found->column, loops);
  if (row.size() != 1 || column.size() != 1)
    return Reason(Reason::kForm, "its axes have no loops of their own");
  std::vector<LoopRef> blocks;
  for (LoopRef loop : loops) {
    const auto id = sch.state()[loop];
    if (id != sch.state()[row[0]] && id != sch.state()[column[0]]) blocks.push_back(loop);
  }
  const int64_t side = features.warp_size;
  const std::vector<LoopRef> rows = steps::split(sch, row[0], {None{}, side}),
                             columns = steps::split(sch, column[0], {None{}, side});
  std::vector<LoopRef> outer = blocks;
  outer.insert(outer.end(), {rows[0], columns[0]});
  order_loops(sch, outer, {rows[1], columns[1]});
  const LoopRef block = bind_squares(sch, blocks, rows[0], columns[0], features);
  sch.call("compute_at", copy, block, true);
  const int64_t threads = std::min(kGpuCosts.block_threads, features.max_threads_per_block);
  for (const std::vector<LoopRef>& tile :
       {std::vector<LoopRef>{rows[1], columns[1]}, loops_inside(sch, copy, block)}) {
    const std::vector<LoopRef> parts = steps::split(sch, fused(sch, tile), {None{}, threads});
    steps::bind(sch, parts[1], "threadIdx.x");
  }
  const int64_t bytes = std::max<int64_t>(1, found->load->dtype.num_bytes());
  steps::storage_align(sch, copy, {int64_t{0}}, found->column_dim,
                       features.banks * features.bank_bytes / bytes,
                       std::max<int64_t>(1, features.bank_bytes / bytes));
  return std::nullopt;
}

}  // namespace tilewright::schedule
