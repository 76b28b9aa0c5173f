// The buffer regions that a statement reads and writes, one per buffer.
#pragma once
#include <span>

#include "tilewright/tir/tir.h"

namespace tilewright::analysis {
using namespace tir;

/// One region per buffer, in order of first appearance (a stored value before its target).
struct AccessRegions {
  std::vector<BufferRegion> reads, writes;
};

/// The regions that `stmt` reads and writes in buffers that exist outside of it.
///
/// - A Block node stands for its inside: init, then body, with its axes as free variables.  Its own
///   reads/writes are ignored, so this is the default for a program that leaves them out.
/// - A BlockRealize, at the top or anywhere inside, stands for the regions its block declares, with the
///   values substituted for the axes.
/// - Loops, lets and vectors inside are relaxed: each index becomes the range of its values.  A plain index
///   `A[vi, vj]` is a range of extent 1 that holds the index itself.  An index that cannot be bounded gives
///   the whole dimension, [0, shape).  Conditions (if, select, T.if_then_else) do not narrow a region, so a
///   region may reach outside of the buffer.
/// - Several accesses to one buffer are united by their interval hull, dimension by dimension.
/// - Buffers allocated inside are left out.  An access to a view made inside (match_buffer, decl_buffer)
///   counts for the buffer it views: by the matched region if the shapes agree from the last dimension on,
///   else the whole buffer.
/// - Where a Block's init stores to a buffer, the elements that the body stores are no read of that block:
///   Y[i] = Y[i] + x only continues the init.  Other elements are: P[t, i] = P[t, i] + P[t - 1, k].
/// - A pointer to a buffer's data that is passed on (T.tvm_access_ptr, T.address_of, the variable itself) is
///   a read and/or write of the whole buffer, as its access mask says if there is one.  Pointers can only be
///   followed to buffers that appear in `stmt` or in `known`.
AccessRegions access_regions(const Stmt& stmt, std::span<const Buffer> known = {});

/// True if the structure of the expressions (constants and sums) shows that every element of `inner` inside
/// the buffer is in `outer`.
bool region_covers(const BufferRegion& outer, const BufferRegion& inner);

}  // namespace tilewright::analysis
