#include "tilewright/runtime/device/cpu.h"

#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "tilewright/runtime/device/large_blocks.h"
#include "tilewright/support/error.h"

namespace tilewright::runtime {
namespace {

// A larger request than this must be a mistake; the system would grant it and kill the process later.
size_t physical_bytes() {
  return static_cast<size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

#if defined(__has_feature)
#define TILEWRIGHT_IS_SANITIZED __has_feature(address_sanitizer)
#elif defined(__SANITIZE_ADDRESS__)
#define TILEWRIGHT_IS_SANITIZED 1
#else
#define TILEWRIGHT_IS_SANITIZED 0
#endif
// Off under a sanitizer, which checks the bounds of malloc's blocks.
constexpr bool kHasLargeBlocks = !TILEWRIGHT_IS_SANITIZED;

void* allocate(int32_t, size_t bytes) {
  // aligned_alloc needs a multiple of the alignment; whole lines also let kernels load past the last element
  const size_t rounded = (bytes + kTensorAlignment - 1) / kTensorAlignment * kTensorAlignment;
  const bool is_possible = rounded >= bytes && (rounded < (size_t{1} << 30) || rounded <= physical_bytes());
  const bool is_large = kHasLargeBlocks && rounded >= LargeBlocks::kLeastBytes;
  void* data = !is_possible ? nullptr
               : is_large   ? LargeBlocks::of_process().allocate(rounded)
                            : std::aligned_alloc(kTensorAlignment, rounded);
  if (!data)
    throw UserError("out of memory: cannot allocate {} bytes on cpu:0", bytes)
        .help("use smaller tensors, or a machine with more memory");
  return data;
}

void release(int32_t, void* data) noexcept {
  const bool may_be_large = reinterpret_cast<uintptr_t>(data) % LargeBlocks::kAlignment == 0;
  if (may_be_large && LargeBlocks::of_process().release(data)) return;
  std::free(data);
}

void copy(int32_t, void* to, const void* from, size_t bytes) { std::memcpy(to, from, bytes); }

int num_devices() { return 1; }

}  // namespace

constinit const DeviceInterface kCpuDevice = {"cpu", allocate, release, copy, num_devices};

}  // namespace tilewright::runtime
