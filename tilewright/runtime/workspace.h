// Temporary memory for kernels: a stack of blocks per thread, kept between calls.
#pragma once
#include <cstdint>

namespace tilewright::runtime {

/// Implements TilewrightHost::workspace_alloc.
void* workspace_alloc(uint64_t bytes, uint64_t alignment) noexcept;
/// Implements TilewrightHost::workspace_free; null is ignored.
void workspace_free(void* pointer) noexcept;

}  // namespace tilewright::runtime
