// Rule tensor_cores: products of matrices, and convolutions as such, by instructions of warps.
//   for i, j, k: C[i, j] += A[i, k] * B[k, j]
//   ->  for row tile in blockIdx.x, column tile in blockIdx.y, warp in threadIdx.y:
//         for ko: A1, B1 = tiles of A and B in shared memory, copied by all threads, zeros where there are no elements
//                 for ki: fragments of A1 and B1 (ldmatrix), which the lanes of the warp hold together
//                         C1[warp tile] += fragment of A * fragment of B (mma)
//         C[.., ..] = C1, each lane its own elements
// What lies in memory of scope warp has the order of the instructions' fragments (schedule/intrinsics/mma.h).
#include <algorithm>

#include "tilewright/schedule/default/cpu/rules.h"
#include "tilewright/schedule/default/gpu/mma_plan.h"
#include "tilewright/schedule/default/gpu/product_parts.h"
#include "tilewright/schedule/default/gpu/threads.h"
#include "tilewright/schedule/steps.h"
#include "tilewright/tir/builder.h"

namespace tilewright::schedule {
namespace {

// An operand on its way to tensor cores.
struct Operand {
  MmaOperand kind;
  const MmaElement* element;
  BlockRef copy = {};  // to shared memory
  BlockRef load = {};  // from there to fragments
  bool has_terms_last = true;
};

int64_t bytes_of(const Operand& operand) { return DataType::parse(operand.element->dtype).num_bytes(); }

// True if terms lie side by side in the memory from which `copy` reads.
bool is_along_terms(const Schedule& sch, BlockRef copy) {
  const OrReason<BlockShape> shape = shape_of(sch, copy);
  const size_t term_axis = shape ? shape->block->iter_vars.size() - 1 : 0;
  return shape && std::ranges::any_of(shape->loads, [&](const BufferLoadNode* load) {
           return along(*shape, load, term_axis) == Along::kContiguous;
         });
}

// [.., a, b] -> [.., a // size, b // size, lane, element] of a matrix of an operand or of the sums.
IndexMap fragment_map(MmaOperand kind, bool is_swapped, const Buffer& buffer, int64_t terms) {
  std::vector<Var> from;
  for (const PrimExpr& extent : buffer->shape) from.push_back(make_var("a", extent->dtype));
  const PrimExpr a = from[from.size() - 2], b = from[from.size() - 1];
  const PrimExpr row = is_swapped ? b : a, column = is_swapped ? a : b;
  const int64_t down = kind == MmaOperand::kB ? terms : kMmaSize,
                across = kind == MmaOperand::kA ? terms : kMmaSize;
  const std::array<PrimExpr, 2> place = mma_place(kind, row, column, terms / 8);
  std::vector<PrimExpr> to(from.begin(), from.end() - 2);
  to.insert(to.end(), {floordiv(row, down), floordiv(column, across), place[0], place[1]});
  return IndexMapNode::make(from, to);
}

// The fragments of an operand, in their order.
void add_load(Schedule& sch, BlockRef sum, const MmaPlan& plan, Operand* operand) {
  const int64_t place = place_of_read(sch, sum, copied_buffer(sch, operand->copy));
  operand->load = steps::cache_read(sch, sum, {place}, "warp");
  // an operand is [rows, terms] or [terms, rows]; B is [terms, columns] for the instruction
  const bool is_swapped = (operand->kind == MmaOperand::kA) != operand->has_terms_last;
  steps::transform_layout(
      sch, sum, steps::read_buffer(place),
      fragment_map(operand->kind, is_swapped, copied_buffer(sch, operand->load), plan.step));
}

void make_fragments(Schedule& sch, const Operand& operand, LoopRef step) {
  std::vector<LoopRef> loops = loops_inside(sch, operand.load, step);
  LoopRef first = loops[loops.size() - 2], second = loops[loops.size() - 1];
  const std::vector<LoopRef> parts =
      steps::split(sch, operand.has_terms_last ? first : second, {None{}, kMmaSize});
  if (!operand.has_terms_last) steps::reorder(sch, {parts[0], first});
  const bool is_transposed = operand.has_terms_last != (operand.kind == MmaOperand::kA);
  steps::tensorize(sch, operand.has_terms_last ? parts[1] : first,
                   mma_load_name(*operand.element, operand.kind, is_transposed));
  steps::unroll(sch, parts[0]);
}

// All threads copy a tile of an operand for each step of the sum.
//
// Returns  the loop over the threads of a warp
LoopRef copy_by_warps(Schedule& sch, const Operand& operand, LoopRef step, const MmaPlan& plan,
                      const GpuFeatures& features, bool is_along) {
  steps::set_scope(sch, operand.copy, {int64_t{0}}, "shared");
  sch.call("compute_at", operand.copy, step, true);
  const std::vector<LoopRef> loops = loops_inside(sch, operand.copy, step);
  const LoopRef row = loops[loops.size() - 2], term = loops[loops.size() - 1];
  const OrReason<BlockShape> shape = shape_of(sch, operand.copy);
  // along what lies side by side in memory; by vectors if it does so in the tile, too
  int64_t lanes = shape && is_along == operand.has_terms_last ? lanes_of(*shape, features) : 1;
  if (!is_along) steps::reorder(sch, {term, row});
  const LoopRef all = steps::fuse(sch, is_along ? steps::Loops{row, term} : steps::Loops{term, row});
  const int64_t count = extent_of(sch, all);
  while (lanes > 1 && count % (lanes * plan.warps() * kMmaLanes) != 0) lanes /= 2;
  Factors factors = {None{}, plan.warps(), kMmaLanes};
  if (lanes > 1) factors.push_back(lanes);
  const std::vector<LoopRef> parts = steps::split(sch, all, factors);
  steps::bind(sch, parts[1], "threadIdx.y");
  if (lanes > 1) steps::vectorize(sch, parts[3]);
  // 8 rows of a matrix are in different banks if rows begin an odd number of 16 bytes apart; elements that lanes read
  // one by one, 4 rows of 8, if they begin 32 bytes apart in a line of banks
  const int64_t bytes = bytes_of(operand);
  if (operand.has_terms_last || bytes == 2)
    steps::storage_align(sch, operand.copy, {int64_t{0}}, -2, 32 / bytes, 16 / bytes);
  else
    steps::storage_align(sch, operand.copy, {int64_t{0}}, -2, features.banks * features.bank_bytes / bytes,
                         32 / bytes);
  return parts[2];
}

// True if two neighbours of a row are written to neighbours in memory, the first of which has an even place.
bool writes_pairs(const Schedule& sch, BlockRef copy) {
  const OrReason<BlockShape> shape = shape_of(sch, copy);
  if (!shape || shape->block->iter_vars.empty()) return false;
  const Var& axis = shape->block->iter_vars.back()->var;
  const size_t last = last_dimension(shape->output());
  int64_t extent = 0;
  return along(shape->output(), shape->store->indices, axis) == Along::kContiguous &&
         shape->store->indices[last].get() == axis.get() &&
         as_const_int(shape->output()->shape[last], &extent) && extent % 2 == 0;
}

// Each lane writes its own elements of a warp's tile: neighbours of a row in pairs.
void write_by_lanes(Schedule& sch, BlockRef copy, LoopRef warp) {
  const std::vector<LoopRef> loops = loops_inside(sch, copy, warp);
  const std::vector<LoopRef> rows =
                                 steps::split(sch, loops[loops.size() - 2], {None{}, int64_t{2}, int64_t{8}}),
                             columns = steps::split(sch, loops[loops.size() - 1],
                                                    {None{}, int64_t{2}, int64_t{4}, int64_t{2}});
  steps::reorder(sch, {rows[0], columns[0], rows[1], columns[1], rows[2], columns[2], columns[3]});
  const LoopRef lane = steps::fuse(sch, {rows[2], columns[2]});
  steps::bind(sch, lane, "threadIdx.x");
  if (writes_pairs(sch, copy))
    steps::vectorize(sch, columns[3]);
  else
    steps::unroll(sch, columns[3]);
  for (LoopRef loop : {rows[0], columns[0], rows[1], columns[1]}) steps::unroll(sch, loop);
}

}  // namespace

std::optional<Reason> multiply_by_tensor_cores(Schedule& sch, const BlockShape& sum,
                                               const std::optional<BlockShape>& epilogue,
                                               const GpuFeatures& features) {
  const OrReason<MmaPlan> plan = plan_mma(sum, features);
  if (!plan) return plan.reason();
  const ProductParts parts =
      make_product_parts(sch, sum, plan->axes, {plan->rows(), plan->columns(), plan->terms}, epilogue);
  Operand operands[] = {{MmaOperand::kA, plan->row_element, parts.row_copy},
                        {MmaOperand::kB, plan->column_element, parts.column_copy}};
  bool is_along[2];
  for (size_t n = 0; n < 2; ++n) {
    Operand& operand = operands[n];
    is_along[n] = is_along_terms(sch, operand.copy);
    operand.has_terms_last = is_along[n] || bytes_of(operand) == 1;
    if (!operand.has_terms_last) put_terms_first(sch, parts.sum, operand.copy);
    add_load(sch, parts.sum, *plan, &operand);
  }
  steps::set_scope(sch, parts.sum, {int64_t{0}}, "warp");
  steps::transform_layout(
      sch, parts.sum, steps::written_buffer(0),
      fragment_map(MmaOperand::kC, false, sch.get(parts.sum)->writes[0]->buffer, plan->step));

  std::vector<LoopRef> loops = steps::get_loops(sch, parts.sum);
  const size_t first = loops.size() - 3;
  const std::vector<LoopRef> rows =
      steps::split(sch, loops[first], {None{}, plan->warps_down, plan->warp_rows / kMmaSize, kMmaSize});
  const std::vector<LoopRef> columns = steps::split(
      sch, loops[first + 1], {None{}, plan->warps_across, plan->warp_columns / kMmaSize, kMmaSize});
  const std::vector<LoopRef> terms =
      steps::split(sch, loops[first + 2], {None{}, plan->terms / plan->step, plan->step});
  steps::reorder(sch, {rows[0], columns[0], rows[1], columns[1], terms[0], terms[1], rows[2], columns[2],
                       rows[3], columns[3], terms[2]});
  steps::reverse_compute_at(sch, parts.result_copy, columns[1]);
  const LoopRef warp = steps::fuse(sch, {rows[1], columns[1]});
  if (first > 0) steps::bind(sch, loops[0], "blockIdx.z");
  steps::bind(sch, rows[0], "blockIdx.x");
  steps::bind(sch, columns[0], "blockIdx.y");
  steps::bind(sch, warp, "threadIdx.y");
  for (const Operand& operand : operands) steps::compute_at(sch, operand.load, terms[1]);
  std::vector<LoopRef> lanes;
  for (size_t n = 0; n < 2; ++n)
    lanes.push_back(copy_by_warps(sch, operands[n], terms[0], *plan, features, is_along[n]));
  const BlockRef init = steps::decompose_reduction(sch, parts.sum, terms[0]);

  // the product first: before it has lanes, it would be added by all threads of a warp
  steps::tensorize(sch, rows[3],
                   mma_product_name(*plan->row_element, *plan->column_element, plan->sum, plan->halves,
                                    plan->is_column_first));
  const std::vector<LoopRef> zeros = loops_inside(sch, init, warp);
  steps::tensorize(sch, zeros[zeros.size() - 2], mma_fill_name(plan->sum));
  for (size_t n = 0; n + 2 < zeros.size(); ++n) steps::unroll(sch, zeros[n]);
  for (const Operand& operand : operands) make_fragments(sch, operand, terms[1]);
  for (LoopRef loop : {terms[1], rows[2], columns[2]}) steps::unroll(sch, loop);
  for (LoopRef lane : lanes) steps::bind(sch, lane, "threadIdx.x");
  write_by_lanes(sch, parts.result_copy, warp);
  return std::nullopt;
}

}  // namespace tilewright::schedule
