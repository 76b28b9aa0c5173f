// Rule tiles: products of matrices, and convolutions as such, in tiles that lie in shared memory and registers.
//   for i, j, k: C[i, j] += A[i, k] * B[k, j]
//   ->  for row tile in blockIdx.x, column tile in blockIdx.y, thread in threadIdx.x:
//         R[8, 4] = 0
//         for ko: A1[16, 64], B1[16, 128] = tiles of A and B, copied by all threads, zeros where there are no elements
//                 for k: R += A1[k, ..] * B1[k, ..]
//         C[.., ..] = R
// Axes that only one operand depends on are taken together: rows of a convolution are its pixels, and what it adds up
// are channels and taps.
#include <algorithm>

#include "tilewright/arith/analyzer.h"
#include "tilewright/schedule/default/cpu/rules.h"
#include "tilewright/schedule/default/gpu/pipeline_terms.h"
#include "tilewright/schedule/default/gpu/product_parts.h"
#include "tilewright/schedule/default/gpu/threads.h"
#include "tilewright/schedule/steps.h"
#include "tilewright/tir/builder.h"
#include "tilewright/tir/uses.h"

namespace tilewright::schedule {
namespace {

// True if neighbours along `axis` lie side by side: row * 27 + term // 9 * 9 + term % 9 goes along terms.
bool are_neighbours(const BlockShape& shape, const BufferLoadNode* load, size_t axis) {
  const Buffer& buffer = load->buffer;
  if (along(shape, load, axis) == Along::kContiguous) return true;
  if (!buffer->strides.empty()) return false;
  PrimExpr place = make_const_int(load->indices[0]->dtype, 0);
  for (size_t dim = 0; dim < buffer->shape.size(); ++dim)
    place = place * tir::cast(place->dtype, buffer->shape[dim]) + tir::cast(place->dtype, load->indices[dim]);
  const IterVar& term = shape.block->iter_vars[axis];
  arith::Analyzer analyzer;
  for (const IterVar& each : shape.block->iter_vars) analyzer.bind(each->var, each->dom);
  const PrimExpr rest = analyzer.simplify(place - tir::cast(place->dtype, term->var));
  return !tir::uses(rest, term->var.get());
}

// Threads write `in_sector` terms of some rows at once: rows of terms are so far apart that these lie in different banks,
// and begin where vectors may.
void pad_rows(Schedule& sch, BlockRef copy, int64_t in_sector, const GpuFeatures& features) {
  const int64_t bytes = std::max<int64_t>(1, sch.get(copy)->writes[0]->buffer->dtype.num_bytes());
  const int64_t of_banks = features.banks / std::min(in_sector, features.banks) * features.bank_bytes;
  const int64_t apart = std::max<int64_t>(1, std::max(of_banks, features.vector_load_bytes) / bytes);
  steps::storage_align(sch, copy, {int64_t{0}}, -2, 2 * apart, apart);
}

// The loops of the copy of a tile in the order in which threads take elements: along terms where these are neighbours
// in memory, a sector of a row after the other, else along rows.
LoopRef copying_loop(Schedule& sch, BlockRef copy, int64_t loops_around, const GpuFeatures& features,
                     int64_t* lanes) {
  const OrReason<BlockShape> shape = shape_of(sch, copy);
  std::vector<LoopRef> loops = steps::get_loops(sch, copy);
  loops.erase(loops.begin(), loops.begin() + loops_around);
  const LoopRef row = loops[loops.size() - 2], term = loops[loops.size() - 1];
  const size_t term_axis = shape ? shape->block->iter_vars.size() - 1 : 0;
  const bool is_along_terms = shape && std::ranges::any_of(shape->loads, [&](const BufferLoadNode* load) {
                                return are_neighbours(*shape, load, term_axis);
                              });
  *lanes = shape && !is_along_terms ? lanes_of(*shape, features) : 1;
  if (!is_along_terms) {
    steps::reorder(sch, {term, row});
    return steps::fuse(sch, {term, row});
  }
  const int64_t bytes = std::max<int64_t>(1, shape->output()->dtype.num_bytes());
  const int64_t in_sector =
      std::min(std::max<int64_t>(1, features.sector_bytes / bytes), extent_of(sch, term));
  const std::vector<LoopRef> parts = steps::split(sch, term, {None{}, in_sector});
  steps::reorder(sch, {parts[0], row, parts[1]});
  pad_rows(sch, copy, in_sector, features);
  return steps::fuse(sch, {parts[0], row, parts[1]});
}

// All threads copy a tile of an operand for each step of the sum.
void copy_by_threads(Schedule& sch, BlockRef copy, LoopRef step, const TilePlan& plan,
                     const GpuFeatures& features) {
  steps::set_scope(sch, copy, {int64_t{0}}, "shared");
  sch.call("compute_at", copy, step, true);
  const auto around =
      static_cast<int64_t>(steps::get_loops(sch, copy).size() - loops_inside(sch, copy, step).size());
  int64_t lanes = 1;
  const LoopRef loop = copying_loop(sch, copy, around, features, &lanes);
  const int64_t count = extent_of(sch, loop);
  while (lanes > 1 && count % (lanes * plan.threads()) != 0) lanes /= 2;
  Factors factors = {None{}, plan.threads()};
  if (lanes > 1) factors.push_back(lanes);
  const std::vector<LoopRef> parts = steps::split(sch, loop, factors);
  steps::bind(sch, parts[1], "threadIdx.x");
  if (lanes > 1) steps::vectorize(sch, parts[2]);
}

void write_by_threads(Schedule& sch, BlockRef copy, LoopRef thread, const GpuFeatures& features) {
  const std::vector<LoopRef> loops = loops_inside(sch, copy, thread);
  if (loops.empty()) return;
  const OrReason<BlockShape> shape = shape_of(sch, copy);
  const int64_t lanes = shape ? lanes_of(*shape, features) : 1;
  const bool is_vector = lanes > 1 && extent_of(sch, loops.back()) == lanes &&
                         loops_of_axis(sch, copy, *shape->last_axis(), {loops.back()}).size() == 1;
  if (is_vector) steps::vectorize(sch, loops.back());
  for (size_t n = 0; n + (is_vector ? 1 : 0) < loops.size(); ++n) steps::unroll(sch, loops[n]);
}

// Tiles of the next steps are on their way while one is multiplied.  Copies of elements of less than 4 bytes, which are no
// asynchronous ones, would need registers.
void pipeline_copies(Schedule& sch, const ProductParts& parts, LoopRef step, const TilePlan& plan,
                     const GpuFeatures& features) {
  for (BlockRef copy : {parts.row_copy, parts.column_copy}) {
    if (sch.get(copy)->writes[0]->buffer->dtype.num_bytes() < 4) return;
  }
  const TileCosts costs{plan.threads(), plan.registers_per_thread, plan.shared_bytes, extent_of(sch, step)};
  pipeline_terms(sch, step, 2, 1, pipeline_stages(costs, features), true);
}

}  // namespace

std::optional<Reason> tile_product(Schedule& sch, const BlockShape& sum,
                                   const std::optional<BlockShape>& epilogue, const GpuFeatures& features) {
  const OrReason<TilePlan> plan = plan_tiles(sum, features);
  if (!plan) return plan.reason();
  const ProductParts parts =
      make_product_parts(sch, sum, plan->axes, {plan->rows, plan->columns, plan->terms}, epilogue);
  for (BlockRef copy : {parts.row_copy, parts.column_copy}) put_terms_first(sch, parts.sum, copy);
  steps::set_scope(sch, parts.sum, {int64_t{0}}, "local");
  std::vector<LoopRef> loops = steps::get_loops(sch, parts.sum);
  const size_t first = loops.size() - 3;
  const std::vector<LoopRef> rows =
      steps::split(sch, loops[first], {None{}, plan->rows / plan->thread_rows, plan->thread_rows});
  const std::vector<LoopRef> columns = steps::split(
      sch, loops[first + 1], {None{}, plan->columns / plan->thread_columns, plan->thread_columns});
  const std::vector<LoopRef> terms = steps::split(sch, loops[first + 2], {None{}, plan->terms});
  steps::reorder(sch, {rows[0], columns[0], rows[1], columns[1], terms[0], terms[1], rows[2], columns[2]});
  steps::reverse_compute_at(sch, parts.result_copy, columns[1]);
  const LoopRef thread = steps::fuse(sch, {rows[1], columns[1]});
  std::vector<LoopRef> grid = {rows[0], columns[0]};
  if (first > 0) grid.push_back(loops[0]);
  bind_blocks(sch, grid, features);
  steps::bind(sch, thread, "threadIdx.x");
  for (BlockRef copy : {parts.row_copy, parts.column_copy})
    copy_by_threads(sch, copy, terms[0], *plan, features);
  const BlockRef init = steps::decompose_reduction(sch, parts.sum, terms[0]);
  for (LoopRef loop : loops_inside(sch, init, thread)) steps::unroll(sch, loop);
  for (LoopRef loop : {terms[1], rows[2], columns[2]}) steps::unroll(sch, loop);
  write_by_threads(sch, parts.result_copy, thread, features);
  pipeline_copies(sch, parts, terms[0], *plan, features);
  return std::nullopt;
}

}  // namespace tilewright::schedule
