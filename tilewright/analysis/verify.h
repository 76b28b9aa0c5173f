// Is a loop program well formed?  What can be seen without running it; the interpreter sees the rest.
#pragma once
#include "tilewright/ir/module.h"
#include "tilewright/tir/tir.h"

namespace tilewright::analysis {
using namespace tir;

struct VerifyOptions {
  /// A block axis that is a plain loop variable must have the loop's range.  Off for programs whose loops
  /// were cut into parts on purpose.
  bool axes_match_loops = true;
  /// T.reads and T.writes of a block name what its body accesses.
  bool regions_cover_accesses = true;
  /// Block axes stay in their domains, and accesses in their buffers: all that needs arithmetic.
  bool values_fit = true;
  /// Buffers are declared, also those over memory that there is.  Off for programs that were made flat.
  bool views_are_declared = true;
};

/// Raises a UserError at the first fault of `func`, pointing at the line where one is known:
/// - a variable that nothing defines here, or that is defined twice, one inside the other;
/// - a buffer outside of where it exists, or in a storage scope that there is not; a region with a wrong
/// number of dimensions;
/// - an access outside of its buffer that certainly happens: it is under no condition, and loop values show
/// it, for every size where extents are open;
/// - a condition that is no bool; a stored value, an axis or a bound of a wrong dtype;
/// - a block axis whose value can leave its domain, with loop values that show it, or whose loop has another
/// range;
/// - T.reads / T.writes that leave out a buffer, or an element (with axis values that show it), that the body
/// accesses;
///   a block whose body has conditions is trusted about elements;
/// - a vectorized loop whose extent is no positive constant; a thread loop that does not start at 0 or has an
/// unknown
///   tag; a thread of a block bound twice, one inside the other.
void verify(const PrimFunc& func, const VerifyOptions& options = {});
/// Accesses outside of their buffers alone (verify_bounds.cc).
void verify_bounds(const PrimFunc& func);
/// Every loop program of `module`, and that called functions exist.
void verify(const IRModule& module, const VerifyOptions& options = {});

}  // namespace tilewright::analysis
