// What a piece of program reads and writes, as one region per buffer.
#pragma once
#include <span>

#include "tilewright/tir/tir.h"

namespace tilewright::analysis {
using namespace tir;

/// One region per buffer, buffers in order of first appearance (a stored value before its target).
struct AccessRegions {
  std::vector<BufferRegion> reads, writes;
};

/// What `stmt` reads and writes in buffers that exist outside of it.
///
/// - A Block node stands for its inside: init, then body, with its axes as free variables.  Its own
/// reads/writes are
///   not looked at, so this is what a program that leaves them out gets.
/// - A BlockRealize, at the top or anywhere inside, stands for what its block declares, with the values put
/// for the axes.
/// - Loops, lets and vectors inside are relaxed: each index becomes the range of its values.  A plain index
/// `A[vi, vj]`
///   is a range of extent 1 that holds the index itself.  What cannot be bounded is the whole dimension, [0,
///   shape). Conditions (if, select, T.if_then_else) do not narrow a region, so a region may reach outside of
///   the buffer.
/// - Several accesses to one buffer are united by their interval hull, dimension by dimension.
/// - Buffers allocated inside are left out.  An access to a view made inside (match_buffer, decl_buffer)
/// counts for the
///   buffer it views: by the matched region where the shapes agree from the last dimension on, else the whole
///   of it.
/// - A buffer that a Block's init stores to is no read of that block: Y[i] = Y[i] + x only continues the
/// init.
/// - A pointer to a buffer's data that is passed on (T.tvm_access_ptr, T.address_of, the variable itself) is
/// a read
///   and/or write of the whole buffer, after the access mask if there is one.  Pointers can be followed only
///   to buffers that appear in `stmt` or in `known`.
AccessRegions access_regions(const Stmt& stmt, std::span<const Buffer> known = {});

/// True if every element of the buffer that is in `inner` is in `outer`, for a reason visible in constants
/// and sums.
bool region_covers(const BufferRegion& outer, const BufferRegion& inner);

}  // namespace tilewright::analysis
