// Likely values of sizes that are known only when a program is called: plans are best at them, and right at
// all others.
#pragma once
#include <optional>
#include <string_view>

#include "tilewright/tir/tir.h"

namespace tilewright::arith {
using namespace tir;

/// Attribute of a PrimFunc: {"n": 1, "h": 224}, the likely values of its symbolic sizes by their names.
inline constexpr std::string_view kLikelySizes = "likely_sizes";

/// The items of that attribute; none if `attrs` does not have it.
ir::AttrMap likely_sizes_of(const ir::AttrMap& attrs);

/// The value of `extent` if each variable in it has its value in `sizes`; nothing if one has none.
std::optional<int64_t> likely_value(const PrimExpr& extent, const ir::AttrMap& sizes);

}  // namespace tilewright::arith
