// product_tiles: products of matrices, and convolutions as such, in tiles of sampled sizes for blocks of threads, threads
// and steps of the sum.
//   for i, j, k: C[i, j] += A[i, k] * B[k, j]
//   ->  for i0, j0 in blockIdx: for i1, j1 in threadIdx: R[i2, j2] = 0
//         for k0: tiles of A and B are copied to shared memory by all threads, as vectors of sampled lanes
//                 for k1, i2, j2: R += A1 * B1
//         C[.., ..] = R
// Extents are filled up with zeros to what has many factors, so that 127 has as many tiles as 128.
#include <algorithm>
#include <bit>

#include "tilewright/schedule/default/gpu/product_parts.h"
#include "tilewright/schedule/default/gpu/threads.h"
#include "tilewright/schedule/steps.h"
#include "tilewright/tune/gpu_rule.h"
#include "tilewright/tune/samples.h"

namespace tilewright::tune {
namespace {
namespace steps = schedule::steps;
using schedule::BlockShape;
using schedule::ExprRef;
using schedule::LoopRef;
using schedule::None;

constexpr int64_t kMostFilledUp = 64, kMostTermsFilledUp = 16;  // multiples that extents are filled up to
constexpr int64_t kMostInThread = 16, kMostTerms = 32;          // of a tile along one axis

int64_t filled_up(const BlockShape& sum, const std::vector<size_t>& axes, int64_t most) {
  int64_t extent = 1;
  for (size_t axis : axes) extent = schedule::product(extent, sum.extent(axis));
  return std::min(most, static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(extent))));
}

std::vector<LoopRef> tiled(Schedule& sch, LoopRef loop, int64_t count, int64_t most) {
  const std::vector<ExprRef> sizes = sch.call("sample_perfect_tile", loop, count, most).exprs();
  return steps::split(sch, loop, schedule::Factors(sizes.begin(), sizes.end()));
}

// The samples of tiles along rows and columns: of the grid, of a block of threads, and of a thread.
struct Threads {
  std::vector<ExprRef> rows, columns;
};

std::vector<ExprRef> tile_sizes(Schedule& sch, LoopRef loop) {
  return sch.call("sample_perfect_tile", loop, int64_t{3}, kMostInThread).exprs();
}

// All threads copy a tile of an operand for each step of the sum, neighbours in memory side by side.
void copy_by_threads(Schedule& sch, BlockRef copy, LoopRef step, const Threads& threads, bool has_vectors,
                     const GpuFeatures& features) {
  steps::set_scope(sch, copy, {int64_t{0}}, "shared");
  sch.call("compute_at", copy, step, true);
  const OrReason<BlockShape> shape = schedule::shape_of(sch, copy);
  const std::vector<LoopRef> loops = steps::get_loops(sch, copy);
  const LoopRef row = loops[loops.size() - 2], term = loops[loops.size() - 1];
  const size_t term_axis = shape ? shape->block->iter_vars.size() - 1 : 0;
  const bool is_along_terms =
      shape && std::ranges::any_of(shape->loads, [&](const tir::BufferLoadNode* load) {
        return along(*shape, load, term_axis) == schedule::Along::kContiguous;
      });
  if (!is_along_terms) steps::reorder(sch, {term, row});
  const LoopRef all = steps::fuse(sch, is_along_terms ? std::vector{row, term} : std::vector{term, row});
  schedule::Factors factors = {None{}, threads.rows[1], threads.columns[1]};
  const int64_t lanes = shape && has_vectors && !is_along_terms ? lanes_of(*shape, features) : 1;
  if (lanes > 1) factors.emplace_back(sample_lanes(sch, lanes, true));
  const std::vector<LoopRef> parts = steps::split(sch, all, factors);
  steps::bind(sch, parts[1], "threadIdx.y");
  steps::bind(sch, parts[2], "threadIdx.x");
  if (lanes > 1) steps::vectorize(sch, parts[3]);
  const int64_t bytes = std::max<int64_t>(1, sch.get(copy)->writes[0]->buffer->dtype.num_bytes());
  // rows of terms begin in other banks, and where vectors may
  steps::storage_align(sch, copy, {int64_t{0}}, -2, features.banks * features.bank_bytes / bytes,
                       std::max<int64_t>(1, features.vector_load_bytes / bytes));
}

Schedule design_of(Schedule sch, const BlockShape& sum, const schedule::ProductAxes& axes,
                   const std::optional<BlockShape>& epilogue, bool has_vectors, const GpuFeatures& features) {
  const std::vector<int64_t> padding = {filled_up(sum, axes.rows, kMostFilledUp),
                                        filled_up(sum, axes.columns, kMostFilledUp),
                                        filled_up(sum, axes.terms, kMostTermsFilledUp)};
  const schedule::ProductParts parts = make_product_parts(sch, sum, axes, padding, epilogue);
  for (BlockRef copy : {parts.row_copy, parts.column_copy}) put_terms_first(sch, parts.sum, copy);
  steps::set_scope(sch, parts.sum, {int64_t{0}}, "local");
  const std::vector<LoopRef> loops = steps::get_loops(sch, parts.sum);
  const size_t first = loops.size() - 3;
  const auto split = [&](LoopRef loop, const std::vector<ExprRef>& sizes) {
    return steps::split(sch, loop, schedule::Factors(sizes.begin(), sizes.end()));
  };
  Threads threads;
  threads.rows = tile_sizes(sch, loops[first]);
  threads.columns = tile_sizes(sch, loops[first + 1]);
  const std::vector<LoopRef> rows = split(loops[first], threads.rows);
  const std::vector<LoopRef> columns = split(loops[first + 1], threads.columns);
  const std::vector<LoopRef> terms = tiled(sch, loops[first + 2], 2, kMostTerms);
  steps::reorder(sch, {rows[0], columns[0], rows[1], columns[1], terms[0], terms[1], rows[2], columns[2]});
  steps::reverse_compute_at(sch, parts.result_copy, columns[1]);
  if (first > 0) steps::bind(sch, loops[0], "blockIdx.z");
  steps::bind(sch, rows[0], "blockIdx.x");
  steps::bind(sch, columns[0], "blockIdx.y");
  steps::bind(sch, rows[1], "threadIdx.y");
  steps::bind(sch, columns[1], "threadIdx.x");
  for (BlockRef copy : {parts.row_copy, parts.column_copy})
    copy_by_threads(sch, copy, terms[0], threads, has_vectors, features);
  const BlockRef init = steps::decompose_reduction(sch, parts.sum, terms[0]);
  for (LoopRef loop : schedule::loops_inside(sch, init, columns[1])) steps::unroll(sch, loop);
  for (LoopRef loop : {terms[1], rows[2], columns[2]}) steps::unroll(sch, loop);
  for (LoopRef loop : schedule::loops_inside(sch, parts.result_copy, columns[1])) steps::unroll(sch, loop);
  return sch;
}

// The block that alone reads the sum, if it works element by element.
std::optional<BlockShape> epilogue_of(Schedule& sch, BlockRef block) {
  const std::vector<BlockRef> readers = sch.call("get_consumers", block).blocks();
  if (readers.size() != 1 || why_on_threads(sch, readers[0])) return std::nullopt;
  OrReason<BlockShape> shape = schedule::shape_of(sch, readers[0]);
  if (!shape || shape->is_reduction()) return std::nullopt;
  return std::move(*shape);
}

OrReason<std::vector<Schedule>> apply(const Schedule& sch, BlockRef block, const GpuFeatures& features) {
  if (std::optional<Reason> why = why_on_threads(sch, block)) return *why;
  const OrReason<BlockShape> shape = schedule::shape_of(sch, block);
  if (!shape) return shape.reason();
  const OrReason<schedule::ProductAxes> axes = product_axes(*shape);
  if (!axes) return axes.reason();
  for (size_t axis = 0; axis < shape->block->iter_vars.size(); ++axis) {
    if (shape->extent(axis) == 0) return schedule::open_extent(*shape, axis);
  }
  std::vector<Schedule> designs{sch};  // sums across threads are another way
  std::string refused;
  Schedule start = sch;
  const std::optional<BlockShape> epilogue = epilogue_of(start, block);
  for (bool has_vectors : {true, false}) {
    try {
      designs.push_back(design_of(start, *shape, *axes, epilogue, has_vectors, features));
    } catch (const Error& error) {
      if (error.kind() == Error::Kind::kInternal) throw;
      refused = error.text();
    }
  }
  if (designs.size() == 1) return Reason(Reason::kRefused, "{}", refused);
  return designs;
}

}  // namespace

extern constinit const GpuRuleInfo product_tiles_info{
    "product_tiles", "products of matrices in tiles for blocks, threads and steps of the sum", 10, &apply};
}  // namespace tilewright::tune
