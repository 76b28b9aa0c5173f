// Shared by cache_read and cache_write: a buffer of the same shape and the block that copies a region.
#pragma once
#include "tilewright/schedule/core/access.h"
#include "tilewright/schedule/core/stage.h"

namespace tilewright::schedule {

/// A buffer like `buffer` in another storage scope, called A_shared and the like.
Buffer make_cache(const Buffer& buffer, const std::string& storage_scope);

/// `block` on `cache` instead of `buffer`: its pointers into it too, unless another buffer of the block lies
/// there as well, or the layout of `buffer` is one of its own.
Block on_cache(const Block& block, const Buffer& buffer, const Buffer& cache);

/// Raises UserError if block `id`, which `on_cache` made `changed` of, still has a pointer into `buffer`:
/// what it writes there would be overwritten by the copy.
void require_no_pointer(const State& state, NodeId id, const Block& changed, const Buffer& buffer);

/// `name`, or with the first of _1, _2, ... behind it that no block of the function of `near` is called.
std::string fresh_block_name(const State& state, NodeId near, const std::string& name);

/// A nest of loops around a block that copies `region` of `from` to `to`; `written` is its place.
Stage make_copy(const std::string& name, const Buffer& from, const Buffer& to,
                const arith::IntervalRegion& region, const Span& written, arith::Analyzer& analyzer);

}  // namespace tilewright::schedule
