// How the operators of ONNX are read: what their nodes may have in each opset, and the functions that make graph
// operators of them.  The folder converters/ is the registry: each file defines
// `extern constinit const ConverterTable <stem>_info`.
#pragma once
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>

#include "tilewright/frontend/onnx/import/schema.h"

namespace tilewright::frontend::onnx {

inline constexpr int64_t kAnyLeast = std::numeric_limits<int64_t>::min(),
                         kAnyMost = std::numeric_limits<int64_t>::max();
// no extent of a picture, window or list of channels is larger
inline constexpr int64_t kMostExtent = std::numeric_limits<int32_t>::max();
inline constexpr size_t kAnyNumber = std::numeric_limits<size_t>::max();

/// An attribute: its kind, the range of its number or of each of its numbers, and the opsets that know it.
struct AttributeRule {
  std::string_view name;
  Attribute::Kind kind;
  int64_t least = kAnyLeast, most = kAnyMost;
  int64_t since = kFirstOpset, until = kLastOpset;
  bool is_required = false;
};

constexpr AttributeRule flag(std::string_view name, int64_t since = kFirstOpset, int64_t until = kLastOpset) {
  return {name, Attribute::kInt, 0, 1, since, until};
}
constexpr AttributeRule required(std::string_view name, Attribute::Kind kind, int64_t least = kAnyLeast,
                                 int64_t most = kAnyMost) {
  return {name, kind, least, most, kFirstOpset, kLastOpset, true};
}
constexpr AttributeRule extents(std::string_view name, int64_t least, int64_t since = kFirstOpset) {
  return {name, Attribute::kInts, least, kMostExtent, since};
}

class Importer;
using Converter = void (*)(Importer& importer, const Node& node);

/// An operator in the opsets `since` to `until`; the first `min_inputs` inputs may not be left out.  Operators of
/// other domains than ai.onnx have theirs before the name: "com.microsoft::MatMulNBits".
struct ConverterRow {
  std::string_view op;
  Converter convert;
  size_t min_inputs, max_inputs;
  std::span<const AttributeRule> attributes = {};
  size_t max_outputs = 1;
  int64_t since = kFirstOpset, until = kLastOpset;
  size_t num_computed = 1;  // outputs after these are not computed
  size_t min_outputs = 1;   // the first ones, which may not be left out

  bool is_of(int64_t opset) const { return opset >= since && opset <= until; }
};

/// Related operators: those of one file.  Source: onnx.ai/onnx/operators, every version of each operator from
/// opset 1 to 28; later ones than 22 differ in element types only.
struct ConverterTable {
  std::span<const ConverterRow> rows;
};

/// Made from the folder converters/.
extern const ConverterTable* const k_onnx_converters[];
extern const std::size_t k_onnx_converters_count;

/// The row of the operator that Node::op calls so in `opset`, of several the one that ends first; one of other opsets if it has none of this one, null
/// if there is no such operator.
const ConverterRow* find_converter(std::string_view op, int64_t opset = kLastOpset);

}  // namespace tilewright::frontend::onnx
