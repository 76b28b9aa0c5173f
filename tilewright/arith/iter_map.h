// Quasi-affine iterator maps: block axes as functions of loops, through fusing and splitting.  Each index is
// brought to the normal form  sum of ((mark // lower_factor) % extent) * scale,  plus a base, where a mark is
// a loop variable or itself a fused sum.  Bijectivity, inverses and the division into tiles follow from it.
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

/// An iterator over 0, 1, ..., extent - 1: a loop variable minus its start, or a fused sum of digits.
struct IterMark {
  Var var;        // null for a fused mark
  PrimExpr min;   // first value of var
  IterSum fused;  // if var is null: scales are in mixed radix, outermost first, base 0
  PrimExpr extent;
};

enum class IterMapLevel {
  kBijective,   // every point of the index space is visited exactly once
  kSurjective,  // every point is visited; loops (of extent > 1) may be unused
  kInjective,   // no point is visited twice; points may be left out
};

/// Loop variables and their ranges, outermost first.
using IterRanges = std::vector<std::pair<Var, Range>>;

/// The normal form of some indices, or the reason why it does not exist.
struct IterMap {
  std::deque<IterMark> marks;    // owns the marks that splits point to
  std::vector<IterSum> indices;  // one for each binding
  std::string reason;            // why detection failed: "index 1, i // 3, ..." ; empty on success
  explicit operator bool() const { return reason.empty(); }
};

/// The normal form of `bindings` over the loops `ranges`, where `predicate` (null: true) holds.
/// The predicate may bound fused iterators (i * 5 + j < 127), single loops, or digits.
IterMap detect_iter_map(const std::vector<PrimExpr>& bindings, const IterRanges& ranges,
                        const PrimExpr& predicate, IterMapLevel level, Analyzer& analyzer);

/// The bindings in the simplest form that the normal form gives; a binding without one is only simplified.
std::vector<PrimExpr> normalize(const std::vector<PrimExpr>& bindings, const IterRanges& ranges,
                                const PrimExpr& predicate, Analyzer& analyzer);

/// The ranges, enlarged so that `indices` split them into equal parts: i in [0, 10) of i // 3 and i % 3
/// becomes [0, 12).  A map that is injective on the larger space is also injective on the original one.
IterRanges padded_ranges(const IterRanges& ranges, const std::vector<PrimExpr>& indices);

PrimExpr to_expr(const IterSum& sum);
PrimExpr to_expr(const IterSplit& split);

/// The value of each loop variable of a bijective map in terms of `outputs`, one expression per index.
/// Variables that no index uses (loops of extent 1) are left out.
std::vector<std::pair<Var, PrimExpr>> inverse_affine_iter_map(const IterMap& map,
                                                              const std::vector<PrimExpr>& outputs,
                                                              Analyzer& analyzer);

/// binding = outer * inner_extent + inner, where inner uses only the inner loops and takes the values 0 ..
/// inner_extent - 1, and outer uses only the outer loops and takes outer_min .. outer_min + outer_extent - 1.
struct DividedBinding {
  PrimExpr outer, outer_min, outer_extent;
  PrimExpr inner, inner_extent;
};

struct SubspaceDivision {
  std::vector<DividedBinding> bindings;
  PrimExpr outer_predicate, inner_predicate;  // predicate == outer_predicate and inner_predicate
  std::string reason;                         // why the division failed; empty on success
  explicit operator bool() const { return reason.empty(); }
};

/// Splits bindings over the loops `iters` into a part over the loops `sub_iters` (a subset of `iters`: the
/// loops of one tile) and a part over the others (which tile).  Fails, with a reason, if a binding or the
/// predicate mixes the two.
SubspaceDivision subspace_divide(const std::vector<PrimExpr>& bindings, const IterRanges& iters,
                                 const std::vector<Var>& sub_iters, const PrimExpr& predicate,
                                 Analyzer& analyzer);

}  // namespace tilewright::arith
