// for i in range(8): B[i] = A[i]  with A of [n]  ->  if 8 > n: error; the loop
// Accesses that leave their buffer for some sizes of a call are refused at its start, with the text that
// fixed sizes get when the program is made.  What is asked is found in the program as it was written, before
// schedules cut its loops.  Trusted: what stands under conditions, what depends on memory, and indices whose
// extremes cannot be written down.
#include "tilewright/lower/passes/check_sizes.h"

#include <fmt/format.h>

#include <unordered_set>

#include "tilewright/analysis/extremes.h"
#include "tilewright/analysis/sure_accesses.h"
#include "tilewright/arith/analyzer.h"
#include "tilewright/arith/expr_util.h"
#include "tilewright/ir/services.h"
#include "tilewright/ir/walk.h"
#include "tilewright/lower/passes/bounds_error.h"
#include "tilewright/lower/passes/passes.h"
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
      if (param->dtype.is_int()) known_.insert(param.get());
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
    analysis::each_sure_access(func->body, [&](const analysis::SureAccess& access) { look_at(access); });
    return checks_.empty() ? Stmt() : seq(std::move(checks_));
  }

 private:
  // Whether the entry of the function can compute it.
  bool is_of_sizes(const PrimExpr& expr) const {
    return arith::is_index(expr->dtype) && arith::is_harmless(expr) &&
           !arith::any_node(expr, [&](const Object* node) {
             return VarNode::classof(*node) && !known_.contains(static_cast<const VarNode*>(node));
           });
  }

  void look_at(const analysis::SureAccess& access) {
    if (access.assumption || !is_of_sizes(access.extent) || !arith::is_index(access.index->dtype)) return;
    for (const auto& [var, range] : access.loops) {
      if (!is_of_sizes(range->min) || !is_of_sizes(range->extent)) return;
    }
    if (is_proved(access)) return;
    const auto found = analysis::extremes(analyzer_.simplify(access.index), access.loops);
    if (!found || !is_of_sizes(found->first.value) || !is_of_sizes(found->last.value)) return;
    refuse_if(found->last.value >= access.extent, found->last, access);
    refuse_if(found->first.value < 0, found->first, access);
  }

  bool is_proved(const analysis::SureAccess& access) {
    const auto scope = analyzer_.enter();
    for (const auto& [var, range] : access.loops) analyzer_.bind(var, range);
    return analyzer_.can_prove(access.index >= 0) && analyzer_.can_prove(access.index < access.extent);
  }

  void refuse_if(const PrimExpr& is_outside, const Extreme& extreme, const analysis::SureAccess& access) {
    const auto scope = analyzer_.enter();
    PrimExpr wrong;
    for (const auto& [var, range] : access.loops) {
      const PrimExpr runs = analyzer_.simplify(range->extent >= 1);
      if (is_zero(runs)) return;
      if (!is_one(runs)) wrong = wrong ? logical_and(wrong, runs) : runs;
      analyzer_.require(runs);
    }
    const PrimExpr outside = analyzer_.simplify(is_outside);
    if (is_zero(outside)) return;
    wrong = wrong ? logical_and(wrong, outside) : outside;
    for (const PrimExpr& other : conditions_) {
      if (ir::structural_equal(other, wrong)) return;
    }
    conditions_.push_back(wrong);
    std::vector<std::pair<Var, PrimExpr>> at;
    for (const auto& [var, range] : access.loops) {
      const auto found = extreme.at.find(var.get());
      if (found != extreme.at.end())
        at.emplace_back(var, analyzer_.simplify(ir::ref_as<PrimExprNode>(found->second)));
    }
    Stmt error = raise_outside_at(name_, access.place(),
                                  {access.buffer, access.dim, access.written,
                                   analyzer_.simplify(extreme.value), access.extent, std::move(at)});
    checks_.push_back(IfThenElseNode::make(wrong, std::move(error)));
  }

  std::string name_;
  arith::Analyzer analyzer_;
  std::unordered_set<const VarNode*> known_;  // sizes and scalar parameters
  std::vector<PrimExpr> conditions_;
  std::vector<Stmt> checks_;
};

}  // namespace

PrimFunc with_size_checks(const std::string& name, const PrimFunc& func) {
  Stmt checks = Finder(name, func).checks(func);
  if (!checks) return func;
  return with(func, [&](PrimFuncNode& changed) { changed.attrs.set(std::string(kSizeChecks), checks); });
}

PrimFunc check_sizes(const PrimFunc& func) {
  const ObjectRef checks = func->attrs.get(kSizeChecks);
  if (!checks) return func;
  return with(func, [&](PrimFuncNode& changed) {
    changed.body = seq({ir::ref_as<StmtNode>(checks), func->body});
    changed.attrs.erase(std::string(kSizeChecks));
  });
}

}  // namespace tilewright::lower
