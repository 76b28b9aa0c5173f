// Annotations and attributes by which programs ask steps for something.
#pragma once
#include <string_view>

namespace tilewright::lower {

/// Annotation: of a block, which of its writes gets two halves; of an allocation, that it does.
inline constexpr std::string_view kDoubleBuffer = "double_buffer_scope";
/// Annotation of storage_align: of a block, [[which of its writes, axis, factor, offset], ...]; of an
/// allocation, those that are about it.
inline constexpr std::string_view kStorageAlign = "buffer_dim_align";

/// Annotations of a loop whose statements overlap: for each, how many iterations later it runs; its place among those that
/// run together; the stages whose copies are asynchronous.
inline constexpr std::string_view kPipelineStage = "software_pipeline_stage",
                                  kPipelineOrder = "software_pipeline_order",
                                  kPipelineAsync = "software_pipeline_async_stages";
/// Key of an AttrStmt around each statement of such a loop, so that steps before keep them apart.
inline constexpr std::string_view kPipelineStatement = "software_pipeline_statement";

/// Attribute of a function whose accesses are checked when it runs: what messages call the function.
inline constexpr std::string_view kCheckBounds = "check_bounds";

/// Attribute of a function whose divisions in indices and extents are checked so: what messages call it.
inline constexpr std::string_view kCheckDivisions = "check_divisions";

}  // namespace tilewright::lower
