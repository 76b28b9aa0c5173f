#include "tilewright/schedule/default/epilogue.h"

#include <algorithm>

#include "tilewright/tir/builder.h"

namespace tilewright::schedule {
namespace {

// What one of the loads of the sum divides `axis` by, whose quotient and rest it reads; 0 if none does.
int64_t divisor_of(const BlockShape& sum, const BlockShape& epilogue, size_t axis) {
  const VarNode* var = epilogue.block->iter_vars[axis]->var.get();
  int64_t quotient_by = 0, rest_by = 0;
  for (const BufferLoadNode* load : epilogue.loads) {
    if (load->buffer != sum.output()) continue;
    for (const PrimExpr& index : load->indices) {
      const auto* quotient = index.as<FloorDivNode>();
      const auto* rest = index.as<FloorModNode>();
      if (quotient && quotient->a.get() == var) as_const_int(quotient->b, &quotient_by);
      if (rest && rest->a.get() == var) as_const_int(rest->b, &rest_by);
    }
  }
  return quotient_by > 1 && quotient_by == rest_by && epilogue.extent(axis) % rest_by == 0 ? rest_by : 0;
}

}  // namespace

std::optional<AxisMap> map_axes(const BlockShape& sum, const BlockShape& epilogue) {
  AxisMap map(sum.block->iter_vars.size());
  auto axis_of = [](const BlockShape& shape, const PrimExpr& index) -> std::optional<size_t> {
    for (size_t axis = 0; axis < shape.block->iter_vars.size(); ++axis) {
      if (shape.block->iter_vars[axis]->var.get() == index.as<VarNode>()) return axis;
    }
    return std::nullopt;
  };
  bool is_read = false;
  for (const BufferLoadNode* load : epilogue.loads) {
    if (load->buffer != sum.output()) continue;
    is_read = true;
    for (size_t dim = 0; dim < load->indices.size(); ++dim) {
      const auto from = axis_of(sum, sum.store->indices[dim]), to = axis_of(epilogue, load->indices[dim]);
      if (is_one(sum.output()->shape[dim])) continue;
      if (!from || !to || (map[*from] && map[*from] != to)) return std::nullopt;
      map[*from] = to;
    }
  }
  for (size_t axis = 0; axis < epilogue.block->iter_vars.size(); ++axis) {
    if (epilogue.extent(axis) != 1 && std::find(map.begin(), map.end(), axis) == map.end())
      return std::nullopt;
  }
  return is_read ? std::optional(map) : std::nullopt;
}

void divide_epilogue(Schedule& sch, const BlockShape& sum, const BlockShape& epilogue,
                     const Machine& machine) {
  constexpr int64_t kLineBytes = 64;
  const bool is_far = num_bytes(epilogue.output()) >= machine.l2_bytes / 2;
  std::vector<Var> from;
  std::vector<PrimExpr> to;
  for (size_t axis = 0; axis < epilogue.block->iter_vars.size(); ++axis) {
    from.push_back(make_var(fmt::format("i{}", axis), epilogue.block->iter_vars[axis]->var->dtype));
    const PrimExpr value = from.back();
    int64_t divisor = divisor_of(sum, epilogue, axis);
    if (is_far && divisor * epilogue.output()->dtype.num_bytes() < kLineBytes) divisor = 0;
    if (divisor > 0) to.push_back(floordiv(value, divisor));
    to.push_back(divisor > 0 ? floormod(value, divisor) : value);
  }
  if (to.size() > from.size()) sch.call("transform_block_layout", epilogue.ref, IndexMapNode::make(from, to));
}

bool is_contiguous(const BlockShape& shape, size_t axis) {
  return along(shape.output(), shape.store->indices, shape.block->iter_vars[axis]->var) == Along::kContiguous;
}

std::optional<Target> target_of(Schedule& sch, const BlockShape& sum,
                                const std::optional<BlockShape>& epilogue, size_t column,
                                const Machine& machine) {
  BlockRef block;
  if (epilogue) {
    divide_epilogue(sch, sum, *epilogue, machine);
    const BlockShape divided = *shape_of(sch, epilogue->ref);
    const std::optional<AxisMap> map = map_axes(sum, divided);
    if (!map || !map->at(column) || !is_contiguous(divided, *map->at(column))) return std::nullopt;
    sch.call("set_scope", sum.ref, 0, "local");
    block = epilogue->ref;
  } else {
    block = sch.call("cache_write", sum.ref, 0, "local").block();
  }
  const BlockShape shape = *shape_of(sch, block);
  return Target{shape, *map_axes(*shape_of(sch, sum.ref), shape)};
}

}  // namespace tilewright::schedule
