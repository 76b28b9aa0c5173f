// The names of storage scopes: the memories that a buffer can be in.
#pragma once
#include <string_view>

namespace tilewright::tir {

/// Raises UserError, with the nearest names, unless `scope` is a known storage scope:
///   "global", "shared", "shared.dyn", "local", "warp", "texture"
///   the tiles of tensor units: "wmma.accumulator", "m16n8k8.matrixA", ...
///   "global." or "texture." followed by a name that the user chooses
/// An empty scope is "global".
void check_storage_scope(std::string_view scope);

}  // namespace tilewright::tir
