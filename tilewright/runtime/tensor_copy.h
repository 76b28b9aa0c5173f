// Copies elements between tensors, within a device and between devices.
#pragma once
#include "tilewright/runtime/tensor.h"

namespace tilewright::runtime {

/// Copies the elements of `from` to `to`, which has its shape and dtype. Waits where the host is one of the two.
/// A tensor with gaps on a device other than the CPU goes through memory of the host. Raises Unsupported for
/// gaps between elements narrower than a byte.
void copy_elements(const Tensor& from, const Tensor& to);
/// The same, but where the host is one of the two, and both are compact, it only queues the copy in the current stream:
/// a thread that has waited for that stream may read `to` and change `from`. Both are kept alive until then.
void copy_without_waiting(const Tensor& from, const Tensor& to);
/// Raises UserError if `to` is read-only or has another shape or dtype.
void require_copyable(const Tensor& from, const Tensor& to);
/// Sets all bytes of a compact tensor to 0.
void clear_elements(const Tensor& tensor);

}  // namespace tilewright::runtime
