#include "tilewright/runtime/device/cpu.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "tilewright/support/error.h"

namespace tilewright::runtime {
namespace {

// More than the machine has cannot be meant; the system would promise it and kill the process later.
size_t physical_bytes() {
  return static_cast<size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

// What malloc always asks the system for anew.
constexpr size_t kLarge = size_t{32} << 20;
constexpr size_t kHugePage = size_t{2} << 20;

// In large pages, where the system gives them on request: 512 times fewer faults when memory is first
// touched.
void* allocate_large(size_t bytes) {
  void* data = std::aligned_alloc(kHugePage, (bytes + kHugePage - 1) / kHugePage * kHugePage);
#ifdef MADV_HUGEPAGE
  if (data) madvise(data, bytes / kHugePage * kHugePage, MADV_HUGEPAGE);  // a wish: small pages serve as well
#endif
  return data;
}

void* allocate(int32_t, size_t bytes) {
  // aligned_alloc wants a multiple of the alignment; whole lines also let kernels load past the last element
  const size_t rounded = (bytes + kTensorAlignment - 1) / kTensorAlignment * kTensorAlignment;
  const bool is_possible = rounded >= bytes && (rounded < (size_t{1} << 30) || rounded <= physical_bytes());
  void* data = !is_possible        ? nullptr
               : rounded >= kLarge ? allocate_large(rounded)
                                   : std::aligned_alloc(kTensorAlignment, rounded);
  if (!data)
    throw UserError("out of memory: cannot allocate {} bytes on cpu:0", bytes)
        .help("use smaller tensors, or a machine with more memory");
  return data;
}

void release(int32_t, void* data) noexcept { std::free(data); }

void copy(int32_t, void* to, const void* from, size_t bytes) { std::memcpy(to, from, bytes); }

int num_devices() { return 1; }

}  // namespace

constinit const DeviceInterface kCpuDevice = {"cpu", allocate, release, copy, num_devices};

}  // namespace tilewright::runtime
