// Splits an iteration space into tiles: binding = outer * extent of the tile + inner.
#include <algorithm>

#include "tilewright/arith/expr_util.h"
#include "tilewright/arith/iter_map.h"
#include "tilewright/arith/iter_parse.h"
#include "tilewright/tir/builder.h"
#include "tilewright/tir/text.h"

namespace tilewright::arith {
namespace {

enum class Side { kNone, kInner, kOuter, kBoth };

Side join(Side a, Side b) {
  if (a == Side::kNone || a == b) return b;
  return b == Side::kNone ? a : Side::kBoth;
}

class Divider {
 public:
  Divider(const IterRanges& iters, const std::vector<Var>& sub_iters, Analyzer& analyzer)
      : sub_iters_(sub_iters), analyzer_(analyzer), parser_(iters, &map_, analyzer) {}

  void constrain(const PrimExpr& predicate, SubspaceDivision* result) {
    for (const PrimExpr& part : conjuncts(predicate)) {
      switch (side_of(part)) {
        case Side::kNone:
        case Side::kOuter: result->outer_predicate = logical_and(result->outer_predicate, part); break;
        case Side::kInner: result->inner_predicate = logical_and(result->inner_predicate, part); break;
        case Side::kBoth: throw NotAffine{"the predicate mixes loops of the tile with others"};
      }
      try {
        parser_.constrain(part);
      } catch (const NotAffine&) {  // it stays in the predicate; the extents ignore it
      }
    }
  }

  DividedBinding divide(const PrimExpr& binding) {
    const IterSum sum = parser_.parse(analyzer_.simplify(binding));
    std::vector<IterSplit> inner_digits, outer_digits;
    for (const IterSplit& digit : sum.args) {
      if (is_one(digit.extent)) continue;
      switch (side_of(*digit.source)) {
        case Side::kInner: inner_digits.push_back(digit); break;
        case Side::kBoth: throw NotAffine{"it divides a sum of loops of the tile and others"};
        default: outer_digits.push_back(digit);
      }
    }
    const PrimExpr zero = make_const_int(binding->dtype, 0), one = make_const_int(binding->dtype, 1);
    DividedBinding result{zero, zero, one, zero, one};
    if (const auto inner = parser_.fuse(std::move(inner_digits))) {
      if (!is_one(inner->scale)) throw NotAffine{"the loops of the tile are not its innermost part"};
      result.inner = analyzer_.simplify(to_expr(*inner));
      result.inner_extent = inner->extent;
    }
    if (!is_multiple(sum.base, result.inner_extent))
      throw NotAffine{"it does not start at a multiple of the tile's extent"};
    result.outer_min = result.outer = analyzer_.simplify(floordiv(sum.base, result.inner_extent));
    if (auto outer = parser_.fuse(std::move(outer_digits))) {
      if (!analyzer_.can_prove_equal(outer->scale, result.inner_extent))
        throw NotAffine{"the stride of the loops outside is not the tile's extent"};
      outer->scale = one;
      result.outer = analyzer_.simplify(to_expr(*outer) + result.outer_min);
      result.outer_extent = outer->extent;
    }
    return result;
  }

 private:
  bool is_multiple(const PrimExpr& value, const PrimExpr& of) {
    return analyzer_.can_prove(equal(floormod(value, of), make_const_int(value->dtype, 0)));
  }
  Side side_of(const VarNode* var) const {
    if (!parser_.mark_of(var)) return Side::kNone;
    const bool is_inner =
        std::any_of(sub_iters_.begin(), sub_iters_.end(), [&](const Var& sub) { return sub.get() == var; });
    return is_inner ? Side::kInner : Side::kOuter;
  }
  Side side_of(const PrimExpr& expr) const {
    Side side = Side::kNone;
    any_node(expr, [&](const Object* node) {
      if (node->kind == Kind::kVar) side = join(side, side_of(static_cast<const VarNode*>(node)));
      return false;
    });
    return side;
  }
  Side side_of(const IterMark& mark) const {
    if (mark.var) return side_of(mark.var.get());
    Side side = Side::kNone;
    for (const IterSplit& digit : mark.fused.args) side = join(side, side_of(*digit.source));
    return side;
  }

  const std::vector<Var>& sub_iters_;
  Analyzer& analyzer_;
  IterMap map_;
  IterParser parser_;
};

}  // namespace

SubspaceDivision subspace_divide(const std::vector<PrimExpr>& bindings, const IterRanges& iters,
                                 const std::vector<Var>& sub_iters, const PrimExpr& predicate,
                                 Analyzer& analyzer) {
  auto scope = analyzer.enter();
  for (const auto& [var, range] : iters) analyzer.bind(var, range);
  SubspaceDivision result;
  result.outer_predicate = result.inner_predicate = bool_imm(true);
  Divider divider(iters, sub_iters, analyzer);
  try {
    divider.constrain(predicate ? analyzer.simplify(predicate) : PrimExpr(), &result);
  } catch (const NotAffine& error) {
    result.reason = error.reason;
    return result;
  }
  for (size_t n = 0; n < bindings.size(); ++n) {
    try {
      result.bindings.push_back(divider.divide(bindings[n]));
    } catch (const NotAffine& error) {
      result.reason = fmt::format("{} (in {})", error.reason, expr_text(bindings[n]));
      return result;
    }
  }
  return result;
}

}  // namespace tilewright::arith
