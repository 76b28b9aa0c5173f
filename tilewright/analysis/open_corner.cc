#include "tilewright/analysis/open_corner.h"

#include <algorithm>

#include <fmt/format.h>

#include "tilewright/arith/analyzer.h"
#include "tilewright/ir/rewrite.h"
#include "tilewright/tir/builder.h"
#include "tilewright/tir/text.h"
#include "tilewright/tir/uses.h"

namespace tilewright::analysis {
namespace {

// At most 2^kMaxVars corners are tried; further variables keep their first value.
constexpr size_t kMaxVars = 4;

/// Searches the corners of loops that run at least once.
class Search {
 public:
  Search(const std::vector<RangedVar>& loops, PrimExpr assumption, std::vector<PrimExpr> outside)
      : loops_(loops), assumption_(std::move(assumption)), outside_(std::move(outside)) {
    for (size_t n = 0; n < loops.size(); ++n) {
      const auto& [var, range] = loops[n];
      if (!uses_any(range->extent, loops_)) analyzer_.require(range->extent >= 1);
      bool matters = uses(assumption_, var.get());
      for (const PrimExpr& condition : outside_) matters = matters || uses(condition, var.get());
      for (size_t inner = n + 1; inner < loops.size() && !matters; ++inner)
        matters = uses(loops[inner].second->min, var.get()) || uses(loops[inner].second->extent, var.get());
      if (matters && num_varied_ < kMaxVars) {
        is_varied_.push_back(true);
        ++num_varied_;
      } else {
        is_varied_.push_back(false);
      }
    }
  }

  bool run(size_t next = 0) {
    if (next == loops_.size()) return is_outside();
    const auto& [var, range] = loops_[next];
    const PrimExpr min = here(range->min), extent = here(range->extent);
    if (uses_any(range->extent, loops_) && !analyzer_.can_prove(extent >= 1)) return false;
    std::vector<PrimExpr> ends{min};
    if (is_varied_[next] && !is_one(extent)) ends.push_back(min + extent - 1);
    for (const PrimExpr& end : ends) {
      values_[var.get()] = tir::cast(var->dtype, end);
      if (run(next + 1)) return true;
    }
    values_.erase(var.get());
    return false;
  }

  PrimExpr here(const PrimExpr& expr) { return analyzer_.simplify(substitute(expr, values_)); }

 private:
  bool is_outside() {
    if (assumption_ && !analyzer_.can_prove(substitute(assumption_, values_))) return false;
    return std::any_of(outside_.begin(), outside_.end(), [&](const PrimExpr& condition) {
      return analyzer_.can_prove(substitute(condition, values_));
    });
  }

  const std::vector<RangedVar>& loops_;
  PrimExpr assumption_;
  std::vector<PrimExpr> outside_;  // one of these conditions must hold
  std::vector<bool> is_varied_;
  size_t num_varied_ = 0;
  arith::Analyzer analyzer_;
  Substitution values_;
};

// True if bounds alone show that the index is in the extent for all sizes.
bool is_inside(const std::vector<PrimExpr>& outside, const PrimExpr& assumption,
               const std::vector<RangedVar>& loops) {
  arith::Analyzer analyzer;
  for (const auto& [var, range] : loops) analyzer.bind(var, range);
  if (assumption) analyzer.require(assumption);
  return std::all_of(outside.begin(), outside.end(),
                     [&](const PrimExpr& condition) { return analyzer.can_prove(logical_not(condition)); });
}

}  // namespace

std::optional<OpenCorner> open_corner_outside(const PrimExpr& index, const PrimExpr& extent,
                                              const PrimExpr& assumption,
                                              const std::vector<RangedVar>& loops) {
  if (!arith::is_index(index->dtype) || !arith::is_index(extent->dtype)) return std::nullopt;
  for (const auto& [var, range] : loops) {
    int64_t count;
    const bool is_known = arith::is_index(var->dtype) && arith::is_index(range->extent->dtype);
    if (!is_known || (as_const_int(range->extent, &count) && count <= 0)) return std::nullopt;
  }
  const std::vector<PrimExpr> outside{index >= extent, index < 0};
  if (is_inside(outside, assumption, loops)) return std::nullopt;
  Search search(loops, assumption, outside);
  if (!search.run()) return std::nullopt;
  std::string values;
  for (const auto& [var, range] : loops) {
    if (!uses(index, var.get())) continue;
    values +=
        fmt::format("{}{} = {}", values.empty() ? "" : ", ", var->name_hint, expr_text(search.here(var)));
  }
  return OpenCorner{search.here(index), std::move(values)};
}

}  // namespace tilewright::analysis
