// Likely values of sizes that are known only when a program is called: plans are best at them, and right at
// all others.
#pragma once
#include <optional>
#include <string_view>

#include "tilewright/tir/tir.h"

namespace tilewright::arith {
using namespace tir;

/// Attribute of a PrimFunc: {"n": [1, 8], "h": 224}, the likely values of its symbolic sizes by their names; several
/// of one size ascend.
inline constexpr std::string_view kLikelySizes = "likely_sizes";

/// The items of that attribute; none if `attrs` does not have it.
ir::AttrMap likely_sizes_of(const ir::AttrMap& attrs);

/// The item of that attribute for a size with `values`: a number, or a list unless there is one.
ir::ObjectRef likely_item(const std::vector<int64_t>& values);
/// The values of the size `name` in `sizes`; none if it has none.
std::vector<int64_t> likely_values(const ir::AttrMap& sizes, std::string_view name);

/// The value of `extent` if each variable in it has its value in `sizes`, the last of several; nothing if one has
/// none.
std::optional<int64_t> likely_value(const PrimExpr& extent, const ir::AttrMap& sizes);

}  // namespace tilewright::arith
