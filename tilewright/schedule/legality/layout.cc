#include "tilewright/schedule/legality/layout.h"

#include "tilewright/arith/int_set.h"
#include "tilewright/ir/rewrite.h"
#include "tilewright/ir/walk.h"
#include "tilewright/schedule/core/report.h"
#include "tilewright/schedule/legality/witness.h"
#include "tilewright/tir/builder.h"

namespace tilewright::schedule {
namespace {

arith::IterMap detect_injective(const IndexMap& map, const arith::IterRanges& ranges,
                                arith::Analyzer& analyzer) {
  arith::IterMap found = arith::detect_iter_map(map->final_indices, ranges, bool_imm(true),
                                                arith::IterMapLevel::kInjective, analyzer);
  if (found) return found;
  arith::Analyzer larger;
  const arith::IterRanges space = arith::padded_ranges(ranges, map->final_indices);
  for (const auto& [var, range] : space) larger.bind(var, range);
  arith::IterMap in_space = arith::detect_iter_map(map->final_indices, space, bool_imm(true),
                                                   arith::IterMapLevel::kInjective, larger);
  return in_space ? std::move(in_space) : std::move(found);
}

}  // namespace

void require_unaligned(const State& state, NodeId block, const Buffer& buffer) {
  const BlockNode* node = state.node(block).block();
  const ObjectRef entries = node->annotations.get(kStorageAlign);
  const auto* list = entries ? entries.as<ir::ArrayNode>() : nullptr;
  if (!list) return;
  for (const ObjectRef& entry : list->items) {
    const auto* parts = entry.as<ir::ArrayNode>();
    const auto* index = parts && !parts->items.empty() ? parts->items[0].as<IntImmNode>() : nullptr;
    for (size_t n = 0; index && n < node->writes.size(); ++n) {
      if (node->writes[n]->buffer == buffer && index->value == static_cast<int64_t>(n))
        throw refuse(state, block,
                     "block {} says how the dimensions of {} are aligned, which would be others",
                     node->name_hint, buffer->name)
            .help("call storage_align after this step");
    }
  }
}

IndexMap fit_map(const IndexMap& map, const std::vector<PrimExpr>& extents) {
  std::vector<Var> vars = map->initial_indices;
  Substitution narrow;
  std::unordered_map<const Object*, Var> wide;
  for (size_t n = 0; n < std::min(vars.size(), extents.size()); ++n) {
    if (vars[n]->dtype != kInt32 || extents[n]->dtype != kInt64) continue;
    const Object* from = vars[n].get();
    vars[n] = with(vars[n], [](VarNode& var) { var.dtype = kInt64; });
    wide[from] = vars[n];
    narrow[from] = cast(kInt32, vars[n]);
  }
  if (wide.empty()) return map;
  std::vector<PrimExpr> indices;
  for (const PrimExpr& index : map->final_indices) {
    const PrimExpr fitted = rewrite(
        index,
        [](auto& self, const BinaryOpNode* node) -> PrimExpr {
          return binary(node->kind, self(node->a), self(node->b), node->span);
        },
        [&](auto&, const PrimExprNode* expr) -> PrimExpr {
          const auto var = wide.find(expr);
          return var == wide.end() ? substitute(PrimExpr(expr), narrow) : PrimExpr(var->second);
        });
    indices.push_back(cast(kInt64, fitted));
  }
  return IndexMapNode::make(vars, indices);
}

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
  space.padded = arith::padded_ranges(ranges, map->final_indices);
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
