// The types of the values of R.loop, from the type of its body.
#pragma once
#include <string_view>
#include <vector>

#include "tilewright/relax/graph/relax.h"

namespace tilewright::relax {

inline constexpr std::string_view kLoop = "relax.loop";

struct LoopTypes {
  std::vector<Type> carried;   // in any iteration and after the last
  std::vector<Type> elements;  // of the values that are collected: what one iteration returns
  /// The number of iterations if the condition has no say in it and the extents of the program tell, else null.
  PrimExpr count;

  /// The type of the tensors of `element` stacked along a new first axis.
  Type collected(const Type& element) const;
};

/// The types of `call` of R.loop with the body type `body`.  A dimension of a carried value is known if an
/// iteration leaves it as it was.  Raises UserError if the body takes or returns something else.
LoopTypes loop_types(const Call& call, const CallableTypeNode* body);

}  // namespace tilewright::relax
