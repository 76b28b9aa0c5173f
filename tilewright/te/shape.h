// The check of a tensor's shape.
#pragma once
#include "tilewright/te/te.h"

namespace tilewright::te {

/// Raises UserError unless every extent of tensor `name` is an integer and not negative.
void require_shape(const std::vector<PrimExpr>& shape, std::string_view name);

}  // namespace tilewright::te
