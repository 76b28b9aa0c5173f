// Finds accesses that certainly leave their buffer: shows an index that the program reaches and that is
// outside of the buffer, for every size if extents are symbolic.  Accesses under a condition, in a branch or
// after an assert are trusted, and so are indices that cannot be evaluated.
#include <algorithm>

#include "tilewright/analysis/extremes.h"
#include "tilewright/analysis/open_corner.h"
#include "tilewright/analysis/sure_accesses.h"
#include "tilewright/analysis/trip_count.h"
#include "tilewright/analysis/verify.h"
#include "tilewright/arith/analyzer.h"
#include "tilewright/support/error.h"
#include "tilewright/tir/builder.h"
#include "tilewright/tir/text.h"
#include "tilewright/tir/uses.h"

namespace tilewright::analysis {
namespace {

// The loops that the access or condition uses; of the others only matters that they run at least once.
std::vector<RangedVar> loops_that_matter(const SureAccess& access, const PrimExpr& condition) {
  const std::vector<RangedVar>& loops = access.loops;
  std::vector<RangedVar> result;
  for (size_t n = 0; n < loops.size(); ++n) {
    const auto& [var, range] = loops[n];
    bool matters =
        !surely_runs(range->extent) || uses(condition, var.get()) || uses(access.assumption, var.get());
    for (size_t inner = n + 1; inner < loops.size() && !matters; ++inner)
      matters = uses(loops[inner].second->min, var.get()) || uses(loops[inner].second->extent, var.get());
    if (matters) result.push_back(loops[n]);
  }
  return result;
}

std::string value_at(const std::string& value, const std::string& where) {
  return where.empty() ? value : value + " at " + where;
}

// The same for long loops: computes the smallest and the largest index instead of searching.
std::optional<std::string> extreme_outside(const SureAccess& access, int64_t count) {
  const bool are_known = std::all_of(access.loops.begin(), access.loops.end(), [](const RangedVar& loop) {
    const auto* extent = loop.second->extent.as<IntImmNode>();
    return extent && extent->value > 0 && is<IntImmNode>(loop.second->min);
  });
  const auto found =
      are_known && !access.assumption ? extremes(access.index, access.loops) : std::optional<Extremes>();
  if (!found || (found->valid && !is_one(arith::simplify(found->valid)))) return std::nullopt;
  for (const Extreme* extreme : {&found->last, &found->first}) {
    int64_t value, at;
    if (!as_const_int(arith::simplify(extreme->value), &value) || (value >= 0 && value < count)) continue;
    std::vector<std::pair<const VarNode*, int64_t>> values;
    for (const auto& [var, range] : access.loops) {
      const auto place = extreme->at.find(var.get());
      if (place != extreme->at.end() &&
          as_const_int(arith::simplify(ir::ref_as<PrimExprNode>(place->second)), &at))
        values.emplace_back(var.get(), at);
    }
    return value_at(std::to_string(value), values_text(values));
  }
  return std::nullopt;
}

// "15 at i = 15": an index outside of its extent; nullopt if none is found.
std::optional<std::string> outside(const SureAccess& access) {
  const PrimExpr &index = access.index, &extent = access.extent;
  const bool is_open =
      !is<IntImmNode>(extent) || std::any_of(access.loops.begin(), access.loops.end(), [](const auto& loop) {
        return !is<IntImmNode>(loop.second->extent) || !is<IntImmNode>(loop.second->min);
      });
  if (const auto* count = extent.as<IntImmNode>()) {
    const PrimExpr end = make_const_int(index->dtype, count->value);
    PrimExpr inside = logical_and(index >= make_const_int(index->dtype, 0), index < end);
    if (access.element)
      inside = logical_or(inside, logical_and(access.element >= 0, access.element < access.num_elements));
    if (is_one(inside)) return std::nullopt;
    if (const auto corner = corner_against(inside, access.assumption, loops_that_matter(access, inside)))
      return value_at(std::to_string(*evaluate_at(index, *corner)), values_text(*corner));
    if (access.element) return std::nullopt;
    if (auto found = extreme_outside(access, count->value)) return found;
  }
  const auto corner = is_open && !access.element
                          ? open_corner_outside(index, extent, access.assumption, access.loops)
                          : std::optional<OpenCorner>();
  if (!corner) return std::nullopt;
  return value_at(expr_text(corner->index), corner->values);
}

void check(const SureAccess& access) {
  const std::optional<std::string> value = outside(access);
  if (!value) return;
  const PrimExpr& extent = access.buffer->shape[access.dim];
  const std::string shown = expr_text(access.written);
  const bool is_constant = is<IntImmNode>(access.written);
  UserError error =
      is_constant
          ? UserError(access.place(), "dimension {} of buffer {} has extent {}, but its index is {}",
                      access.dim, access.buffer->name, expr_text(extent), shown)
          : UserError(access.place(), "dimension {} of buffer {} has extent {}, but its index {} is {}",
                      access.dim, access.buffer->name, expr_text(extent), shown, *value);
  const std::string last = expr_text(arith::simplify(extent - 1));
  if (!is_zero(extent))
    error.help("indices are 0 to {}; guard the access with a condition, or shorten the loop", last);
  throw error;
}

}  // namespace

void verify_bounds(const PrimFunc& func) { each_sure_access(func->body, {.access = check}); }

}  // namespace tilewright::analysis
