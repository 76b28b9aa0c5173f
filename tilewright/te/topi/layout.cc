#include "tilewright/te/topi/layout.h"

#include "tilewright/arith/int_set.h"
#include "tilewright/ir/rewrite.h"
#include "tilewright/support/count_text.h"
#include "tilewright/tir/text.h"

namespace tilewright::topi {
using namespace tir;
namespace {

// An index of a map, whose variables and literals are int32, in terms of the int64 `variables` of extents.
PrimExpr as_int64(const PrimExpr& index, const Substitution& variables) {
  if (is<IntImmNode>(index)) return tir::cast(kInt64, index);
  if (auto found = variables.find(index.get()); found != variables.end())
    return ref_as<PrimExprNode>(found->second);
  if (BinaryOpNode::classof(*index)) {
    const auto* op = static_cast<const BinaryOpNode*>(static_cast<const Object*>(index.get()));
    return binary(index->kind, as_int64(op->a, variables), as_int64(op->b, variables));
  }
  return tir::cast(kInt64, substitute(index, variables));
}

// "3", where expr_text gives T.int64(3).
std::string number_text(const PrimExpr& number) {
  int64_t value = 0;
  return as_const_int(number, &value) ? fmt::format("{}", value) : expr_text(number);
}

std::vector<PrimExpr> old_indices(const MappedLayout& layout, const std::vector<PrimExpr>& indices,
                                  arith::Analyzer& analyzer) {
  const auto values = arith::inverse_affine_iter_map(layout.map, indices, analyzer);
  std::vector<PrimExpr> result;
  for (const auto& [var, range] : layout.ranges) {
    PrimExpr value = range->min;  // of a variable that no index uses
    for (const auto& [known, found] : values) {
      if (known == var) value = found;
    }
    result.push_back(value);
  }
  return result;
}

}  // namespace

MappedLayout map_layout(const IndexMap& map, const Shape& extents) {
  MappedLayout layout;
  if (map->initial_indices.size() != extents.size()) {
    const size_t count = map->initial_indices.size();
    layout.problem = fmt::format("it takes {} {}, but x has {}", count, count == 1 ? "index" : "indices",
                                 count_text(extents.size(), "dimension"));
    return layout;
  }
  arith::Analyzer analyzer, larger;
  arith::IterRanges ranges;
  Substitution variables;
  for (size_t n = 0; n < extents.size(); ++n) {
    const Var var = make_var(map->initial_indices[n]->name_hint, kInt64);
    ranges.emplace_back(var, make_range(imm(0, kInt64), extents[n]));
    analyzer.bind(var, ranges.back().second);
    variables[map->initial_indices[n].get()] = var;
  }
  std::vector<PrimExpr> indices;
  const arith::Domains domains = arith::domains_of(ranges);
  for (const PrimExpr& index : map->final_indices) {
    indices.push_back(as_int64(index, variables));
    const arith::Interval values = arith::eval_interval(indices.back(), domains, analyzer);
    if (!values.is_bounded() || !analyzer.can_prove(values.min >= imm(0, kInt64))) {
      layout.problem = fmt::format("index {} may be negative", expr_text(index));
      return layout;
    }
    layout.shape.push_back(analyzer.simplify(values.max + 1));
  }
  layout.ranges = arith::padded_ranges(ranges, indices);
  for (const auto& [var, range] : layout.ranges) larger.bind(var, range);
  layout.map =
      arith::detect_iter_map(indices, layout.ranges, bool_imm(true), arith::IterMapLevel::kBijective, larger);
  if (!layout.map) {
    layout.problem = "it cannot be inverted: " + layout.map.reason;
    return layout;
  }
  // A bijective index takes base, base + 1, ...: for values below base the inverse would read before x.
  for (size_t n = 0; n < indices.size(); ++n) {
    const PrimExpr base = larger.simplify(layout.map.indices[n].base);
    if (is_zero(base)) continue;
    layout.problem =
        fmt::format("index {} begins at {}, expected 0", expr_text(map->final_indices[n]), number_text(base));
    return layout;
  }
  return layout;
}

Tensor layout_transform(const Tensor& x, const MappedLayout& layout, const PrimExpr& pad) {
  arith::Analyzer analyzer;
  for (const auto& [var, range] : layout.ranges) analyzer.bind(var, range);
  return te::compute(layout.shape,
                     [&](const std::vector<Var>& i) {
                       for (size_t n = 0; n < i.size(); ++n)
                         analyzer.bind(i[n], make_range(imm(0, kInt64), layout.shape[n]));
                       const std::vector<PrimExpr> at = old_indices(layout, {i.begin(), i.end()}, analyzer);
                       PrimExpr exists;
                       for (size_t n = 0; n < at.size(); ++n) {
                         const PrimExpr inside = analyzer.simplify(at[n] < x.shape()[n]);
                         if (is_one(inside)) continue;
                         exists = exists ? tir::logical_and(exists, inside) : inside;
                       }
                       const PrimExpr value = x.at(at);
                       return exists ? call(value->dtype, "if_then_else",
                                            {exists, value, tir::cast(value->dtype, pad)})
                                     : value;
                     },
                     {.name = "T_layout_transform"});
}

}  // namespace tilewright::topi
