// Copies elements between tensors, within a device and between devices.
#pragma once
#include "tilewright/runtime/tensor.h"

namespace tilewright::runtime {

/// Copies the elements of `from` to `to`, which has its shape and dtype. Waits where the host is one of the two.
/// A tensor with gaps on a device other than the CPU goes through memory of the host. Raises Unsupported for
/// gaps between elements narrower than a byte.
void copy_elements(const Tensor& from, const Tensor& to);
/// Sets all bytes of a compact tensor to 0.
void clear_elements(const Tensor& tensor);

}  // namespace tilewright::runtime
