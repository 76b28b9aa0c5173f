// The signature of each ONNX operator, as one table; used by schema.cc only.
#pragma once
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>

#include "tilewright/frontend/onnx/schema.h"

namespace tilewright::frontend::onnx {

inline constexpr int64_t kAnyLeast = std::numeric_limits<int64_t>::min(),
                         kAnyMost = std::numeric_limits<int64_t>::max();
// a limit that no extent of an image, window or list of channels exceeds
inline constexpr int64_t kMostExtent = std::numeric_limits<int32_t>::max();
inline constexpr size_t kAnyNumber = std::numeric_limits<size_t>::max();

/// An attribute: its kind, the range of its value or of each of its values, and the opsets that have it.
struct AttributeRule {
  std::string_view name;
  Attribute::Kind kind;
  int64_t least = kAnyLeast, most = kAnyMost;
  int64_t since = kFirstOpset, until = kLastOpset;
  bool is_required = false;
};

/// An operator in the opsets `since` to `until`; the first `min_inputs` inputs are required.
struct OperatorRule {
  std::string_view op;
  size_t min_inputs, max_inputs;
  std::span<const AttributeRule> attributes = {};
  size_t max_outputs = 1;
  int64_t since = kFirstOpset, until = kLastOpset;
  size_t num_computed = 1;  // later outputs are not supported
};

/// Ordered by name.
std::span<const OperatorRule> operator_rules();

}  // namespace tilewright::frontend::onnx
