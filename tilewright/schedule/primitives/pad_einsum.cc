// pad_einsum: a sum of products runs over lengths that are multiples, on padded copies of its operands.
#include <algorithm>

#include "tilewright/analysis/regions.h"
#include "tilewright/ir/rewrite.h"
#include "tilewright/ir/services.h"
#include "tilewright/ir/walk.h"
#include "tilewright/schedule/core/edit.h"
#include "tilewright/schedule/core/loops.h"
#include "tilewright/schedule/core/primitive.h"
#include "tilewright/schedule/core/reduction.h"
#include "tilewright/schedule/core/report.h"
#include "tilewright/schedule/core/stage.h"
#include "tilewright/schedule/legality/block_checks.h"
#include "tilewright/schedule/transforms/trivial_nest.h"
#include "tilewright/tir/builder.h"

namespace tilewright::schedule {
namespace {

struct Args {
  BlockRef block;
  std::vector<int64_t> padding;
  static constexpr std::string_view kRequired[] = {"padding"};
  static constexpr auto fields() {
    return std::tuple{field<&Args::block>("block", "a block whose indices are plain axes"),
                      field<&Args::padding>("padding", "of what each axis becomes a multiple")};
  }
};

// The new extent of each axis; (n + 7) // 8 * 8 for an open extent n and padding 8.
std::vector<PrimExpr> padded_extents(const State& state, NodeId id, const std::vector<int64_t>& padding) {
  const BlockNode* block = state.node(id).block();
  if (padding.size() != block->iter_vars.size())
    throw refuse(state, id, "{} paddings are given for the {} axes of block {}", padding.size(),
                 block->iter_vars.size(), block->name_hint);
  std::vector<PrimExpr> extents;
  for (size_t n = 0; n < padding.size(); ++n) {
    const PrimExpr extent = block->iter_vars[n]->dom->extent;
    if (padding[n] < 1 || padding[n] > (1 << 20))
      throw refuse(state, id, "padding {} is not between 1 and {}", padding[n], 1 << 20);
    extents.push_back(padding[n] == 1 ? extent
                                      : floordiv(extent + (padding[n] - 1), padding[n]) * padding[n]);
  }
  return extents;
}

// True if the axis gets longer, or may.
bool is_padded(const IterVar& axis, const PrimExpr& extent) {
  return !structural_equal(axis->dom->extent, extent);
}

// An operand or the result: its place in the block and its padded copy.
struct Operand {
  Buffer buffer, padded;
  std::vector<PrimExpr> indices;
  std::vector<bool> runs = std::vector<bool>(indices.size());  // whether an axis runs over the dimension
};

// The accesses of the block: plain axes and constants, one place for each buffer.
std::vector<Operand> require_einsum(const State& state, NodeId id) {
  const BlockNode* block = state.node(id).block();
  const auto* update = block->body.as<BufferStoreNode>();
  const auto* init = block->init ? block->init.as<BufferStoreNode>() : nullptr;
  if (!update || update->predicate || (block->init && !init))
    throw refuse(state, id, "block {} is not a single store", block->name_hint);
  std::vector<Operand> operands;
  auto meet = [&](const Buffer& buffer, const std::vector<PrimExpr>& indices) {
    for (const PrimExpr& index : indices) {
      if (!is<VarNode>(index) && !is<IntImmNode>(index))
        throw refuse(state, id, "index {} of {} is neither an axis nor a constant", text(index),
                     buffer->name);
    }
    for (const Operand& known : operands) {
      if (known.buffer != buffer) continue;
      for (size_t n = 0; n < indices.size(); ++n) {
        if (!structural_equal(known.indices[n], indices[n]))
          throw refuse(state, id, "block {} accesses {} at different places", block->name_hint, buffer->name);
      }
      return;
    }
    operands.push_back({.buffer = buffer, .padded = nullptr, .indices = indices});
  };
  meet(update->buffer, update->indices);
  if (init) meet(init->buffer, init->indices);
  walk(update->value, [&](const BufferLoadNode* load) { meet(load->buffer, load->indices); });
  return operands;
}

// True if `value` is a number where loads are 0: no logarithm or quotient that is infinite there.
bool stays_finite(const PrimExpr& value) {
  bool is_polynomial = true;
  walk(value, [&](const PrimExprNode* node) {
    const ObjectRef part(node);
    is_polynomial =
        is_polynomial && (is<BufferLoadNode>(part) || is<IntImmNode>(part) || is<FloatImmNode>(part) ||
                          is<VarNode>(part) || is<CastNode>(part) || is<AddNode>(part) || is<SubNode>(part) ||
                          is<MulNode>(part) || is<MinNode>(part) || is<MaxNode>(part));
    return !is<BufferLoadNode>(part);  // indices are not values
  });
  return is_polynomial;
}

// True if `value` is 0 when one of the loads that depend on a padded reduce axis is.
bool vanishes(const PrimExpr& value, const std::vector<const VarNode*>& reduced) {
  if (const auto* product = value.as<MulNode>())
    return (vanishes(product->a, reduced) && stays_finite(product->b)) ||
           (vanishes(product->b, reduced) && stays_finite(product->a));
  if (const auto* sum = value.as<AddNode>()) return vanishes(sum->a, reduced) && vanishes(sum->b, reduced);
  if (const auto* cast = value.as<CastNode>()) return vanishes(cast->value, reduced);
  const auto* load = value.as<BufferLoadNode>();
  if (!load) return false;
  for (const PrimExpr& index : load->indices) {
    if (std::find(reduced.begin(), reduced.end(), index.as<VarNode>()) != reduced.end()) return true;
  }
  return false;
}

// Terms of the padded part add nothing.
void require_neutral(const State& state, NodeId id, const std::vector<PrimExpr>& extents) {
  const BlockNode* block = state.node(id).block();
  const auto* update = block->body.as<BufferStoreNode>();
  for (size_t n = 0; n < extents.size(); ++n) {
    const IterVar& axis = block->iter_vars[n];
    if (axis->iter_type != IterType::kReduce || !is_padded(axis, extents[n])) continue;
    const auto* add = update->value.as<AddNode>();
    bool is_neutral = false;
    for (const auto& [self, term] : {std::pair{add ? add->a : PrimExpr(), add ? add->b : PrimExpr()},
                                     std::pair{add ? add->b : PrimExpr(), add ? add->a : PrimExpr()}}) {
      const auto* load = self ? self.as<BufferLoadNode>() : nullptr;
      is_neutral |= load && load->buffer == update->buffer && vanishes(term, {axis->var.get()});
    }
    if (!is_neutral)
      throw refuse(state, id, "zeros along axis {} would change the result of block {}: {}",
                   axis->var->name_hint, block->name_hint, text(update->value));
  }
}

// Whole numbers have no quotient by the zeros of the padding; floats have one, which nobody reads.
void require_no_zero_divisor(const State& state, NodeId id, const std::vector<PrimExpr>& extents) {
  const BlockNode* block = state.node(id).block();
  walk(block->body, [&](const BinaryOpNode* node) {
    const bool divides = node->kind == Kind::kDiv || node->kind == Kind::kMod ||
                         node->kind == Kind::kFloorDiv || node->kind == Kind::kFloorMod;
    if (!divides || node->dtype.is_float()) return;
    for (size_t n = 0; n < extents.size(); ++n) {
      const IterVar& axis = block->iter_vars[n];
      if (!is_padded(axis, extents[n]) || !uses(node->b, axis->var.get())) continue;
      throw refuse(state, id, "block {} divides by {}, which may be 0 in the padding of axis {}",
                   block->name_hint, text(node->b), axis->var->name_hint);
    }
  });
}

// Copies between a buffer and its padded copy what the block accesses of it: A[v, 0, v] has one loop, over v.
// `fills` also stores zeros where there is no element.
Stage make_stage(const Operand& operand, bool fills, const Span& written) {
  const Buffer &from = fills ? operand.buffer : operand.padded, &to = fills ? operand.padded : operand.buffer;
  std::vector<std::pair<Var, PrimExpr>> loops;
  std::vector<IterVar> axes;
  std::vector<PrimExpr> values, indices;
  PrimExpr inside = bool_imm(true);
  for (size_t n = 0; n < to->shape.size(); ++n) {
    const PrimExpr& index = operand.indices[n];
    const auto earlier = std::find(operand.indices.begin(), operand.indices.begin() + long(n), index);
    if (const auto dim = static_cast<size_t>(earlier - operand.indices.begin());
        dim < n || !operand.runs[n]) {
      indices.push_back(dim < n ? indices[dim] : index);
      continue;
    }
    const DataType dtype = to->shape[n]->dtype;
    loops.emplace_back(make_var(fmt::format("ax{}", n), dtype), to->shape[n]);
    axes.push_back(IterVarNode::make(make_var(fmt::format("v{}", n), dtype),
                                     make_range(imm(0, dtype), to->shape[n]), IterType::kSpatial,
                                     std::string()));
    values.push_back(loops.back().first);
    indices.push_back(axes.back()->var);
    if (!fills || structural_equal(from->shape[n], to->shape[n])) continue;
    const PrimExpr below = indices.back() < from->shape[n];
    inside = is_one(inside) ? below : logical_and(inside, below);
  }
  PrimExpr value = load(from, indices);
  if (!is_one(inside))
    value = call(from->dtype, "tir.if_then_else", {inside, value, make_const(from->dtype, 0)});
  const Block block = new_block(operand.padded->name, axes, Stmt(), store(to, value, indices), written);
  return new_stage(block, values, bool_imm(true), loops);
}

// Gives operands that get longer a padded copy; the others are dropped.
void make_padded(const State& state, NodeId id, const std::vector<PrimExpr>& extents,
                 std::vector<Operand>* operands) {
  const BlockNode* block = state.node(id).block();
  for (Operand& operand : *operands) {
    std::vector<PrimExpr> shape = operand.buffer->shape;
    bool is_longer = false;
    for (size_t dim = 0; dim < shape.size(); ++dim) {
      for (size_t n = 0; n < extents.size(); ++n) {
        const IterVar& axis = block->iter_vars[n];
        if (operand.indices[dim].as<VarNode>() != axis->var.get()) continue;
        if (!structural_equal(shape[dim], axis->dom->extent))
          throw refuse(state, id, "axis {} of block {} does not run over the whole of dimension {} of {}",
                       axis->var->name_hint, block->name_hint, dim, operand.buffer->name);
        is_longer |= is_padded(axis, extents[n]);
        shape[dim] = cast(shape[dim]->dtype, extents[n]);
        operand.runs[dim] = true;
      }
    }
    if (is_longer)
      operand.padded =
          make_buffer(operand.buffer->name + "_pad", shape, operand.buffer->dtype, operand.buffer->scope());
  }
  std::erase_if(*operands, [](const Operand& operand) { return !operand.padded; });
}

Block padded_block(const Block& block, const std::vector<PrimExpr>& extents,
                   const std::vector<Operand>& operands) {
  Substitution buffers;
  for (const Operand& operand : operands) buffers[operand.buffer.get()] = operand.padded;
  return with(substitute(block, buffers), [&](BlockNode& n) {
    for (size_t axis = 0; axis < extents.size(); ++axis)
      n.iter_vars[axis] = with(n.iter_vars[axis], [&](IterVarNode& changed) {
        changed.dom = make_range(changed.dom->min, cast(changed.var->dtype, extents[axis]));
      });
  });
}

// The result need not depend on an axis of one value: further values would replace it.
void require_places_for_padding(const State& state, NodeId id, const Operand& result,
                                const std::vector<PrimExpr>& extents) {
  const BlockNode* block = state.node(id).block();
  for (size_t n = 0; n < extents.size(); ++n) {
    const IterVar& axis = block->iter_vars[n];
    if (axis->iter_type != IterType::kSpatial || !is_padded(axis, extents[n])) continue;
    const bool is_index =
        std::any_of(result.indices.begin(), result.indices.end(),
                    [&](const PrimExpr& index) { return index.as<VarNode>() == axis->var.get(); });
    if (!is_index)
      throw refuse(state, id,
                   "axis {} of block {} is no index of {}: its padding would be written over the result",
                   axis->var->name_hint, block->name_hint, result.buffer->name);
  }
}

void apply(State& state, const Args& args) {
  const NodeId id = state[args.block], scope = require_scope(state, id);
  const std::vector<PrimExpr> extents = padded_extents(state, id, args.padding);
  const std::vector<NodeId> nest = require_trivial_nest(state, id);
  if (const Objection reason = why_not_one_to_one(state, id); !reason.empty())
    throw refuse(state, id, "{}", reason);
  std::vector<Operand> operands = require_einsum(state, id);
  const Buffer result = operands[0].buffer;
  require_places_for_padding(state, id, operands[0], extents);
  if (const Objection reason = why_not_apart(state, id); !reason.empty())
    throw refuse(state, id, "{}", reason);
  require_neutral(state, id, extents);
  require_no_zero_divisor(state, id, extents);
  make_padded(state, id, extents, &operands);
  if (operands.empty()) return;
  const BlockRealizeNode* realize = state.node(id).realize();
  const Block changed = padded_block(realize->block, extents, operands);
  Stmt stmt = with(realize, [&](BlockRealizeNode& n) { n.block = changed; });
  for (size_t n = nest.size(); n-- > 0;)
    stmt = with(state.node(nest[n]).loop(), [&](ForNode& loop) {
      loop.body = stmt;
      for (size_t axis = 0; axis < extents.size(); ++axis) {
        if (realize->iter_values[axis].as<VarNode>() == loop.loop_var.get())
          loop.extent = cast(loop.loop_var->dtype, extents[axis]);
      }
    });
  std::vector<Stmt> parts;
  for (const Operand& operand : operands) {
    if (operand.buffer != result) parts.push_back(make_stage(operand, true, realize->block->span).stmt);
  }
  parts.push_back(stmt);
  if (operands[0].buffer == result)
    parts.push_back(make_stage(operands[0], false, realize->block->span).stmt);
  Edit edit(state);
  edit.forward(realize->block.get(), changed);
  edit.replace(nest.empty() ? id : nest[0], seq(std::move(parts)));
  edit.edit_block(scope, [&](BlockNode& n) {
    for (const Operand& operand : operands) n.alloc_buffers.push_back(operand.padded);
  });
  edit.commit(state, scope);
}

}  // namespace

extern constinit const PrimitiveInfo pad_einsum_info = primitive<apply>("pad_einsum", R"(
Lets a sum of products run over lengths that are multiples of what is given, on copies of its operands with zeros at the ends.

    for i, k in T.grid(127, 5):            for i, k in T.grid(127, 5): A_pad[..] = T.if_then_else(.., A[..], 0)   # (128, 8)
        Y[vi] = Y[vi] + A[vi, vk]   ->     for i, k in T.grid(128, 8): Y_pad[vi] = Y_pad[vi] + A_pad[vi, vk]
                                           for i in range(127): Y[v0] = Y_pad[v0]                 pad_einsum(Y, [32, 8])

block    every axis is a loop of its own, of any extent, every index an axis or a constant; its handle stays
padding  one number >= 1 for each axis
Raises   UserError if an index is composite, or if zeros along a summed axis would change the result.
)");
}  // namespace tilewright::schedule
