// What the shape of a tensor has to be.
#pragma once
#include "tilewright/te/te.h"

namespace tilewright::te {

/// Raises UserError unless every extent of tensor `name` is an integer that is not negative.
void require_shape(const std::vector<PrimExpr>& shape, std::string_view name);

}  // namespace tilewright::te
