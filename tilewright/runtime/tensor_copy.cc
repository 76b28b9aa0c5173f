#include "tilewright/runtime/tensor_copy.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "tilewright/runtime/device/accelerator.h"
#include "tilewright/support/error.h"

namespace tilewright::runtime {
namespace {

struct CopyPlan {
  ShapeView shape;
  Shape from_strides, to_strides;  // in bytes
  size_t element_bytes;
};

// Copies dimension `axis` and all inner ones.
void copy_dims(const CopyPlan& plan, size_t axis, const char* from, char* to) {
  if (axis == plan.shape.size()) {
    std::memcpy(to, from, plan.element_bytes);
    return;
  }
  const int64_t from_stride = plan.from_strides[axis], to_stride = plan.to_strides[axis];
  const auto bytes = static_cast<int64_t>(plan.element_bytes);
  if (axis + 1 == plan.shape.size() && from_stride == bytes && to_stride == bytes) {
    std::memcpy(to, from, plan.element_bytes * static_cast<size_t>(plan.shape[axis]));
    return;
  }
  for (int64_t position = 0; position < plan.shape[axis]; ++position) {
    copy_dims(plan, axis + 1, from + position * from_stride, to + position * to_stride);
  }
}

Shape byte_strides(const Tensor& tensor) {
  Shape strides = tensor.strides();
  for (int64_t& stride : strides) stride *= tensor.dtype().num_bytes();
  return strides;
}

// Elements narrower than a byte share bytes, so their strides cannot be followed.
void copy_on_host(const Tensor& from, const Tensor& to) {
  if (from.is_contiguous() && to.is_contiguous()) {
    std::memmove(to.data(), from.data(), static_cast<size_t>(from.num_bytes()));
    return;
  }
  if (from.dtype().bits * from.dtype().lanes % 8 != 0) {
    throw Unsupported("copy: {} is not contiguous, and its elements are narrower than a byte",
                      type_str(from));
  }
  copy_dims(
      {from.shape(), byte_strides(from), byte_strides(to), static_cast<size_t>(from.dtype().num_bytes())}, 0,
      static_cast<const char*>(from.data()), static_cast<char*>(to.data()));
}

// The memory of a tensor of a device, from its first byte to its last, with the gaps between, copied to the host.
struct HostWindow {
  explicit HostWindow(const Tensor& tensor);
  const Accelerator& device;
  int32_t id;
  char* first;  // on the device
  std::vector<char> bytes;
  Tensor view;  // the tensor in `bytes`
};

HostWindow::HostWindow(const Tensor& tensor)
    : device(accelerator(tensor.device(), "copy")), id(tensor.device().id) {
  int64_t least = 0, most = tensor.dtype().num_bytes();
  const Shape steps = tensor.is_contiguous() ? Shape() : byte_strides(tensor);
  for (size_t axis = 0; axis < steps.size(); ++axis)
    (steps[axis] < 0 ? least : most) += steps[axis] * (tensor.shape()[axis] - 1);
  if (tensor.is_contiguous()) most = tensor.num_bytes();
  first = tensor.data_as<char>() + least;
  bytes.resize(static_cast<size_t>(most - least));
  device.copy_to_host(id, bytes.data(), first, bytes.size(), true);
  Ref<Storage> storage(new Storage(bytes.data()));
  view = Tensor(Ref<TensorObject>(new TensorObject(std::move(storage), bytes.data() - least, tensor.shape(),
                                                   tensor.is_contiguous() ? Shape() : tensor.strides(),
                                                   tensor.dtype(), Device::cpu())));
}

// Storage that copies use which nobody has waited for.
class PendingCopies {
 public:
  void add(Device device, const Tensor& from, const Tensor& to) {
    const Accelerator& functions = accelerator(device, "copy");
    Pending pending{device, functions.record_event(device.id), from.object()->storage, to.object()->storage};
    std::vector<Pending> done;  // released after the lock
    std::lock_guard lock(mutex_);
    const auto is_left = [](const Pending& each) {
      return !accelerator(each.device, "copy").is_done(each.device.id, each.event.get());
    };
    const auto first_done = std::partition(pending_.begin(), pending_.end(), is_left);
    done.assign(first_done, pending_.end());
    pending_.erase(first_done, pending_.end());
    pending_.push_back(std::move(pending));
  }

 private:
  struct Pending {
    Device device;
    std::shared_ptr<void> event;
    Ref<Storage> from, to;
  };
  std::mutex mutex_;
  std::vector<Pending> pending_;
};

// Never destroyed: copies may run while the process ends.
PendingCopies& pending_copies() {
  static auto* const instance = new PendingCopies;
  return *instance;
}

void copy_from_device(const Tensor& from, const Tensor& to, bool waits) {
  if (!from.is_contiguous() || !to.is_contiguous()) return copy_on_host(HostWindow(from).view, to);
  accelerator(from.device(), "copy")
      .copy_to_host(from.device().id, to.data(), from.data(), static_cast<size_t>(from.num_bytes()), waits);
  if (!waits) pending_copies().add(from.device(), from, to);
}

void copy_to_device(const Tensor& from, const Tensor& to, bool waits) {
  if (to.is_contiguous()) {
    const Tensor compact = from.is_contiguous() ? from : from.copy();
    accelerator(to.device(), "copy")
        .copy_from_host(to.device().id, to.data(), compact.data(), static_cast<size_t>(from.num_bytes()),
                        waits);
    if (!waits) pending_copies().add(to.device(), compact, to);
    return;
  }
  HostWindow window(to);
  copy_on_host(from, window.view);
  window.device.copy_from_host(window.id, window.first, window.bytes.data(), window.bytes.size(), true);
}

// Whether the host reads and writes memory of the device as its own.
bool is_host(Device device) { return device.is_cpu() || device.type == kDLCUDAHost; }

void copy(const Tensor& from, const Tensor& to, bool waits) {
  const Device source = from.device(), target = to.device();
  const DeviceInterface& interface = device_interface(target);
  device_interface(source);  // names a device that we cannot run on
  if (from.num_elements() == 0) return;
  if (is_host(source) && is_host(target)) {
    copy_on_host(from, to);
  } else if (source == target && from.is_contiguous() && to.is_contiguous()) {
    if (from.data() != to.data())
      interface.copy(target.id, to.data(), from.data(), static_cast<size_t>(from.num_bytes()));
  } else if (is_host(target)) {
    copy_from_device(from, to, waits);
  } else if (is_host(source)) {
    copy_to_device(from, to, waits);
  } else {
    const Tensor on_host = Tensor::empty(from.shape(), from.dtype());
    copy_from_device(from, on_host, true);
    copy_to_device(on_host, to, true);
  }
}

}  // namespace

void copy_elements(const Tensor& from, const Tensor& to) { copy(from, to, true); }

void copy_without_waiting(const Tensor& from, const Tensor& to) {
  require_copyable(from, to);
  copy(from, to, false);
}

void require_copyable(const Tensor& from, const Tensor& to) {
  if (to.is_read_only()) throw UserError("copy: the target {} is read-only", type_str(to));
  if (to.dtype() != from.dtype() || !std::ranges::equal(to.shape(), from.shape()))
    throw UserError("copy: the source is {}, the target {}", type_str(from), type_str(to));
}

void clear_elements(const Tensor& tensor) {
  const auto num_bytes = static_cast<size_t>(tensor.num_bytes());
  if (num_bytes == 0) return;
  if (is_host(tensor.device()))
    std::memset(tensor.data(), 0, num_bytes);
  else
    accelerator(tensor.device(), "zeros").fill_zero(tensor.device().id, tensor.data(), num_bytes);
}

}  // namespace tilewright::runtime
