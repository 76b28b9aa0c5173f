#include "tilewright/schedule/transforms/cache_stage.h"

#include <algorithm>

#include "tilewright/ir/walk.h"
#include "tilewright/schedule/core/loops.h"
#include "tilewright/schedule/core/report.h"
#include "tilewright/tir/builder.h"

namespace tilewright::schedule {

namespace {

bool has_own_layout(const Buffer& buffer) {
  return !buffer->strides.empty() || (buffer->elem_offset && !is_zero(buffer->elem_offset));
}

}  // namespace

Buffer make_cache(const Buffer& buffer, const std::string& storage_scope) {
  return make_buffer(buffer->name + "_" + storage_scope, buffer->shape, buffer->dtype, storage_scope);
}

Block on_cache(const Block& block, const Buffer& buffer, const Buffer& cache) {
  Substitution values{{buffer.get(), cache}};
  auto is_other = [&](const BufferRegion& region) {
    return region->buffer != buffer && region->buffer->data == buffer->data;
  };
  const bool is_alone = std::none_of(block->reads.begin(), block->reads.end(), is_other) &&
                        std::none_of(block->writes.begin(), block->writes.end(), is_other);
  if (is_alone && !has_own_layout(buffer)) values[buffer->data.get()] = cache->data;
  return substitute(block, values);
}

void require_no_pointer(const State& state, NodeId id, const Block& changed, const Buffer& buffer) {
  bool has_pointer = false;
  walk(
      changed,
      [&](const VarNode* var) {
        has_pointer |= var == buffer->data.get();
        return true;
      },
      [&](const BufferNode* other) {
        has_pointer |= other->data == buffer->data;
        return false;
      });
  if (!has_pointer) return;
  throw refuse(state, id, "block {} writes to {} by a pointer, which cannot lead to a copy: {}",
               state.node(id).name, buffer->name,
               has_own_layout(buffer) ? "the buffer has strides or an offset of its own"
                                      : "another of its buffers lies there as well");
}

std::string fresh_block_name(const State& state, NodeId near, const std::string& name) {
  auto is_taken = [&](const std::string& wanted) {
    bool found = false;
    state.func_of(near).index.for_each([&](const Object*, NodeId id) {
      found |= state.node(id).name == wanted && !state.node(id).is_loop();
    });
    return found;
  };
  std::string fresh = name;
  for (int n = 1; is_taken(fresh); ++n) fresh = fmt::format("{}_{}", name, n);
  return fresh;
}

Stage make_copy(const std::string& name, const Buffer& from, const Buffer& to,
                const arith::IntervalRegion& region, const Span& written, arith::Analyzer& analyzer) {
  std::vector<IterVar> axes;
  std::vector<PrimExpr> values, indices;
  std::vector<std::pair<Var, PrimExpr>> loops;
  PrimExpr predicate = bool_imm(true);
  for (size_t n = 0; n < from->shape.size(); ++n) {
    const PrimExpr shape = from->shape[n];
    PrimExpr min = imm(0, shape->dtype), extent = shape;
    std::vector<PrimExpr> first{min}, end{shape};  // what is copied is not below these, but below those
    if (region[n].is_bounded()) {
      PrimExpr width = analyzer.simplify(region[n].max - region[n].min + 1);
      const arith::ConstBounds bounds = analyzer.const_bounds(width);
      // where the width changes from iteration to iteration, the loop is as long as the longest
      if (!is<IntImmNode>(width)) {
        first.push_back(cast(shape->dtype, region[n].min));
        end.push_back(cast(shape->dtype, region[n].max + 1));
        if (bounds.max != arith::kPosInf) width = make_const_int(width->dtype, bounds.max);
      }
      if (is<IntImmNode>(width) && !analyzer.can_prove(width >= shape))
        min = cast(shape->dtype, region[n].min), extent = cast(shape->dtype, width);
    }
    min = analyzer.simplify(min);
    Var loop_var = make_var(fmt::format("ax{}", n), shape->dtype),
        axis_var = make_var(fmt::format("v{}", n), shape->dtype);
    analyzer.bind(loop_var, make_range(imm(0, shape->dtype), extent));
    loops.emplace_back(loop_var, extent);
    const PrimExpr value = is_zero(min) ? PrimExpr(loop_var) : min + loop_var;
    values.push_back(value);
    const bool is_fixed = is<IntImmNode>(min);
    axes.push_back(IterVarNode::make(
        axis_var, is_fixed ? make_range(min, extent) : make_range(imm(0, shape->dtype), shape),
        IterType::kSpatial, std::string()));
    auto require = [&](const PrimExpr& condition) {
      const PrimExpr guard = analyzer.simplify(condition);
      if (!is_one(guard)) predicate = is_one(predicate) ? guard : logical_and(predicate, guard);
    };
    for (const PrimExpr& bound : first) require(value >= bound);
    for (const PrimExpr& bound : end) require(value < bound);
    indices.push_back(axis_var);
  }
  const Block block = new_block(name, axes, Stmt(), store(to, load(from, indices), indices), written);
  return new_stage(block, values, predicate, loops);
}

}  // namespace tilewright::schedule
