// Annotations and attributes by which programs ask steps for something.
#pragma once
#include <string_view>

namespace tilewright::lower {

/// Annotation: of a block, which of its writes gets two halves; of an allocation, that it does.
inline constexpr std::string_view kDoubleBuffer = "double_buffer_scope";
/// Annotation of storage_align: of a block, [[which of its writes, axis, factor, offset], ...]; of an
/// allocation, those that are about it.
inline constexpr std::string_view kStorageAlign = "buffer_dim_align";

/// Attribute of a function whose accesses are checked when it runs: what messages call the function.
inline constexpr std::string_view kCheckBounds = "check_bounds";

/// Attribute of a function whose divisions in indices and extents are checked so: what messages call it.
inline constexpr std::string_view kCheckDivisions = "check_divisions";

}  // namespace tilewright::lower
