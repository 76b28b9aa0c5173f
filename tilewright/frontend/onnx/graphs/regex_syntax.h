// Patterns as trees.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

namespace tilewright::frontend::onnx {

/// A part of a pattern.
struct Pattern {
  enum Kind : uint8_t { kSet, kSequence, kAlternatives, kRepeated, kBegin, kEnd, kEdge, kNoEdge };
  /// Characters from `first` to `last`.
  struct Range {
    uint32_t first, last;
  };

  Kind kind = kSequence;
  std::vector<Range> ranges;    // of a set: in order, apart from each other
  std::vector<Pattern> parts;   // of a sequence, of alternatives; the one that is repeated
  int64_t least = 0, most = 0;  // times; most is -1 without a limit
};

/// Reads `text`, in RE2's syntax.  Raises UserError for text that is no pattern, Unsupported for parts that are not
/// supported: flags and classes by name.
Pattern parse_pattern(std::string_view text);

}  // namespace tilewright::frontend::onnx
