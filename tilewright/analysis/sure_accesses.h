// Accesses that a program makes whenever the loops around them run: none that stands under a condition, in a
// branch or after a statement that may leave.
#pragma once
#include <functional>
#include <string_view>

#include "tilewright/analysis/corner.h"

namespace tilewright::analysis {

/// Attribute of a function whose callers see to it that its views lie in their buffers.
inline constexpr std::string_view kViewsAreInside = "views_are_inside";

/// What is around a place of the program.
struct Surroundings {
  const std::vector<RangedVar>& loops;  // outermost first; one more for the lanes of a vector
  const PrimExpr& assumption;           // the predicates of the blocks; null: none
};

/// One dimension of an access.
struct SureAccess : Surroundings {
  const Buffer& buffer;
  size_t dim;
  PrimExpr written;        // the index as it stands in the program
  PrimExpr index, extent;  // by the variables of the loops: axes and lets are replaced by their values
  Span where;              // of the load or store
  // Of a vector in a buffer of several dimensions, which may go on in the next row: the element, counted from
  // the buffer's first, and how many there are; else null.
  PrimExpr element, num_elements;

  /// The smallest part of the program that shows the index.
  Span place() const;
};

/// One dimension of a region that a view looks at.
struct SureRegion : Surroundings {
  const BufferRegion& region;
  size_t dim;
  PrimExpr min, size, extent;  // of the region and of the buffer, by the variables of the loops
  Span where;                  // of the block
};

/// A division by what is no constant, in an index or in the extent of a loop or buffer.
struct SureDivision : Surroundings {
  const BinaryOpNode* division;  // by the variables of the loops
  Span where;                    // of the smallest part of the program that shows it
};

struct SureVisitor {
  std::function<void(const SureAccess&)> access;
  std::function<void(const SureRegion&)> region = {};
  std::function<void(const SureDivision&)> division = {};  // before what needs it
};

void each_sure_access(const Stmt& stmt, const SureVisitor& visitor);

}  // namespace tilewright::analysis
