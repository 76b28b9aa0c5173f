// Rules threads and one_thread: blocks of any form.
//   for i, j: B[i, j] = A[i, j] * 2
//   ->  for block in blockIdx.x: for thread in threadIdx.x: B of element block * 256 + thread
//   for i, k: S[i] += A[i, k]
//   ->  for block in blockIdx.x: for thread in threadIdx.x: R = 0; for k: R += A[.., k]; S[..] = R
#include <algorithm>

#include "tilewright/arith/analyzer.h"
#include "tilewright/ir/rewrite.h"
#include "tilewright/ir/walk.h"
#include "tilewright/schedule/default/cpu/rules.h"
#include "tilewright/schedule/default/gpu/threads.h"
#include "tilewright/schedule/steps.h"
#include "tilewright/tir/builder.h"
#include "tilewright/tir/op.h"
#include "tilewright/tir/stmt.h"

namespace tilewright::schedule {
namespace {

// True if `lanes` neighbours along `axis` begin at an address that vectors may have.
bool is_aligned(const Buffer& buffer, const std::vector<PrimExpr>& indices, const Var& axis, int64_t lanes) {
  // a view may begin anywhere
  if (!buffer->strides.empty() || (buffer->elem_offset && !is_zero(buffer->elem_offset))) return false;
  const size_t last = last_dimension(buffer);
  int64_t extent;
  if (!as_const_int(buffer->shape[last], &extent) || extent % lanes != 0) return false;
  const Var part = make_var("part", axis->dtype);
  const PrimExpr first = substitute(indices[last], {{axis.get(), part * make_const_int(axis->dtype, lanes)}});
  return arith::Analyzer().can_prove_equal(floormod(first, make_const_int(first->dtype, lanes)),
                                           make_const_int(first->dtype, 0));
}

}  // namespace

int64_t lanes_of(const BlockShape& shape, const GpuFeatures& features) {
  const std::optional<size_t> column = shape.last_axis();
  if (shape.is_reduction() || !column) return 1;
  bool is_plain = true;
  walk(shape.store->value, [&](const CallNode* call) { is_plain &= !tir::is_if_then_else(call); });
  int64_t most_bytes = shape.output()->dtype.num_bytes();
  for (const BufferLoadNode* load : shape.loads) {
    is_plain &= along(shape, load, *column) != Along::kStrided;
    most_bytes = std::max<int64_t>(most_bytes, load->dtype.num_bytes());
  }
  if (!is_plain) return 1;
  int64_t lanes = features.vector_load_bytes / std::max<int64_t>(most_bytes, 1);
  const Var& axis = shape.block->iter_vars[*column]->var;
  const auto fits = [&](const Buffer& buffer, const std::vector<PrimExpr>& indices) {
    // elements that share a byte, and bools, have no vectors
    return buffer->dtype.bits >= 8 && !buffer->dtype.is_bool() && is_aligned(buffer, indices, axis, lanes);
  };
  while (lanes > 1) {
    bool fit = fits(shape.output(), shape.store->indices) && shape.extent(*column) % lanes == 0;
    for (const BufferLoadNode* load : shape.loads) {
      if (along(shape, load, *column) == Along::kContiguous) fit &= fits(load->buffer, load->indices);
    }
    if (fit) return lanes;
    lanes /= 2;
  }
  return 1;
}

namespace {

// The loop of the last axis innermost, so that neighbouring threads work on neighbours.
void put_last_axis_last(Schedule& sch, const BlockShape& shape, std::vector<LoopRef>* spatial) {
  const std::optional<size_t> column = shape.last_axis();
  if (!column) return;
  const std::vector<LoopRef> loops = loops_of_axis(sch, shape.ref, *column, *spatial);
  if (loops.size() != 1) return;
  std::erase_if(*spatial, [&](LoopRef loop) { return sch.state()[loop] == sch.state()[loops[0]]; });
  spatial->push_back(loops[0]);
}

// Loops whose iterations may not run at once are none of the spatial ones.
void keep_independent(const Schedule& sch, LoopsByKind* loops) {
  std::vector<LoopRef> found;
  for (LoopRef loop : loops->spatial) {
    Schedule probe = sch;
    const std::optional<Reason> why = try_rule(probe, [&](Schedule& copy) {
      steps::bind(copy, loop, "threadIdx.x");
      return std::nullopt;
    });
    (why ? loops->others : found).push_back(loop);
  }
  loops->spatial = std::move(found);
}

// Runs of loops of which at most one has an open extent, or single loops; the last run first.
std::vector<std::vector<LoopRef>> runs_of(const Schedule& sch, const std::vector<LoopRef>& loops,
                                          Sharing sharing) {
  std::vector<std::vector<LoopRef>> runs;
  bool has_open = false;
  for (size_t n = loops.size(); n-- > 0;) {
    const bool is_open = !num_iterations(sch, {loops[n]});
    const bool begins = runs.empty() || sharing == Sharing::kLoopsApart || (is_open && has_open);
    if (begins) runs.emplace_back();
    has_open = is_open || (has_open && !begins);
    runs.back().insert(runs.back().begin(), loops[n]);
  }
  return runs;
}

// Runs of loops each on an axis of the grid of its own, in case that one loop made of all is not proved to be apart: the
// last run, with the threads, and two before it.  The others become serial, `serial`, inside.
//
// Returns  the loops of the two
std::vector<LoopRef> order_apart(Schedule& sch, LoopsByKind* loops, std::vector<LoopRef>* serial,
                                 Sharing sharing, const GpuFeatures& features) {
  std::vector<std::vector<LoopRef>> outer;
  const std::vector<std::vector<LoopRef>> runs = runs_of(sch, loops->spatial, sharing);
  bool is_x_free = true;  // for one run of many
  for (size_t n = 1; n < runs.size(); ++n) {
    const bool is_short =
        num_iterations(sch, runs[n]).value_or(0) <= std::min(features.max_grid_y, features.max_grid_z);
    if (outer.size() < 2 && (is_short || is_x_free))
      outer.push_back(runs[n]);
    else
      serial->insert(serial->begin(), runs[n].begin(), runs[n].end());
    is_x_free &= is_short;
  }
  std::vector<LoopRef> order;
  for (const std::vector<LoopRef>& run : outer) order.insert(order.end(), run.begin(), run.end());
  order.insert(order.end(), runs[0].begin(), runs[0].end());
  std::vector<LoopRef> inner = *serial;
  inner.insert(inner.end(), loops->others.begin(), loops->others.end());
  order_loops(sch, order, inner);
  loops->spatial = runs[0];
  std::vector<LoopRef> found;
  for (const std::vector<LoopRef>& run : outer) found.push_back(fused(sch, run));
  return found;
}

}  // namespace

std::optional<Reason> share_elements(Schedule& sch, BlockRef block, const GpuFeatures& features,
                                     Sharing sharing) {
  const std::string name = sch.get(block)->name_hint;
  const OrReason<BlockShape> shape = shape_of(sch, block);
  const bool is_reduction = sch.get(block)->init != nullptr;
  const std::vector<BlockRef> copies =
      is_reduction ? keep_results_in_registers(sch, block) : std::vector<BlockRef>();
  LoopsByKind loops = loops_by_kind(sch, block);
  if (sharing != Sharing::kAllLoops) keep_independent(sch, &loops);
  if (loops.spatial.empty())
    return Reason(Reason::kForm, "no axis of block {} has values that are computed apart from each other",
                  name);
  if (shape) put_last_axis_last(sch, *shape, &loops.spatial);
  std::vector<LoopRef> outer, serial;
  if (sharing == Sharing::kRunsApart || sharing == Sharing::kLoopsApart)
    outer = order_apart(sch, &loops, &serial, sharing, features);
  else
    order_loops(sch, loops.spatial, loops.others);
  const bool is_innermost = loops.others.empty() && serial.empty();
  if (const int64_t lanes = shape && is_innermost ? lanes_of(*shape, features) : 1; lanes > 1) {
    const std::vector<LoopRef> parts = steps::split(sch, loops.spatial.back(), {None{}, lanes});
    steps::vectorize(sch, parts[1]);
    loops.spatial.back() = parts[0];
  }
  // each thread keeps one result at a time, however many it makes
  const LoopRef around = serial.empty() ? loops.spatial.back() : serial.back();
  for (BlockRef copy : copies) steps::reverse_compute_at(sch, copy, around);
  const std::optional<int64_t> count = num_iterations(sch, loops.spatial);
  const std::vector<LoopRef> parts =
      steps::split(sch, fused(sch, loops.spatial), {None{}, threads_for(count, features)});
  outer.insert(outer.begin(), parts[0]);
  bind_blocks(sch, outer, features);
  steps::bind(sch, parts[1], "threadIdx.x");
  if (is_reduction && !loops.others.empty()) steps::decompose_reduction(sch, block, loops.others[0]);
  return std::nullopt;
}

std::optional<Reason> run_in_one_thread(Schedule& sch, BlockRef block) {
  const std::vector<LoopRef> loops = steps::get_loops(sch, block);
  const PlaceRef whole = loops.empty() ? PlaceRef(block) : PlaceRef(loops[0]);
  steps::bind(sch, steps::add_unit_loop(sch, whole), "threadIdx.x");
  return std::nullopt;
}

}  // namespace tilewright::schedule
