// Quasi-affine iterator maps: how block axes are made of loops by fusing and splitting.
// Each index is brought to the normal form  sum of ((mark // lower_factor) % extent) * scale,  plus a base,
// where a mark is a loop variable or itself a fused sum.  From it come bijectivity, inverses and the division
// into tiles.
#pragma once
#include <deque>
#include <string>

#include "tilewright/arith/analyzer.h"

namespace tilewright::arith {

struct IterMark;

/// ((source // lower_factor) % extent) * scale: a digit of a mark.
struct IterSplit {
  const IterMark* source = nullptr;
  PrimExpr lower_factor, extent, scale;
};

/// args[0] + args[1] + ... + base
struct IterSum {
  std::vector<IterSplit> args;
  PrimExpr base;
};

/// An iterator that takes each of 0, 1, ..., extent - 1: a loop variable minus its start, or a fused sum of
/// digits.
struct IterMark {
  Var var;        // null for a fused mark
  PrimExpr min;   // first value of var
  IterSum fused;  // when var is null: scales are in mixed radix, outermost first, base 0
  PrimExpr extent;
};

enum class IterMapLevel {
  kBijective,   // every point of the index space is met exactly once
  kSurjective,  // every point is met; loops (of extent > 1) may be unused
  kInjective,   // no two iterations meet in one point; points may be left out
};

/// Loop variables and their ranges, outermost first.
using IterRanges = std::vector<std::pair<Var, Range>>;

/// The normal form of some indices, or the reason why there is none.
struct IterMap {
  std::deque<IterMark> marks;    // owns what the splits point to
  std::vector<IterSum> indices;  // one for each binding
  std::string reason;            // why it failed: "index 1, i // 3, ..." ; empty on success
  explicit operator bool() const { return reason.empty(); }
};

/// The normal form of `bindings` over the loops `ranges`, where `predicate` (null: true) holds.
/// The predicate may bound fused iterators (i * 5 + j < 127), single loops, or digits.
IterMap detect_iter_map(const std::vector<PrimExpr>& bindings, const IterRanges& ranges,
                        const PrimExpr& predicate, IterMapLevel level, Analyzer& analyzer);

/// The bindings in the simplest form that the normal form gives; a binding that has none is simplified as it
/// is.
std::vector<PrimExpr> normalize(const std::vector<PrimExpr>& bindings, const IterRanges& ranges,
                                const PrimExpr& predicate, Analyzer& analyzer);

/// The ranges, enlarged so that `indices` cut them into equal parts: i in [0, 10) of i // 3 and i % 3 becomes
/// [0, 12).  A map that tells the points of the larger space apart also does so for those that exist.
IterRanges padded_ranges(const IterRanges& ranges, const std::vector<PrimExpr>& indices);

PrimExpr to_expr(const IterSum& sum);
PrimExpr to_expr(const IterSplit& split);

/// For each loop variable of a bijective map its value in terms of `outputs`, one expression per index.
/// Nothing for variables that no index uses (loops of extent 1).
std::vector<std::pair<Var, PrimExpr>> inverse_affine_iter_map(const IterMap& map,
                                                              const std::vector<PrimExpr>& outputs,
                                                              Analyzer& analyzer);

/// binding = outer * inner_extent + inner, where inner uses only the inner loops and takes 0 .. inner_extent
/// - 1, and outer uses only the outer loops and takes outer_min .. outer_min + outer_extent - 1.
struct DividedBinding {
  PrimExpr outer, outer_min, outer_extent;
  PrimExpr inner, inner_extent;
};

struct SubspaceDivision {
  std::vector<DividedBinding> bindings;
  PrimExpr outer_predicate, inner_predicate;  // predicate == outer_predicate and inner_predicate
  std::string reason;                         // why it failed; empty on success
  explicit operator bool() const { return reason.empty(); }
};

/// Divides bindings over the loops `iters` into a part over the loops `sub_iters` (some of `iters`: one tile)
/// and a part over the others (which tile).  Fails, with a reason, when a binding or the predicate mixes the
/// two.
SubspaceDivision subspace_divide(const std::vector<PrimExpr>& bindings, const IterRanges& iters,
                                 const std::vector<Var>& sub_iters, const PrimExpr& predicate,
                                 Analyzer& analyzer);

}  // namespace tilewright::arith
