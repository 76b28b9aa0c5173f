// rows_together: all blocks of a program work on a row while it is near the core, as softmax and norms need it.
//   for i, k: S[i] += A[i, k]                 ->   for io: parallel
//   for i, j: B[i, j] = A[i, j] / S[i]               for ii: S[i] = the sum of row i
//                                                            for jo: unrolled jn: vectorized jv: B[i, ..] = ..
// Sampled are the rows of a task, and lanes and vectors of blocks that work element by element.  Where the default
// schedule adds terms apart from each other, so do these, so that results are the same bits.
#include <algorithm>

#include "tilewright/schedule/default/cpu/rules.h"
#include "tilewright/schedule/steps.h"
#include "tilewright/tir/builder.h"
#include "tilewright/tune/partial_sums.h"
#include "tilewright/tune/rule.h"
#include "tilewright/tune/samples.h"

namespace tilewright::tune {
namespace {
namespace steps = schedule::steps;
using schedule::BlockShape;
using schedule::ExprRef;
using schedule::LoopRef;
using tir::IterType;

constexpr int64_t kMostRows = 16, kMostVectors = 8;

std::vector<size_t> spatial_axes(const BlockShape& shape) {
  std::vector<size_t> axes;
  for (size_t axis = 0; axis < shape.block->iter_vars.size(); ++axis) {
    if (shape.block->iter_vars[axis]->iter_type == IterType::kSpatial && shape.extent(axis) != 1)
      axes.push_back(axis);
  }
  return axes;
}

// The blocks of the function of `last`, in order; why they do not work on rows together otherwise.
OrReason<std::vector<BlockShape>> blocks_of(Schedule& sch, BlockRef last) {
  const std::string& func = sch.state().func_of(sch.state()[last]).name->name_hint;
  std::vector<BlockShape> shapes;
  for (BlockRef block : steps::get_child_blocks(sch, steps::get_block(sch, "root", func))) {
    OrReason<BlockShape> shape = schedule::shape_of(sch, block);
    if (!shape) return shape.reason();
    for (size_t axis = 0; axis < shape->block->iter_vars.size(); ++axis) {
      if (shape->extent(axis) == 0) return schedule::open_extent(*shape, axis);
    }
    const size_t num_loops = steps::get_loops(sch, block).size();
    if (num_loops != shape->block->iter_vars.size())
      return Reason(Reason::kForm, "another rule has given block {} {} loops", shape->block->name_hint,
                    num_loops);
    shapes.push_back(std::move(*shape));
  }
  if (sch.state()[shapes.back().ref] != sch.state()[last])
    return Reason(Reason::kForm, "it is not the last block: that one takes the others along");
  if (shapes.back().is_reduction()) return Reason(Reason::kForm, "the last block is a reduction");
  return shapes;
}

// How many axes all blocks begin with: those of the results of sums.
OrReason<size_t> num_rows(const std::vector<BlockShape>& shapes) {
  std::optional<size_t> found;
  for (const BlockShape& shape : shapes) {
    if (!shape.is_reduction()) continue;
    const size_t num_axes = spatial_axes(shape).size();
    found = std::min(found.value_or(num_axes), num_axes);
  }
  if (!found) return Reason(Reason::kForm, "no block is a reduction");
  if (*found == 0) return Reason(Reason::kTooSmall, "there is one row");
  const BlockShape& last = shapes.back();
  if (const size_t num_axes = spatial_axes(last).size(); num_axes < *found)
    return Reason(Reason::kForm, "block {} has {} axes of several values, and rows that are reduced {}",
                  last.block->name_hint, num_axes, *found);
  return *found;
}

// Loops of `block` inside of `row`: over results, then over terms, then over `column`; the first over terms.
std::optional<LoopRef> order_loops(Schedule& sch, BlockRef block, LoopRef row, std::optional<size_t> column) {
  const tir::Block node = sch.get(block);
  const std::vector<LoopRef> loops = schedule::loops_inside(sch, block, row);
  std::vector<LoopRef> order, terms, columns;
  for (size_t axis = 0; axis < node->iter_vars.size(); ++axis) {
    const bool is_result = node->iter_vars[axis]->iter_type == IterType::kSpatial;
    std::vector<LoopRef>& list = axis == column ? columns : is_result ? order : terms;
    const std::vector<LoopRef> own = schedule::loops_of_axis(sch, block, axis, loops);
    list.insert(list.end(), own.begin(), own.end());
  }
  order.insert(order.end(), terms.begin(), terms.end());
  order.insert(order.end(), columns.begin(), columns.end());
  if (order.size() > 1) steps::reorder(sch, order);
  return terms.empty() ? std::nullopt : std::optional(terms[0]);
}

// One of the blocks that compute partial sums: those of one result are lanes of vectors.
void add_in_lanes(Schedule& sch, BlockRef partial, LoopRef row, bool is_first, int64_t most_lanes) {
  const BlockShape shape = *schedule::shape_of(sch, partial);
  const LoopRef terms = *order_loops(sch, partial, row, shape.last_axis());
  steps::split(sch, schedule::loops_inside(sch, partial, row).back(),
               {schedule::None{}, std::min(most_lanes, shape.extent(*shape.last_axis()))});
  const BlockRef init = steps::decompose_reduction(sch, partial, terms);
  for (BlockRef block : {init, partial}) {
    const std::vector<LoopRef> loops = schedule::loops_inside(sch, block, row);
    schedule::expand(sch, {loops.end() - 2, loops.end()});
  }
  if (!is_first) steps::unroll(sch, terms);
}

void compute_elements(Schedule& sch, const BlockShape& shape, LoopRef row, const Features& features) {
  const std::optional<size_t> column = shape.last_axis();
  const std::vector<LoopRef> loops = schedule::loops_inside(sch, shape.ref, row);
  const std::vector<LoopRef> own =
      column ? schedule::loops_of_axis(sch, shape.ref, *column, loops) : std::vector<LoopRef>{};
  if (own.size() != 1) return;  // one value a row
  order_loops(sch, shape.ref, row, column);
  const int64_t most_lanes = std::max<int64_t>(1, features.vector_bytes / shape.output()->dtype.num_bytes());
  const int64_t extent = schedule::extent_of(sch, own[0]);
  const ExprRef lanes = sample_lanes(sch, most_lanes, true);
  const ExprRef vectors = sample_count(sch, std::min(kMostVectors, (extent - 1) / most_lanes + 1), extent, 1);
  const std::vector<LoopRef> parts = steps::split(sch, own[0], {schedule::None{}, vectors, lanes});
  schedule::expand(sch, {parts[1], parts[2]});
}

// The loop over rows, in which all blocks are computed.
LoopRef rows_of(Schedule& sch, const BlockShape& last, size_t count, const Features& features) {
  const std::vector<LoopRef> loops = steps::get_loops(sch, last.ref);
  const std::vector<size_t> axes = spatial_axes(last);
  std::vector<LoopRef> rows;
  for (size_t n = 0; n < count; ++n)
    rows.push_back(schedule::loops_of_axis(sch, last.ref, axes.at(n), loops).at(0));
  std::vector<LoopRef> order = rows;
  for (LoopRef loop : loops) {
    const bool is_row =
        std::ranges::any_of(rows, [&](LoopRef other) { return schedule::is_same(sch, loop, other); });
    if (!is_row) order.push_back(loop);
  }
  if (order.size() > 1) steps::reorder(sch, order);
  const LoopRef all = count > 1 ? steps::fuse(sch, rows) : rows[0];
  const int64_t extent = schedule::extent_of(sch, all);
  const ExprRef of_task = sample_count(sch, std::min(kMostRows, extent), extent, 1);
  const std::vector<LoopRef> parts = steps::split(sch, all, {schedule::None{}, of_task});
  if (features.num_cores > 1) steps::parallel(sch, parts[0]);
  return parts[1];
}

Schedule design_of(Schedule sch, const std::vector<BlockShape>& shapes, size_t count,
                   const Features& features) {
  std::vector<std::vector<BlockRef>> partials(shapes.size());
  const Schedule start = sch;
  for (size_t n = 0; n < shapes.size(); ++n) {
    if (shapes[n].is_reduction())
      partials[n] = make_partial_sums(sch, shapes[n].ref, default_sums(start, shapes[n], features), -1);
  }
  const LoopRef row = rows_of(sch, shapes.back(), count, features);
  for (size_t n = shapes.size(); n-- > 0;) {
    if (n + 1 < shapes.size()) steps::compute_at(sch, shapes[n].ref, row);
    for (size_t k = partials[n].size(); k-- > 0;) steps::compute_at(sch, partials[n][k], row);
  }
  for (size_t n = 0; n < shapes.size(); ++n) {
    if (!shapes[n].is_reduction()) {
      compute_elements(sch, shapes[n], row, features);
      continue;
    }
    const int64_t lanes = std::max<int64_t>(1, features.vector_bytes / shapes[n].output()->dtype.num_bytes());
    for (size_t k = 0; k < partials[n].size(); ++k) add_in_lanes(sch, partials[n][k], row, k == 0, lanes);
    const std::optional<LoopRef> terms = order_loops(sch, shapes[n].ref, row, std::nullopt);
    if (!terms) continue;
    steps::decompose_reduction(sch, shapes[n].ref, *terms);
    if (!partials[n].empty()) steps::unroll(sch, *terms);
  }
  return sch;
}

OrReason<std::vector<Schedule>> apply(const Schedule& sch, BlockRef block, const Features& features) {
  Schedule start = sch;
  const OrReason<std::vector<BlockShape>> shapes = blocks_of(start, block);
  if (!shapes) return shapes.reason();
  const OrReason<size_t> count = num_rows(*shapes);
  if (!count) return count.reason();
  try {
    return std::vector<Schedule>{design_of(start, *shapes, *count, features), sch};
  } catch (const Error& error) {
    if (error.kind() == Error::Kind::kInternal) throw;
    return Reason(Reason::kRefused, "{}", error.text());
  }
}

}  // namespace

extern constinit const RuleInfo rows_together_info{
    "rows_together", "all blocks of a program work on a row while it is near the core", 9, &apply};
}  // namespace tilewright::tune
