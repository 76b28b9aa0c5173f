// How a reduction takes in a term, seen apart from where it is stored.
#pragma once
#include <optional>
#include <vector>

#include "tilewright/tir/tir.h"

namespace tilewright::analysis {
using namespace tir;

/// True if `kind` is one of + * min max and or, on numbers of `dtype`.
bool is_commutative(Kind kind, DataType dtype);

/// How the order of terms affects a result.
enum class TermOrder {
  kFree,  // nothing, but for the rounding of floats
  kKept,  // it decides among equal ones: terms may be put together in groups, but stay in order
};

/// Y[...] = op(Y[...], x), or of several buffers together, as for the place and the value of a maximum.  All
/// lists are as long as there are buffers.
struct Update {
  std::vector<Buffer> buffers;
  std::vector<PrimExpr> indices;               // in all of them
  std::vector<PrimExpr> identities;            // what the init stores
  std::vector<PrimExpr> terms;                 // x
  std::vector<Var> so_far, next;               // stand for Y and x in `results`
  std::vector<PrimExpr> results;               // op
  std::vector<std::pair<Var, PrimExpr>> lets;  // of the terms, outermost first
  TermOrder order = TermOrder::kFree;
};

/// The operation of a block with an init: op is one of + * min max and or, or chooses the better of two by
/// comparing them.  Nothing if it is another program.
std::optional<Update> update_of(const BlockNode* block);

/// The same for `results` of two tuples, `so_far` and `next`, one of which is taken: nothing if they are not
/// made of comparisons alone, if grouping changes what is chosen, or if taking the first one in again does.
std::optional<TermOrder> order_of_choice(const std::vector<PrimExpr>& results, const std::vector<Var>& so_far,
                                         const std::vector<Var>& next);

/// True if the init of a sum or product is the neutral element, so that it may be put in several times.
bool has_neutral_init(const Update& update);

/// The same choice for terms in any order, if part `place` of each grows from term to term: what came first is taken as
/// what was so far.  Nothing if it is no such choice.
std::optional<Update> ordered_by_place(const Update& update, size_t place);

/// The stores of an update of `buffers` at `indices`: what is there, taken together with `terms`.
Stmt update_stmt(const Update& update, const std::vector<Buffer>& buffers,
                 const std::vector<PrimExpr>& indices, const std::vector<PrimExpr>& terms);

}  // namespace tilewright::analysis
