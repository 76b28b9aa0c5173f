// Single numbers, which may come as tensors of one element.
#pragma once
#include <cstdint>
#include <string_view>

#include "tilewright/runtime/value.h"

namespace tilewright::runtime {

/// The value of an int, a bool, or a tensor on the CPU of one integer or bool element.  Raises UserError,
/// opened by `what`, for anything else.
int64_t integer_of(const Value& value, std::string_view what);

/// `value`, a number, as a tensor without dimensions; undefined if it is no number, or one that `dtype` does
/// not hold.
Tensor scalar_tensor(const Value& value, DataType dtype);

}  // namespace tilewright::runtime
