// Scalars, which may arrive as tensors of one element.
#pragma once
#include <cstdint>
#include <string_view>

#include "tilewright/runtime/value.h"

namespace tilewright::runtime {

/// The value of an int, a bool, or a tensor of one integer or bool element, on whichever device.  Raises UserError, which
/// begins with `what`, for anything else.
int64_t integer_of(const Value& value, std::string_view what);

/// The number `value` as a tensor without dimensions; undefined if it is not a number, or not representable
/// in `dtype`.
Tensor scalar_tensor(const Value& value, DataType dtype);

}  // namespace tilewright::runtime
