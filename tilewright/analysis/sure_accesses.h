// Accesses that a program performs whenever the enclosing loops run: not under a condition, in a branch, or
// after a statement that may end early.
#pragma once
#include <functional>
#include <string_view>

#include "tilewright/analysis/corner.h"

namespace tilewright::analysis {

/// Attribute of a function whose callers ensure that its views lie in their buffers.
inline constexpr std::string_view kViewsAreInside = "views_are_inside";

/// The context of a place in the program.
struct Surroundings {
  const std::vector<RangedVar>& loops;  // outermost first; one more for the lanes of a vector
  const PrimExpr& assumption;           // the predicates of the enclosing blocks; null: none
};

/// One dimension of an access.
struct SureAccess : Surroundings {
  const Buffer& buffer;
  size_t dim;
  PrimExpr written;        // the index as written in the program
  PrimExpr index, extent;  // in terms of loop variables: axes and lets are replaced by their values
  Span where;              // of the load or store
  // For a vector in a buffer of several dimensions, which may continue in the next row: its first element,
  // counted from the start of the buffer, and the buffer's number of elements; else null.
  PrimExpr element, num_elements;

  /// The smallest part of the program that contains the index.
  Span place() const;
};

/// One dimension of a region that a view refers to.
struct SureRegion : Surroundings {
  const BufferRegion& region;
  size_t dim;
  PrimExpr min, size, extent;  // of the region and of the buffer, in terms of loop variables
  Span where;                  // of the block
};

/// A division whose divisor is not a constant, in an index or in the extent of a loop or buffer.
struct SureDivision : Surroundings {
  const BinaryOpNode* division;  // in terms of loop variables
  Span where;                    // of the smallest part of the program that contains it
};

struct SureVisitor {
  std::function<void(const SureAccess&)> access;
  std::function<void(const SureRegion&)> region = {};
  std::function<void(const SureDivision&)> division = {};  // called before the access that needs it
};

void each_sure_access(const Stmt& stmt, const SureVisitor& visitor);

}  // namespace tilewright::analysis
