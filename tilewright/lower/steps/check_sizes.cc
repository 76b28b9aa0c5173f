// for i in range(8): B[i] = A[i]  with A of [n]  ->  if 8 > n: error; the loop
// Accesses that leave their buffer for some sizes of a call are refused at the start of the function, with
// the text that fixed sizes give at compile time.  The conditions are found in the program as it was written,
// before schedules split its loops.  Not checked: accesses under conditions or depending on memory, and
// indices whose extremes cannot be expressed.  Divisions in indices and extents are checked as well; those
// that only run under a condition are checked where they are (check_bounds.cc).
#include "tilewright/lower/steps/check_sizes.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <unordered_set>

#include "tilewright/analysis/extremes.h"
#include "tilewright/analysis/sure_accesses.h"
#include "tilewright/analysis/trip_count.h"
#include "tilewright/arith/analyzer.h"
#include "tilewright/arith/expr_util.h"
#include "tilewright/ir/services.h"
#include "tilewright/ir/walk.h"
#include "tilewright/lower/annotations.h"
#include "tilewright/lower/common/bounds_error.h"
#include "tilewright/lower/step.h"
#include "tilewright/lower/steps/check_bounds.h"
#include "tilewright/tir/builder.h"
#include "tilewright/tir/uses.h"

namespace tilewright::lower {
namespace {
using analysis::Extreme;
using analysis::RangedVar;

constexpr std::string_view kSizeChecks = "size_checks";

class Finder {
 public:
  Finder(const std::string& name, const PrimFunc& func) : name_(name) {
    for (const Var& param : func->params) {
      if (is_number(param->dtype)) known_.insert(param.get());
    }
    for (const Buffer& buffer : func->buffers) {
      if (!buffer) continue;
      for (const PrimExpr& extent : buffer->shape) {
        if (const auto* var = extent.as<VarNode>()) known_.insert(var);
        if (!is<IntImmNode>(extent)) analyzer_.require(extent >= 0);
      }
    }
  }

  Stmt checks(const PrimFunc& func) {
    if (known_.empty()) return nullptr;
    for (const Buffer& buffer : func->buffers) {
      if (buffer) look_at_memory(buffer);
    }
    const bool asks_for_views = !func->attrs.get_bool(analysis::kViewsAreInside, false);
    analysis::each_sure_access(
        func->body, {.access = [&](const analysis::SureAccess& access) { look_at(access); },
                     .region =
                         [&](const analysis::SureRegion& region) {
                           if (asks_for_views) look_at(region);
                         },
                     .division = [&](const analysis::SureDivision& division) { look_at(division); }});
    return checks_.empty() ? Stmt() : seq(std::move(checks_));
  }

 private:
  static bool is_number(DataType dtype) {
    return (dtype.is_integral() || dtype.is_bool()) && dtype.is_scalar();
  }

  // True if the entry of the function can compute `expr`.  Divisions by 0 in it have been refused before.
  bool is_of_sizes(const PrimExpr& expr) const {
    return is_number(expr->dtype) && arith::is_arithmetic(expr) &&
           !arith::any_node(expr, [&](const Object* node) {
             return VarNode::classof(*node) && !known_.contains(static_cast<const VarNode*>(node));
           });
  }

  bool are_known(const analysis::Surroundings& around) const {
    return !around.assumption &&
           std::all_of(around.loops.begin(), around.loops.end(), [&](const RangedVar& loop) {
             return is_of_sizes(loop.second->min) && is_of_sizes(loop.second->extent);
           });
  }

  void look_at(const analysis::SureAccess& access) {
    if (!are_known(access) || !is_of_sizes(access.extent) || !access.index->dtype.is_integral()) return;
    const PrimExpr index =
        arith::is_index(access.index->dtype) ? access.index : tir::cast(kInt64, access.index);
    if (is_proved(access, index, index, access.extent)) return;
    const auto found = extremes(access.index, access.loops);
    if (!found) return;
    const auto elements = access.element ? extremes(access.element, access.loops) : found;
    if (!elements || elements->valid != found->valid) return;
    for (const Extreme* extreme : {&found->last, &found->first}) {
      PrimExpr is_outside = extreme == &found->last ? extreme->value >= access.extent : extreme->value < 0;
      if (access.element)
        is_outside =
            logical_and(is_outside, extreme == &found->last ? elements->last.value >= access.num_elements
                                                            : elements->first.value < 0);
      refuse_if(access, *found, is_outside, [&] {
        std::vector<std::pair<Var, PrimExpr>> at;
        for (const auto& [var, range] : access.loops) {
          const auto place = extreme->at.find(var.get());
          if (place != extreme->at.end())
            at.emplace_back(var, shown(ir::ref_as<PrimExprNode>(place->second)));
        }
        return raise_outside_at(
            name_, access.place(),
            {access.buffer, access.dim, access.written, shown(extreme->value), access.extent, std::move(at)});
      });
    }
  }

  // Checks the region, which has `size` elements wherever it begins.
  void look_at(const analysis::SureRegion& region) {
    if (!are_known(region) || !is_of_sizes(region.extent) || !is_of_sizes(region.size)) return;
    const PrimExpr end = region.min + region.size;
    if (is_proved(region, region.min, end, region.extent + 1)) return;
    const auto found = extremes(region.min, region.loops);
    if (!found) return;
    for (const Extreme* extreme : {&found->last, &found->first}) {
      const PrimExpr far = extreme->value + region.size;
      refuse_if(region, *found, extreme == &found->last ? far > region.extent : extreme->value < 0, [&] {
        return raise_region(name_, region.where, region.region, region.dim,
                            {shown(extreme->value), shown(far), region.extent});
      });
    }
  }

  void look_at(const analysis::SureDivision& sure) {
    const BinaryOpNode* division = sure.division;
    if (!are_known(sure) || !is_of_sizes(division->b)) return;
    const analysis::Extremes always{};
    refuse_if(sure, always, equal(division->b, make_const_int(division->b->dtype, 0)),
              [&] { return raise_division_by_zero(name_, sure.where, division); });
    if (!division->dtype.is_int()) return;
    const auto found = extremes(division->a, sure.loops);
    if (!found) return;
    const PrimExpr least = imm(ir::ref_as<IntImmNode>(min_value(division->dtype))->value, kInt64);
    refuse_if(sure, *found,
              logical_and(equal(division->b, make_const_int(division->b->dtype, -1)),
                          tir::cast(kInt64, found->first.value) <= least),
              [&] { return raise_division_overflow(name_, sure.where, division); });
  }

  void look_at_memory(const Buffer& buffer) {
    const std::vector<RangedVar> no_loops;
    const PrimExpr no_assumption;
    std::vector<PrimExpr> parts = buffer->shape;
    parts.insert(parts.end(), buffer->strides.begin(), buffer->strides.end());
    for (const PrimExpr& part : parts) {
      for (const BinaryOpNode* division : arith::sure_divisions(part))
        look_at(analysis::SureDivision{{no_loops, no_assumption}, division, division->span});
    }
  }

  // The extremes of `value` in terms of sizes only.
  std::optional<analysis::Extremes> extremes(const PrimExpr& value, const std::vector<RangedVar>& loops) {
    auto found = analysis::extremes(analyzer_.simplify(value), loops);
    if (found && (!is_of_sizes(found->first.value) || !is_of_sizes(found->last.value))) found.reset();
    return found;
  }

  bool is_proved(const analysis::Surroundings& around, const PrimExpr& low, const PrimExpr& value,
                 const PrimExpr& end) {
    const auto scope = analyzer_.enter();
    for (const auto& [var, range] : around.loops) {
      if (arith::is_index(var->dtype)) analyzer_.bind(var, range);
      analysis::require_an_iteration(&analyzer_, range->extent);
    }
    for (const PrimExpr& part : {low, value, end}) {
      for (const BinaryOpNode* division : arith::sure_divisions(part)) require_divisor(division->b);
    }
    return analyzer_.can_prove(low >= 0) && analyzer_.can_prove(value < end);
  }

  // Requires that `divisor` is nonzero.
  void require_divisor(const PrimExpr& divisor) {
    if (!arith::is_index(divisor->dtype)) return;
    analyzer_.require(analyzer_.can_prove(divisor >= 0)
                          ? divisor >= 1
                          : not_equal(divisor, make_const_int(divisor->dtype, 0)));
  }

  // Raises the error that `report` makes if the loops around run, `found` is valid and `is_wrong` holds.
  void refuse_if(const analysis::Surroundings& around, const analysis::Extremes& found,
                 const PrimExpr& is_wrong, const std::function<Stmt()>& report) {
    const auto scope = analyzer_.enter();
    PrimExpr wrong;
    for (const auto& [var, range] : around.loops) {
      const PrimExpr runs = analyzer_.simplify(range->extent >= 1);
      if (is_zero(runs)) return;
      if (!is_one(runs)) wrong = wrong ? logical_and(wrong, runs) : runs;
      analyzer_.require(runs);
      analysis::require_an_iteration(&analyzer_, range->extent);
    }
    for (const PrimExpr& condition : {found.valid, is_wrong}) {
      if (!condition) continue;
      const PrimExpr simple = analyzer_.simplify(condition);
      if (is_zero(simple)) return;
      if (is_one(simple) && condition != is_wrong) continue;
      analyzer_.require(simple);
      wrong = wrong ? logical_and(wrong, simple) : simple;
    }
    if (!is_of_sizes(wrong)) return;
    wrong = arith::in_int64(wrong);
    for (const PrimExpr& other : conditions_) {
      if (ir::structural_equal(other, wrong)) return;
    }
    conditions_.push_back(wrong);
    checks_.push_back(IfThenElseNode::make(wrong, report()));
  }

  PrimExpr shown(const PrimExpr& value) { return arith::in_int64(analyzer_.simplify(value)); }

  std::string name_;
  arith::Analyzer analyzer_;
  std::unordered_set<const VarNode*> known_;  // sizes and scalar parameters
  std::vector<PrimExpr> conditions_;
  std::vector<Stmt> checks_;
};

PrimFunc check_sizes(const PrimFunc& func) {
  const ObjectRef checks = func->attrs.get(kSizeChecks);
  if (!checks) return func;
  return with(func, [&](PrimFuncNode& changed) {
    changed.body = seq({ir::ref_as<StmtNode>(checks), func->body});
    changed.attrs.erase(std::string(kSizeChecks));
  });
}

}  // namespace

PrimFunc with_size_checks(const std::string& name, const PrimFunc& func) {
  Stmt checks = Finder(name, func).checks(func);
  PrimFunc result = func;
  if (checks)
    result = with(func, [&](PrimFuncNode& asking) { asking.attrs.set(std::string(kSizeChecks), checks); });
  if (!may_divide_by_zero(name, check_sizes(result))) return result;
  return with(result, [&](PrimFuncNode& asking) {
    asking.attrs.set(std::string(kCheckDivisions), string_imm(name));
  });
}

extern constinit const StepInfo check_sizes_info = {
    .name = "check_sizes",
    .doc = "what indices need of the sizes of a call stands at the start as checks",
    .run = without_options<check_sizes>,
};

}  // namespace tilewright::lower
