#include "tilewright/schedule/layout.h"

#include <numeric>

#include "tilewright/arith/int_set.h"
#include "tilewright/ir/rewrite.h"
#include "tilewright/ir/walk.h"
#include "tilewright/schedule/report.h"
#include "tilewright/schedule/witness.h"
#include "tilewright/tir/builder.h"

namespace tilewright::schedule {
namespace {

// Digits that repeat later than this are not looked for.
constexpr int64_t kMaxPeriod = 1 << 20;

// How often the digits of `var` in an index repeat: 8 for (i // 4) % 2, 1 for what only adds and multiplies.
int64_t period_of(const PrimExpr& index, const VarNode* var) {
  int64_t period = 1;
  const auto meet = [&](const PrimExpr& dividend, const PrimExpr& divisor) {
    int64_t value = 0;
    bool uses_var = false;
    walk(dividend, [&](const VarNode* used) { uses_var = uses_var || used == var; });
    if (uses_var && as_const_int(divisor, &value) && value > 0 && value <= kMaxPeriod / period)
      period *= value;
  };
  walk(
      index, [&](const FloorDivNode* op) { meet(op->a, op->b); },
      [&](const FloorModNode* op) { meet(op->a, op->b); });
  return period;
}

// The index space, enlarged so that the map cuts it into equal parts: a map that tells the elements of the
// larger space apart also does so for those that exist.
arith::IterRanges padded(const arith::IterRanges& ranges, const IndexMap& map) {
  arith::IterRanges result;
  for (const auto& [var, range] : ranges) {
    int64_t period = 1;
    for (const PrimExpr& index : map->final_indices) period = std::lcm(period, period_of(index, var.get()));
    const PrimExpr unit = make_const_int(var->dtype, std::min(period, kMaxPeriod));
    result.emplace_back(var, make_range(range->min, arith::simplify(ceildiv(range->extent, unit) * unit)));
  }
  return result;
}

arith::IterMap detect_injective(const IndexMap& map, const arith::IterRanges& ranges,
                                arith::Analyzer& analyzer) {
  arith::IterMap found = arith::detect_iter_map(map->final_indices, ranges, bool_imm(true),
                                                arith::IterMapLevel::kInjective, analyzer);
  if (found) return found;
  arith::Analyzer larger;
  const arith::IterRanges space = padded(ranges, map);
  for (const auto& [var, range] : space) larger.bind(var, range);
  arith::IterMap in_space = arith::detect_iter_map(map->final_indices, space, bool_imm(true),
                                                   arith::IterMapLevel::kInjective, larger);
  return in_space ? std::move(in_space) : std::move(found);
}

}  // namespace

MappedSpace require_one_to_one(const State& state, NodeId where, const IndexMap& map,
                               const std::vector<PrimExpr>& extents, const std::string& what,
                               bool is_trusted) {
  const size_t ndim = extents.size();
  if (map->initial_indices.size() != ndim)
    throw refuse(state, where, "the map takes {} indices, but {} has {}", map->initial_indices.size(), what,
                 ndim);
  arith::Analyzer analyzer;
  arith::IterRanges ranges;
  for (size_t n = 0; n < ndim; ++n) {
    const Var& var = map->initial_indices[n];
    ranges.emplace_back(var, make_range(imm(0, var->dtype), cast(var->dtype, extents[n])));
    analyzer.bind(var, ranges.back().second);
  }
  const arith::IterMap found = detect_injective(map, ranges, analyzer);
  if (!found && !is_trusted) {
    if (const std::string collision = find_collision(map, extents); !collision.empty())
      throw refuse(state, where, "the map puts two elements of {} in one place: {}", what, collision);
    throw refuse(state, where, "the map may put two elements of {} in one place: {}", what, found.reason);
  }
  const arith::Domains domains = arith::domains_of(ranges);
  MappedSpace space;
  space.padded = padded(ranges, map);
  for (const PrimExpr& index : map->final_indices) {
    const arith::Interval values = arith::eval_interval(index, domains, analyzer);
    if (!values.is_bounded() || !analyzer.can_prove(values.min >= imm(0, index->dtype)))
      throw refuse(state, where, "index {} of the map may be negative", text(index));
    space.shape.push_back(analyzer.simplify(values.max + 1));
  }
  return space;
}

std::vector<PrimExpr> apply_map(const IndexMap& map, const std::vector<PrimExpr>& indices,
                                arith::Analyzer& analyzer) {
  Substitution values;
  for (size_t n = 0; n < indices.size(); ++n) {
    const Var& var = map->initial_indices[n];
    values[var.get()] = cast(var->dtype, indices[n]);
  }
  std::vector<PrimExpr> result;
  for (const PrimExpr& index : map->final_indices)
    result.push_back(analyzer.simplify(substitute(index, values)));
  return result;
}

std::vector<PrimExpr> inverse_of(const State& state, NodeId where, const IndexMap& map,
                                 const MappedSpace& space, const std::vector<PrimExpr>& outputs) {
  arith::Analyzer analyzer;
  for (const auto& [var, range] : space.padded) analyzer.bind(var, range);
  const arith::IterMap found = arith::detect_iter_map(map->final_indices, space.padded, bool_imm(true),
                                                      arith::IterMapLevel::kBijective, analyzer);
  if (!found) throw refuse(state, where, "the map {} cannot be inverted: {}", text(map), found.reason);
  std::unordered_map<const VarNode*, PrimExpr> known;
  for (auto& [var, value] : arith::inverse_affine_iter_map(found, outputs, analyzer))
    known[var.get()] = value;
  std::vector<PrimExpr> result;
  for (const auto& [var, range] : space.padded) {
    auto value = known.find(var.get());
    result.push_back(value == known.end() ? range->min : value->second);
  }
  return result;
}

}  // namespace tilewright::schedule
