#include "tilewright/schedule/default/cpu/shape.h"

#include <algorithm>
#include <limits>

#include "tilewright/arith/analyzer.h"
#include "tilewright/ir/rewrite.h"
#include "tilewright/ir/services.h"
#include "tilewright/ir/walk.h"
#include "tilewright/schedule/core/loops.h"
#include "tilewright/schedule/steps.h"
#include "tilewright/support/count_text.h"
#include "tilewright/tir/block_roles.h"
#include "tilewright/tir/builder.h"
#include "tilewright/tir/op.h"
#include "tilewright/tir/text.h"
#include "tilewright/tir/uses.h"

namespace tilewright::schedule {

bool is_in_panels(const Buffer& buffer, const std::vector<PrimExpr>& indices, const Var& axis) {
  const size_t last = last_dimension(buffer);
  const auto* lane = last < indices.size() ? indices[last].as<FloorModNode>() : nullptr;
  if (!lane || lane->a.get() != axis.get()) return false;
  size_t num_panels = 0;
  for (size_t dim = 0; dim < last; ++dim) {
    const auto* panel = indices[dim].as<FloorDivNode>();
    const bool is_panel = panel && panel->a.get() == axis.get() && ir::structural_equal(panel->b, lane->b);
    if (!is_panel && uses(indices[dim], axis.get())) return false;
    num_panels += is_panel;
  }
  return num_panels == 1;
}

PrimExpr step_along(const PrimExpr& index, const Var& axis) {
  return arith::simplify(substitute(index, {{axis.get(), axis + 1}}) - index);
}

size_t last_dimension(const Buffer& buffer) {
  size_t last = buffer->shape.size();
  while (last > 1 && is_one(buffer->shape[last - 1])) --last;
  return last - std::min<size_t>(last, 1);
}

Along along(const Buffer& buffer, const std::vector<PrimExpr>& indices, const Var& axis) {
  if (is_in_panels(buffer, indices, axis)) return Along::kContiguous;
  Along result = Along::kStays;
  bool is_innermost = true;  // only dimensions of extent 1 are further inside
  for (size_t n = indices.size(); n-- > 0;) {
    if (uses(indices[n], axis.get())) {
      const bool is_next = is_innermost && is_one(step_along(indices[n], axis));
      if (!is_next || result != Along::kStays) return Along::kStrided;
      result = Along::kContiguous;
    }
    is_innermost &= is_one(buffer->shape[n]);
  }
  return result;
}

int64_t BlockShape::extent(size_t axis, int64_t otherwise) const {
  int64_t extent;
  return as_const_int(block->iter_vars[axis]->dom->extent, &extent) ? extent : otherwise;
}

std::optional<size_t> BlockShape::last_axis() const {
  if (store->indices.empty()) return std::nullopt;
  const size_t dim = last_dimension(output());
  if (is_one(output()->shape[dim])) return std::nullopt;
  return axis_of(*this, store->indices[dim]);
}

const std::string& axis_name(const BlockShape& shape, size_t axis) {
  return shape.block->iter_vars[axis]->var->name_hint;
}

std::optional<size_t> axis_of(const BlockShape& shape, const PrimExpr& index) {
  for (size_t axis = 0; axis < shape.block->iter_vars.size(); ++axis) {
    if (index.get() == shape.block->iter_vars[axis]->var.get()) return axis;
  }
  return std::nullopt;
}

Reason why_no_last_axis(const BlockShape& shape) {
  const Reason one_element{Reason::kTooSmall, "{} is one element", shape.output()->name};
  if (shape.store->indices.empty()) return one_element;
  const size_t dim = last_dimension(shape.output());
  if (is_one(shape.output()->shape[dim])) return one_element;
  return Reason(Reason::kForm, "the index of dimension {} of {}, {}, is no axis", dim, shape.output()->name,
                expr_text(shape.store->indices[dim]));
}

Reason open_extent(const BlockShape& shape, size_t axis) {
  return Reason(Reason::kOpenExtent, "the extent of axis {} of block {}, {}, is known only at run time",
                axis_name(shape, axis), shape.block->name_hint,
                expr_text(shape.block->iter_vars[axis]->dom->extent));
}

Reason partly_filled(const BlockShape& shape, size_t axis, std::string_view what, int64_t size,
                     std::string_view parts) {
  const int64_t extent = shape.extent(axis), whole = (extent + size - 1) / size * size;
  return Reason(Reason::kTooSmall, "the {} {} of axis {} fill {} in {} of {}, and all must be filled", extent,
                what, axis_name(shape, axis), share_text(extent, whole), parts, size);
}

int64_t num_steps(const BlockShape& sum) {
  int64_t steps = 1;
  for (size_t axis = 0; axis < sum.block->iter_vars.size(); ++axis) {
    if (sum.block->iter_vars[axis]->iter_type != IterType::kSpatial)
      steps = product(steps, sum.likely_extent(axis));
  }
  return steps;
}

std::optional<int64_t> stride_bytes(const BlockShape& shape, const BufferLoadNode* load, size_t axis) {
  const Var& var = shape.block->iter_vars[axis]->var;
  const auto& strides = load->buffer->strides;  // of a view of a part
  const int64_t element = load->dtype.num_bytes();
  int64_t bytes = 0;
  std::optional<int64_t> size = element;  // of what lies inside of a dimension; nothing if it is open
  for (size_t dim = load->indices.size(); dim-- > 0;) {
    int64_t step, extent;
    if (!as_const_int(step_along(load->indices[dim], var), &step)) return std::nullopt;
    if (!strides.empty())
      size = as_const_int(strides[dim], &extent) ? std::optional(product(extent, element)) : std::nullopt;
    if (step != 0) {
      if (!size) return std::nullopt;
      bytes += step * *size;
    }
    size = size && as_const_int(load->buffer->shape[dim], &extent) ? std::optional(product(*size, extent))
                                                                   : std::nullopt;
  }
  return bytes;
}

bool reads(const BlockShape& shape, const Buffer& buffer) {
  return std::any_of(shape.loads.begin(), shape.loads.end(),
                     [&](const BufferLoadNode* load) { return load->buffer == buffer; });
}

bool is_padding(const BlockShape& shape) {
  const auto* choice = shape.store->value.as<CallNode>();
  const std::optional<size_t> last = shape.last_axis();
  if (!tir::is_if_then_else(choice) || !is<BufferLoadNode>(choice->args[1]) || shape.loads.size() != 1 ||
      !last)
    return false;
  return !tir::uses(ir::ref_as<PrimExprNode>(choice->args[0]), shape.block->iter_vars[*last]->var.get());
}

int64_t BlockShape::likely_extent(size_t axis, int64_t otherwise) const {
  return arith::likely_value(block->iter_vars[axis]->dom->extent, likely_sizes).value_or(otherwise);
}

int64_t BlockShape::num_bytes(const Buffer& buffer, int64_t open_extent) const {
  int64_t bytes = buffer->dtype.num_bytes();
  for (const PrimExpr& size : buffer->shape)
    bytes = product(bytes, arith::likely_value(size, likely_sizes).value_or(open_extent));
  return bytes;
}

bool reads_beyond(const BlockShape& shape, int64_t bytes) {
  return std::any_of(shape.loads.begin(), shape.loads.end(),
                     [&](const BufferLoadNode* load) { return shape.num_bytes(load->buffer) > bytes; });
}

int64_t product(int64_t a, int64_t b) {
  int64_t result;
  return __builtin_mul_overflow(a, b, &result) ? std::numeric_limits<int64_t>::max() : result;
}

int64_t BlockShape::num_instances() const {
  int64_t count = 1;
  for (size_t axis = 0; axis < block->iter_vars.size(); ++axis) {
    count = product(count, likely_extent(axis));
  }
  return count;
}

bool BlockShape::is_expensive() const {
  bool found = false;
  walk(store->value, [&](const CallNode* call) { found |= !is_if_then_else(call); });
  return found;
}

namespace {

// The reason why a block is not one store; nothing if it is.
std::optional<Reason> why_not_one_store(const BlockNode* block) {
  if (!is<BufferStoreNode>(block->body)) {
    int64_t num_stores = 0, num_loops = 0;
    walk(
        block->body, [&](const BufferStoreNode*) { ++num_stores; }, [&](const ForNode*) { ++num_loops; },
        [&](const WhileNode*) { ++num_loops; });
    return Reason(Reason::kForm, "its body is not one store, but has {} and {}",
                  count_text(num_stores, "store"), count_text(num_loops, "loop"));
  }
  for (const IterVar& axis : block->iter_vars) {
    if (axis->iter_type != IterType::kSpatial && axis->iter_type != IterType::kReduce)
      return Reason(Reason::kForm, "axis {} is neither spatial nor reduce", axis->var->name_hint);
  }
  if (!block->init || is<BufferStoreNode>(block->init)) return std::nullopt;
  return Reason(Reason::kForm, "its init is not one store");
}

}  // namespace

OrReason<BlockShape> shape_of(const Schedule& sch, BlockRef block) {
  BlockShape shape;
  shape.ref = block;
  shape.block = sch.get(block);
  shape.likely_sizes = arith::likely_sizes_of(sch.state().func_of(sch.state()[block]).func->attrs);
  shape.store = shape.block->body.as<BufferStoreNode>();
  if (const std::optional<Reason> why = why_not_one_store(shape.block.get())) return *why;
  walk(shape.store->value, [&](const BufferLoadNode* load) {
    if (load->buffer != shape.store->buffer) shape.loads.push_back(load);
  });
  return shape;
}

const BlockShape* block_in_role(const std::vector<BlockShape>& shapes, std::string_view role) {
  const BlockShape* found = nullptr;
  for (const BlockShape& shape : shapes) {
    if (shape.block->annotations.get_string(kRole, "") != role) continue;
    if (found) return nullptr;
    found = &shape;
  }
  return found;
}

std::vector<LoopRef> loops_inside(Schedule& sch, BlockRef block, std::optional<LoopRef> outer) {
  std::vector<LoopRef> loops = steps::get_loops(sch, block);
  if (!outer) return loops;
  auto is_outer = [&](LoopRef loop) { return sch.state()[loop] == sch.state()[*outer]; };
  const auto found = std::find_if(loops.begin(), loops.end(), is_outer);
  return {found == loops.end() ? found : found + 1, loops.end()};
}

std::vector<LoopRef> loops_of_axis(const Schedule& sch, BlockRef block, size_t axis,
                                   const std::vector<LoopRef>& loops) {
  const PrimExpr value = sch.state().node(sch.state()[block]).realize()->iter_values[axis];
  std::vector<LoopRef> found;
  for (LoopRef loop : loops) {
    if (!sch.is_alive(loop)) continue;  // split since it was looked up
    if (uses(value, sch.state().node(sch.state()[loop]).loop()->loop_var.get())) found.push_back(loop);
  }
  return found;
}

bool has_loop(const Schedule& sch, BlockRef block, size_t axis) {
  bool found = false;
  walk(sch.state().node(sch.state()[block]).realize()->iter_values[axis],
       [&](const VarNode*) { found = true; });
  return found;
}

}  // namespace tilewright::schedule
