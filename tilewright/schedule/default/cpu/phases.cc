#include "tilewright/schedule/default/cpu/phases.h"

#include "tilewright/arith/analyzer.h"
#include "tilewright/ir/rewrite.h"
#include "tilewright/ir/walk.h"
#include "tilewright/schedule/default/cpu/rules.h"
#include "tilewright/schedule/steps.h"
#include "tilewright/tir/builder.h"
#include "tilewright/tir/uses.h"

namespace tilewright::schedule {
namespace {

// The number by which `index` divides what has `axis` in it, if it always divides by the same one; nothing if
// it does not divide.
std::optional<int64_t> divisor_of(const PrimExpr& index, const Var& axis) {
  std::optional<int64_t> divisor;
  bool is_same = true;
  const auto take = [&](const PrimExpr& a, const PrimExpr& b) {
    int64_t number = 0;
    if (!uses(a, axis.get())) return;
    is_same &= as_const_int(b, &number) && (!divisor || divisor == number);
    divisor = number;
  };
  walk(
      index, [&](const FloorDivNode* node) { take(node->a, node->b); },
      [&](const FloorModNode* node) { take(node->a, node->b); });
  return is_same ? divisor : std::nullopt;
}

// `indices` at element `q` of phase `phase`.
std::vector<PrimExpr> at_phase(const std::vector<PrimExpr>& indices, const Var& axis, const Var& q,
                               int64_t phases, int64_t phase, arith::Analyzer& analyzer) {
  const PrimExpr place = PrimExpr(q) * phases + phase;
  std::vector<PrimExpr> found;
  for (const PrimExpr& index : indices)
    found.push_back(analyzer.simplify(ir::substitute(index, {{axis.get(), place}})));
  return found;
}

bool divides(int64_t phases, const PrimExpr& extent) {
  return is_zero(arith::simplify(floormod(extent, phases)));
}

}  // namespace

std::optional<int64_t> num_phases(const BlockShape& shape, size_t axis) {
  constexpr int64_t kMostPhases = 8;
  const Var& var = shape.block->iter_vars[axis]->var;
  std::optional<int64_t> phases;
  for (const BufferLoadNode* load : shape.loads) {
    for (const PrimExpr& index : load->indices) {
      if (!uses(index, var.get())) continue;
      const std::optional<int64_t> divisor = divisor_of(index, var);
      if (!divisor || (phases && phases != divisor)) return std::nullopt;
      phases = divisor;
    }
  }
  if (!phases || *phases < 2 || *phases > kMostPhases) return std::nullopt;
  const Var q = make_var("q", var->dtype);
  const PrimExpr& extent = shape.block->iter_vars[axis]->dom->extent;
  const int64_t more = divides(*phases, extent) ? 0 : *phases - 1;
  arith::Analyzer analyzer;
  analyzer.bind(q,
                make_range(make_const_int(q->dtype, 0), arith::simplify(floordiv(extent + more, *phases))));
  for (const BufferLoadNode* load : shape.loads) {
    for (int64_t phase = 0; phase < *phases; ++phase) {
      const std::vector<PrimExpr> indices = at_phase(load->indices, var, q, *phases, phase, analyzer);
      if (along(load->buffer, indices, q) == Along::kStrided) return std::nullopt;
    }
  }
  return phases;
}

bool separate_phases(Schedule& sch, const BlockShape& shape, size_t axis, int64_t phases,
                     std::vector<LoopRef>* loops) {
  const PrimExpr& extent = shape.block->iter_vars[axis]->dom->extent;
  const bool is_even = divides(phases, extent);
  const int64_t known = shape.extent(axis);
  if (!is_even && known < 2 * phases) return false;
  LoopRef whole = loops->back();
  loops->pop_back();
  if (!is_even) whole = steps::loop_partition(sch, whole, {known / phases * phases, None{}})[0];
  const std::vector<LoopRef> parts = steps::split(sch, whole, {None{}, phases});
  steps::unroll(sch, parts[1]);
  if (is_even) loops->push_back(parts[0]);
  return true;
}

}  // namespace tilewright::schedule
