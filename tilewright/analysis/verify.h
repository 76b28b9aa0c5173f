// Static checks that a loop program is well formed; the interpreter finds the rest.
#pragma once
#include "tilewright/ir/module.h"
#include "tilewright/tir/tir.h"

namespace tilewright::analysis {
using namespace tir;

struct VerifyOptions {
  /// A block axis that is a plain loop variable must have the loop's range.  Off for programs whose loops
  /// were split on purpose.
  bool axes_match_loops = true;
  /// T.reads and T.writes of a block cover the accesses of its body.
  bool regions_cover_accesses = true;
  /// Block axes stay in their domains, and accesses in their buffers: all checks that need arithmetic.
  bool values_fit = true;
  /// Buffers are declared, also those over existing memory.  Off for flattened programs.
  bool views_are_declared = true;
};

/// Raises a UserError for the first fault of `func`, with its line if known:
/// - a variable that is used but not defined, or defined twice, one definition inside the other;
/// - a buffer used outside of its scope, or in an unknown storage scope; a region with a wrong number of
///   dimensions;
/// - an access outside of its buffer that certainly happens: it is under no condition, and loop values show
///   it, for every size if extents are symbolic;
/// - a condition that is not a bool; a stored value, an axis or a bound of a wrong dtype;
/// - a block axis whose value can leave its domain, with loop values that show it, or whose loop has another
///   range;
/// - T.reads / T.writes without a buffer, or an element (with axis values that show it), that the body
///   accesses; elements are not checked in a block whose body has conditions;
/// - a vectorized loop whose extent is not a positive constant; a thread loop that does not start at 0 or has
///   an unknown tag; two loops over one axis of threads, one inside the other, of different extents, or the inner one with
///   the outer one's variable; a reduction over threads whose update they cannot put together.
void verify(const PrimFunc& func, const VerifyOptions& options = {});
/// Checks only accesses outside of their buffers (verify_bounds.cc).
void verify_bounds(const PrimFunc& func);
/// Verifies every loop program of `module`, and that called functions exist.
void verify(const IRModule& module, const VerifyOptions& options = {});

}  // namespace tilewright::analysis
