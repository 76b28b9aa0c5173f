// The layout of the structs of runtime/kernel_abi.h on the target machine, where kernels find their
// arguments.
#pragma once
#include <cstddef>
#include <cstdint>

#include "tilewright/runtime/kernel_abi.h"

namespace tilewright::lower {

/// The layout of structs on a machine.  Byte offsets are those of C; TilewrightAny is the same everywhere.
struct KernelAbi {
  int64_t pointer_bytes = 8;
  int64_t int64_alignment = 8;  // 4 on i386

  constexpr bool has_wide_pointers() const { return pointer_bytes == 8; }
  static constexpr int64_t aligned(int64_t offset, int64_t alignment) {
    return (offset + alignment - 1) / alignment * alignment;
  }

  // members of DLTensor
  constexpr int64_t data() const { return 0; }
  constexpr int64_t device() const { return pointer_bytes; }
  constexpr int64_t ndim() const { return device() + 8; }
  constexpr int64_t dtype() const { return ndim() + 4; }
  constexpr int64_t shape() const { return dtype() + 4; }
  constexpr int64_t strides() const { return shape() + pointer_bytes; }
  constexpr int64_t byte_offset() const { return aligned(strides() + pointer_bytes, int64_alignment); }
  constexpr int64_t tensor_bytes() const { return byte_offset() + 8; }

  /// Offset of function pointer `n` of TilewrightHost, behind its two 32-bit fields.
  constexpr int64_t host_member(int64_t n) const { return 8 + pointer_bytes * n; }
};

static_assert(KernelAbi().device() == offsetof(DLTensor, device) &&
              KernelAbi().ndim() == offsetof(DLTensor, ndim) &&
              KernelAbi().dtype() == offsetof(DLTensor, dtype) &&
              KernelAbi().shape() == offsetof(DLTensor, shape) &&
              KernelAbi().strides() == offsetof(DLTensor, strides) &&
              KernelAbi().byte_offset() == offsetof(DLTensor, byte_offset) &&
              KernelAbi().tensor_bytes() == sizeof(DLTensor) &&
              KernelAbi().host_member(0) == offsetof(TilewrightHost, parallel_for));

}  // namespace tilewright::lower
