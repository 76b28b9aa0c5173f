// The errors of run-time bounds checks: texts with placeholders for values that are known at run time.
#pragma once
#include <string>
#include <vector>

#include "tilewright/support/span.h"
#include "tilewright/tir/tir.h"

namespace tilewright::lower {
using namespace tir;

/// A sentence in which each kNumber stands for one of `values`.
struct NumberedText {
  std::string text;
  std::vector<PrimExpr> values;
};
inline constexpr char kNumber = '\1';

/// An access that leaves its buffer at some values of loop variables.
struct SizedAccess {
  const Buffer& buffer;
  size_t dim;
  const PrimExpr& written;                   // the index as written in the program
  PrimExpr index, extent;                    // their values there
  std::vector<std::pair<Var, PrimExpr>> at;  // values of the loop variables
};

/// Raises `text` in the function that users call `function`, with the source line of `place` if known, and
/// `help`.
Stmt raise_with_place(const std::string& function, const Span& place, NumberedText text,
                      const std::string& help);

/// Raises "but its index vi + 1 is 9 at vi = 8", for dimension `dim` of `buffer`, whose index is `value` (a
/// lane of `index`).
Stmt raise_outside(const std::string& function, const Span& place, const Buffer& buffer, size_t dim,
                   const PrimExpr& index, const PrimExpr& value);

/// The same for an access that is known before the loops run: "is 7 at i = 7", with the values of `index`,
/// `extent` and the loop variables there.
Stmt raise_outside_at(const std::string& function, const Span& place, const SizedAccess& access);

/// "match_buffer: A[i * 2:i * 2 + 2] reaches 6:8 in dimension 0, which has extent 7"
struct RegionEnds {
  PrimExpr min, end, extent;
};
Stmt raise_region(const std::string& function, const Span& place, const BufferRegion& region, size_t dim,
                  const RegionEnds& ends);

/// "8 // n divides by n, which is 0"
Stmt raise_division_by_zero(const std::string& function, const Span& place, const BinaryOpNode* division);
/// "n // k divides -2147483648 by -1, which overflows int32"
Stmt raise_division_overflow(const std::string& function, const Span& place, const BinaryOpNode* division);

}  // namespace tilewright::lower
