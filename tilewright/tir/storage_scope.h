// The names of the memories that a buffer can be in.
#pragma once
#include <string_view>

namespace tilewright::tir {

/// Raises UserError, with the nearest names, unless `scope` is one of the field's names: "global", "shared",
/// "shared.dyn", "local", "warp", "texture", the tiles of tensor units ("wmma.accumulator",
/// "m16n8k8.matrixA",
/// ...), or "global." or "texture." and a word of one's own.  An empty one is "global".
void check_storage_scope(std::string_view scope);

}  // namespace tilewright::tir
