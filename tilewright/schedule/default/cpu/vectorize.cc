// Rules vectorize and parallel: element by element blocks, and loops that threads share.
#include <algorithm>

#include "tilewright/arith/analyzer.h"
#include "tilewright/schedule/default/cpu/phases.h"
#include "tilewright/schedule/default/cpu/prefetch.h"
#include "tilewright/schedule/default/cpu/rules.h"
#include "tilewright/schedule/default/cpu/transpose.h"
#include "tilewright/schedule/default/default.h"
#include "tilewright/schedule/steps.h"
#include "tilewright/support/count_text.h"
#include "tilewright/tir/builder.h"
#include "tilewright/tir/loop_hints.h"
#include "tilewright/tir/op.h"
#include "tilewright/tir/stmt.h"
#include "tilewright/tir/text.h"
#include "tilewright/tir/uses.h"

namespace tilewright::schedule {
namespace {

// All accesses are of the same elements in the same order: A[i, j] + B[i, j].
bool is_flat(const BlockShape& shape) {
  const auto& axes = shape.block->iter_vars;
  auto is_identity = [&](const Buffer& buffer, const std::vector<PrimExpr>& indices) {
    if (indices.size() != axes.size() || !buffer->strides.empty()) return false;
    for (size_t n = 0; n < axes.size(); ++n) {
      const bool is_axis =
          indices[n].as<VarNode>() == axes[n]->var.get() || (is_zero(indices[n]) && is_one(buffer->shape[n]));
      if (!is_axis || !arith::Analyzer().can_prove_equal(buffer->shape[n], axes[n]->dom->extent))
        return false;
    }
    return true;
  };
  if (!is_identity(shape.output(), shape.store->indices)) return false;
  for (const BufferLoadNode* load : shape.loads) {
    bool is_scalar = true;
    for (const PrimExpr& extent : load->buffer->shape) is_scalar &= is_one(extent);
    if (!is_scalar && !is_identity(load->buffer, load->indices)) return false;
  }
  return true;
}

}  // namespace

int64_t extent_of(const Schedule& sch, LoopRef loop) {
  int64_t extent;
  return as_const_int(sch.state().node(sch.state()[loop]).loop()->extent, &extent) ? extent : 0;
}

std::vector<LoopRef> parallelize(Schedule& sch, std::vector<LoopRef> loops, size_t num_candidates,
                                 const Features& features) {
  size_t begin = 0;  // loops of one iteration stay outside
  while (begin < num_candidates && extent_of(sch, loops[begin]) == 1) ++begin;
  size_t end = begin;
  int64_t iterations = 1;
  const auto is_even = [&] {
    const int64_t rest = iterations % features.num_cores;  // that the busiest of cores has more
    return rest == 0 || features.num_cores - rest <= iterations / kLoopCosts.uneven_part;
  };
  while (end < num_candidates &&
         (iterations < kLoopCosts.iterations_per_core * features.num_cores || !is_even())) {
    const int64_t extent = extent_of(sch, loops[end]);
    // only the first may have an unknown extent, others would be divided by it; it is a batch, often of one
    if (extent == 0 && end > begin) break;
    iterations = product(iterations, std::max<int64_t>(extent, 1));
    ++end;
  }
  if (begin == end) return loops;
  const auto first = loops.begin() + static_cast<std::ptrdiff_t>(begin),
             last = loops.begin() + static_cast<std::ptrdiff_t>(end);
  const LoopRef fused = end - begin == 1 ? *first : steps::fuse(sch, std::vector<LoopRef>(first, last));
  steps::parallel(sch, fused);
  *first = fused;
  loops.erase(first + 1, last);
  return loops;
}

// The reason why a loop is no vector.
Reason why_too_short(const Schedule& sch, LoopRef loop) {
  const ForNode* node = sch.state().node(sch.state()[loop]).loop();
  int64_t extent = 0;
  if (!as_const_int(node->extent, &extent))
    return Reason(Reason::kOpenExtent, "the extent of loop {}, {}, is known only at run time",
                  node->loop_var->name_hint, expr_text(node->extent));
  return Reason(Reason::kTooSmall, "loop {} has {}, fewer than the {} of a vector that pays",
                node->loop_var->name_hint, count_text(extent, "iteration"), kLoopCosts.least_vector);
}

// How many of `extent` elements, at least one, a vector takes.
int64_t width_for(const BlockShape& shape, int64_t extent, const Features& features) {
  int64_t width = features.vector_bytes / std::max<int64_t>(1, shape.output()->dtype.num_bytes());
  while (width > 1 && width / 2 >= extent) width /= 2;
  return width;
}

// True if a condition decides what is loaded: vectors have a mask for it, which compilers do not make of loops
// whose extent is open.
bool is_conditional(const BlockShape& shape) {
  const auto* value = shape.store->value.as<CallNode>();
  return value && tir::is_if_then_else(value);
}

// The innermost of `loops` as loops over vectors; the reason if it is not long enough.
std::optional<Reason> vectorize_innermost(Schedule& sch, const BlockShape& shape, std::vector<LoopRef>* loops,
                                          const Features& features) {
  int64_t extent = extent_of(sch, loops->back());
  if (extent == 0 && is_conditional(shape)) extent = kLoopCosts.likely_extent;
  if (extent < kLoopCosts.least_vector) return why_too_short(sch, loops->back());
  const Factors factors{None{}, width_for(shape, extent, features)};
  const std::vector<LoopRef> parts = steps::split(sch, loops->back(), factors);
  loops->back() = parts[0];
  steps::vectorize(sch, parts[1]);
  return std::nullopt;
}

// The axis along which everything is contiguous that is strided along `column`: the other side of a
// transposition.
std::optional<size_t> other_side(const BlockShape& shape, size_t column) {
  const auto moves = [&](const BufferLoadNode* load, size_t axis) {
    return along(load->buffer, load->indices, shape.block->iter_vars[axis]->var);
  };
  for (size_t axis = 0; axis < shape.block->iter_vars.size(); ++axis) {
    if (axis == column || shape.extent(axis) < kLoopCosts.least_vector) continue;
    const bool fits = std::all_of(shape.loads.begin(), shape.loads.end(), [&](const BufferLoadNode* load) {
      return moves(load, column) != Along::kStrided || moves(load, axis) == Along::kContiguous;
    });
    if (fits) return axis;
  }
  return std::nullopt;
}

// The reason of a block whose vectors would have to collect elements one by one.
Reason why_gathered(const BlockShape& shape, const BufferLoadNode* load, size_t column) {
  const std::optional<int64_t> stride = stride_bytes(shape, load, column);
  const std::string place = stride ? fmt::format("lie {} bytes apart", *stride) : "lie at no fixed distance";
  return Reason(
      Reason::kCost,
      "neighbours along axis {} {} in {}, and no other axis has vectors of {} or more in all that it reads",
      axis_name(shape, column), place, load->buffer->name, kLoopCosts.least_vector);
}

// Blocks of tiles, so that a page that is read or written gives several lines before the next one, and a line
// that is wider than a tile is written whole while it is near.
int64_t tiles_in_block(int64_t extent, int64_t size) {
  const int64_t count = extent / size;
  return std::min(kLoopCosts.transposed_block, count & -count);
}

// Tiles are transposed in registers.
//
// is_far  the operand does not stay in L2: the next line of each row is prefetched, since processors
//         recognise no stream in rows that are pages apart
void tensorize_transposition(Schedule& sch, const TransposedTile& tile, LoopRef row, bool is_far,
                             std::vector<LoopRef>* loops, const Features& features) {
  const auto parts_of = [&](LoopRef loop) {
    return steps::split(sch, loop, {None{}, tiles_in_block(extent_of(sch, loop), tile.size), tile.size});
  };
  const std::vector<LoopRef> columns = parts_of(loops->back()), rows = parts_of(row);
  loops->back() = rows[0];
  loops->insert(loops->end(), {columns[0], rows[1], columns[1]});
  std::vector<LoopRef> order = *loops;
  order.insert(order.end(), {rows[2], columns[2]});
  steps::reorder(sch, order);
  if (is_far) fetch_ahead(sch, rows[1], prefetch_at(features.line_bytes, features));
  steps::tensorize(sch, rows[2], tile.name());
}

// Square tiles, whose lines are read and written while they are near the core: vectors gather along the
// innermost of `loops`, and neighbours along `row` follow each other.
void tile_transposition(Schedule& sch, LoopRef row, int64_t num_rows, int64_t width,
                        std::vector<LoopRef>* loops) {
  const std::vector<LoopRef> columns = steps::split(sch, loops->back(), {None{}, width});
  const std::vector<LoopRef> parts = steps::split(sch, row, {None{}, num_rows});
  loops->back() = columns[0];
  loops->insert(loops->end(), parts.begin(), parts.end());
  std::vector<LoopRef> order = *loops;
  order.push_back(columns[1]);
  steps::reorder(sch, order);
  steps::unroll(sch, parts[1]);
  steps::vectorize(sch, columns[1]);
}

// `row`, one of `loops`, is the loop of `row_axis`; the innermost is that of `column_axis`.
void transpose(Schedule& sch, const BlockShape& shape, size_t row_axis, LoopRef row, size_t column_axis,
               std::vector<LoopRef>* loops, const Features& features) {
  constexpr int64_t kMaxRows = 16;
  const int64_t width = width_for(shape, extent_of(sch, loops->back()), features),
                num_rows = std::min(kMaxRows, width_for(shape, extent_of(sch, row), features));
  std::erase_if(*loops, [&](LoopRef loop) { return is_same(sch, loop, row); });
  const auto tile = features.can_shuffle
                        ? transposed_tile(shape, row_axis, column_axis, std::min(kMaxRows, width))
                        : std::optional<TransposedTile>();
  if (tile)
    tensorize_transposition(sch, *tile, row, shape.num_bytes(shape.loads[0]->buffer) > features.l2_bytes,
                            loops, features);
  else
    tile_transposition(sch, row, num_rows, width, loops);
}

std::optional<Reason> vectorize_last_axis(Schedule& sch, const BlockShape& shape, std::vector<LoopRef>* loops,
                                          const Features& features) {
  const std::optional<size_t> column = shape.last_axis();
  if (!column) return why_no_last_axis(shape);
  const std::vector<LoopRef> inner = loops_of_axis(sch, shape.ref, *column, *loops);
  if (inner.empty()) return Reason(Reason::kTooSmall, "axis {} has one value", axis_name(shape, *column));
  if (!is_same(sch, inner[0], loops->back())) {
    std::erase_if(*loops, [&](LoopRef loop) { return is_same(sch, loop, inner[0]); });
    loops->push_back(inner[0]);
    steps::reorder(sch, *loops);
  }
  const Var& axis = shape.block->iter_vars[*column]->var;
  const auto strided = std::find_if(shape.loads.begin(), shape.loads.end(), [&](const BufferLoadNode* load) {
    return along(load->buffer, load->indices, axis) == Along::kStrided;
  });
  if (strided == shape.loads.end()) return vectorize_innermost(sch, shape, loops, features);
  const std::optional<size_t> row = other_side(shape, *column);
  const std::vector<LoopRef> rows =
      row ? loops_of_axis(sch, shape.ref, *row, *loops) : std::vector<LoopRef>();
  if (rows.empty()) return why_gathered(shape, *strided, *column);
  if (extent_of(sch, loops->back()) < kLoopCosts.least_vector) return why_too_short(sch, loops->back());
  transpose(sch, shape, *row, rows[0], *column, loops, features);
  return std::nullopt;
}

namespace {

// A transposition whose rows no tile divides: as many of them as tiles take for themselves, and the rest for
// themselves.  `loops` become those around both parts; false if it is another kind of block.
bool divides_transposition(Schedule& sch, const BlockShape& shape, std::vector<LoopRef>* loops,
                           const Features& features) {
  const std::optional<size_t> column = shape.last_axis();
  const std::optional<size_t> row = column ? other_side(shape, *column) : std::nullopt;
  const auto* load = shape.store->value.as<BufferLoadNode>();
  if (!row || !load || along(shape, load, *column) != Along::kStrided) return false;
  if (loops->size() < 3 || !features.can_shuffle || shape.extent(*column) < kLoopCosts.least_vector)
    return false;
  const std::vector<LoopRef> rows = loops_of_axis(sch, shape.ref, *row, *loops),
                             columns = loops_of_axis(sch, shape.ref, *column, *loops);
  const bool is_innermost = rows.size() == 1 && columns.size() == 1 &&
                            is_same(sch, rows[0], (*loops)[loops->size() - 2]) &&
                            is_same(sch, columns[0], loops->back());
  const int64_t size = width_for(shape, shape.extent(*column), features), num_rows = shape.extent(*row);
  const bool has_tiles = shape.extent(*column) % size == 0 && num_rows % size != 0 && num_rows >= 2 * size;
  if (!is_innermost || !has_tiles || !transpose_intrinsic(TransposedTile{size, load->dtype.str()}.name()))
    return false;
  const std::vector<LoopRef> parts = steps::loop_partition(sch, rows[0], {num_rows / size * size, None{}});
  for (LoopRef part : parts) {
    const BlockRef block = steps::get_child_blocks(sch, part)[0];
    std::vector<LoopRef> inside = steps::get_loops(sch, block);
    inside.erase(inside.begin(), inside.end() - 2);
    // rows that are left may be too few for vectors
    vectorize_last_axis(sch, *shape_of(sch, block), &inside, features);
  }
  loops->resize(loops->size() - 2);
  return true;
}

// The axis that is `buffer`'s last dimension but one, if `last` is the whole of its last one: both together
// run over neighbours.
std::optional<size_t> axis_before(const BlockShape& shape, size_t last, const Buffer& buffer,
                                  const std::vector<PrimExpr>& indices) {
  int64_t extent;
  const auto& axes = shape.block->iter_vars;
  if (indices.size() < 2 || !buffer->strides.empty() || indices.back().get() != axes[last]->var.get() ||
      !as_const_int(buffer->shape.back(), &extent) || extent != shape.extent(last))
    return std::nullopt;
  const PrimExpr& index = indices[indices.size() - 2];
  for (size_t axis = 0; axis < axes.size(); ++axis) {
    if (axis == last || !uses(index, axes[axis]->var.get())) continue;
    const auto num_uses = std::count_if(indices.begin(), indices.end(), [&](const PrimExpr& each) {
      return uses(each, axes[axis]->var.get());
    });
    return num_uses == 1 && is_one(step_along(index, axes[axis]->var)) ? std::optional(axis) : std::nullopt;
  }
  return std::nullopt;
}

// Few channels, as those of colours, become one loop with the axis before them, which is then the innermost
// of `loops`; false if the block has no such axes.
bool fuses_short_axis(Schedule& sch, const BlockShape& shape, std::vector<LoopRef>* loops,
                      const Features& features) {
  constexpr int64_t kLeastBytes = 32;  // of vectors whose lanes memory accesses can leave out
  const std::optional<size_t> last = shape.last_axis();
  if (features.vector_bytes < kLeastBytes) return false;
  if (!last || loops->size() < 2 || shape.extent(*last) < 2 || shape.extent(*last) >= kLoopCosts.least_vector)
    return false;
  const std::optional<size_t> before = axis_before(shape, *last, shape.output(), shape.store->indices);
  if (!before || shape.extent(*before) == 0) return false;
  const bool has_neighbours = std::all_of(shape.loads.begin(), shape.loads.end(), [&](const auto* load) {
    return axis_before(shape, *last, load->buffer, load->indices) == before;
  });
  const std::vector<LoopRef> outer = loops_of_axis(sch, shape.ref, *before, *loops),
                             inner = loops_of_axis(sch, shape.ref, *last, *loops);
  if (!has_neighbours || outer.size() != 1 || inner.size() != 1 || !is_same(sch, inner[0], loops->back()) ||
      !is_same(sch, outer[0], (*loops)[loops->size() - 2]))
    return false;
  loops->pop_back();
  loops->back() = steps::fuse(sch, std::vector<LoopRef>{outer[0], inner[0]});
  return true;
}

// False if the block does not put elements of several places next to each other.
bool interleaves(Schedule& sch, const BlockShape& shape, std::vector<LoopRef>* loops) {
  const std::optional<size_t> last = shape.last_axis();
  if (!last) return false;
  const std::vector<LoopRef> inner = loops_of_axis(sch, shape.ref, *last, *loops);
  if (inner.size() != 1 || !is_same(sch, inner[0], loops->back())) return false;
  const std::optional<int64_t> phases = num_phases(shape, *last);
  return phases && separate_phases(sch, shape, *last, *phases, loops);
}

}  // namespace

std::optional<Reason> vectorize_elements(Schedule& sch, const BlockShape& shape, const Features& features) {
  std::vector<LoopRef> loops = steps::get_loops(sch, shape.ref);
  if (loops.empty()) return Reason(Reason::kTooSmall, "{} is one element", shape.output()->name);
  std::optional<Reason> why;
  if (is_flat(shape)) {
    if (loops.size() > 1) loops = {steps::fuse(sch, loops)};
    why = vectorize_innermost(sch, shape, &loops, features);
    fetch_far(sch, shape, loops.back(), features);
  } else if (fuses_short_axis(sch, shape, &loops, features)) {
    why = vectorize_innermost(sch, shape, &loops, features);
  } else if (!divides_transposition(sch, shape, &loops, features) && !interleaves(sch, shape, &loops)) {
    why = vectorize_last_axis(sch, shape, &loops, features);
  }
  const int64_t work = product(shape.num_instances(),
                               shape.is_expensive() ? kLoopCosts.expensive_work : kLoopCosts.element_work);
  if (features.num_cores > 1 && work >= features.min_parallel_work())
    parallelize(sch, loops, std::max<size_t>(1, loops.size() - 1), features);
  return why;
}

namespace {

// How often statements run, loops of unknown extent as often as is likely.
int64_t num_statements(const Stmt& stmt) {
  const Runs runs = runs_inner(stmt);
  int64_t inside = is<SeqStmtNode>(stmt) ? 1 : 0, extent = 1;
  if (!is<BlockRealizeNode>(stmt))
    for_each_inner(stmt, [&](const Stmt& inner) {
      const int64_t count = num_statements(inner);
      inside = runs == Runs::kPerhaps ? std::max(inside, count) : std::min(kMostBytes, inside + count);
    });
  const auto* loop = stmt.as<ForNode>();
  if (runs == Runs::kOpen || (loop && !as_const_int(loop->extent, &extent)))
    extent = kLoopCosts.likely_extent;
  return product(std::max<int64_t>(extent, 0), std::max<int64_t>(inside, 1));
}

}  // namespace

std::optional<Reason> parallelize_block(Schedule& sch, BlockRef block, const Features& features) {
  const BlockRealizeNode* realize = sch.state().node(sch.state()[block]).realize();
  const std::vector<LoopRef> loops = steps::get_loops(sch, block);
  int64_t work = num_statements(realize->block->body);
  size_t num_candidates = 0;
  bool is_spatial = true;
  for (LoopRef loop : loops) {
    const int64_t extent = extent_of(sch, loop);
    work = product(work, extent > 0 ? extent : kLoopCosts.likely_extent);
    const Var& var = sch.state().node(sch.state()[loop]).loop()->loop_var;
    for (size_t axis = 0; axis < realize->iter_values.size(); ++axis)
      is_spatial &= realize->block->iter_vars[axis]->iter_type == IterType::kSpatial ||
                    !uses(realize->iter_values[axis], var.get());
    num_candidates += is_spatial;
  }
  if (features.num_cores == 1) return Reason(Reason::kOther, "the machine has one core");
  if (num_candidates == 0)
    return Reason(Reason::kForm, "its outermost loop belongs to an axis that is not spatial, or it has none");
  if (work < features.min_parallel_work())
    return Reason(Reason::kTooSmall, "it runs about {} statements, fewer than the {} for which threads pay",
                  work, features.min_parallel_work());
  const size_t num_steps = sch.trace().steps.size();
  parallelize(sch, loops, num_candidates, features);
  if (sch.trace().steps.size() > num_steps) return std::nullopt;
  return Reason(Reason::kTooSmall, "each of its {} outer loops has one iteration", num_candidates);
}

}  // namespace tilewright::schedule
