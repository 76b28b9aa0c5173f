// Index maps over a space of indices: whether they tell its points apart, what space they lead to, and back.
#pragma once
#include "tilewright/arith/iter_map.h"
#include "tilewright/schedule/core/state.h"

namespace tilewright::schedule {

/// The annotation of a block that storage_align leaves: a list of (written buffer, axis, factor, offset).
inline constexpr std::string_view kStorageAlign = "buffer_dim_align";
/// Raises UserError if `block`, which writes `buffer`, says how its dimensions are aligned: they would be
/// others.
void require_unaligned(const State& state, NodeId block, const Buffer& buffer);

/// The result of an index map on the indices [0, extents).
struct MappedSpace {
  std::vector<PrimExpr> shape;  // one more than the largest value of each new index
  arith::IterRanges padded;     // the space, enlarged so that the map cuts it into equal parts
};

/// The map for indices of these extents: where one is of int64 the variable is, too.  Functions of Python
/// count in int32, operators of graphs in int64.
IndexMap fit_map(const IndexMap& map, const std::vector<PrimExpr>& extents);

/// Raises UserError, pointing at `where`, unless the map takes as many indices as there are extents, keeps
/// two points of `what` apart (not asked if `is_trusted`) and gives indices from 0 on.
MappedSpace require_one_to_one(const State& state, NodeId where, const IndexMap& map,
                               const std::vector<PrimExpr>& extents, const std::string& what,
                               bool is_trusted = false);

/// The map at `indices`, simplified.
std::vector<PrimExpr> apply_map(const IndexMap& map, const std::vector<PrimExpr>& indices,
                                arith::Analyzer& analyzer);
/// For each old index its value at the point `outputs` of the new space.  Raises UserError unless the
/// enlarged space and the new one correspond point by point.
std::vector<PrimExpr> inverse_of(const State& state, NodeId where, const IndexMap& map,
                                 const MappedSpace& space, const std::vector<PrimExpr>& outputs);

}  // namespace tilewright::schedule
