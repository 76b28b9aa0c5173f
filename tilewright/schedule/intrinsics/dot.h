// Dot products of groups of bytes or of bfloat16, a vector of them at once.
#pragma once
#include <optional>

#include "tilewright/schedule/intrinsics/tensor_intrin.h"

namespace tilewright::schedule {

/// C[lanes] += A[group] . B[lanes, group], by dot_add.
struct DotIntrinsic {
  int64_t lanes = 0, group = 0;
  std::string row, column, sum;  // dtypes of A, B and C
  bool is_column_first = false;  // the program multiplies B by A

  /// "dot_16x4_uint8_int8_int32", "dot_16x4_uint8_int8_int32_columns_first"
  std::string name() const;
};

/// The intrinsic of that name; nothing for other names.
std::optional<TensorIntrin> dot_intrinsic(const std::string& name);

}  // namespace tilewright::schedule
