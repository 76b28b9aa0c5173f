// Creates and views tensors.  DLPack exchange is in dlpack.cc, copying in tensor_copy.cc.
#include "tilewright/runtime/tensor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "tilewright/runtime/tensor_copy.h"
#include "tilewright/support/count_text.h"
#include "tilewright/support/error.h"

namespace tilewright::runtime {
namespace {

class DeviceStorage final : public Storage {
 public:
  DeviceStorage(const DeviceInterface& interface, int32_t id, size_t bytes)
      : Storage(interface.allocate(id, bytes)), interface_(interface), id_(id) {}
  ~DeviceStorage() override { interface_.free(id_, data); }

 private:
  const DeviceInterface& interface_;
  int32_t id_;
};

class ViewStorage final : public Storage {
 public:
  ViewStorage(void* data, std::shared_ptr<const void> owner) : Storage(data), owner_(std::move(owner)) {}

 private:
  std::shared_ptr<const void> owner_;
};

Tensor make(Ref<Storage> storage, void* data, ShapeView shape, ShapeView strides, DataType dtype,
            Device device) {
  return Tensor(Ref<TensorObject>(new TensorObject(std::move(storage), data, shape, strides, dtype, device)));
}

bool is_empty(ShapeView shape) { return std::find(shape.begin(), shape.end(), 0) != shape.end(); }

// A view of the data of `base` with another shape and strides.
Tensor make_view(const Tensor& base, void* data, ShapeView shape, ShapeView strides) {
  auto* object = new TensorObject(base.object()->storage, data, shape, strides, base.dtype(), base.device());
  object->read_only = base.object()->read_only;
  object->in_arena = base.object()->in_arena;
  return Tensor(Ref<TensorObject>(object));
}

// True if row-major without gaps.  Dimensions of extent 1 may have any stride; an empty tensor has no gaps.
bool is_row_major(ShapeView shape, ShapeView strides) {
  if (is_empty(shape)) return true;
  int64_t expected = 1;
  for (size_t axis = shape.size(); axis-- > 0;) {
    if (shape[axis] != 1 && strides[axis] != expected) return false;
    expected *= shape[axis];
  }
  return true;
}

// The shape with -1, if any, replaced by the computed extent.
Shape resolve_shape(const Tensor& tensor, ShapeView shape) {
  Shape resolved(shape.begin(), shape.end());
  int64_t known = 1;
  int64_t* unknown = nullptr;
  for (int64_t& extent : resolved) {
    if (extent == -1 && unknown) throw UserError("reshape: {} has more than one -1", shape_str(shape));
    if (extent < -1) throw UserError("reshape: {} has the negative dimension {}", shape_str(shape), extent);
    if (extent == -1)
      unknown = &extent;
    else if (__builtin_mul_overflow(known, extent, &known))
      throw UserError("reshape: {} is too large", shape_str(shape));
  }
  const int64_t count = tensor.num_elements();
  if (unknown && known != 0 && count % known == 0)
    *unknown = count / known;
  else if (unknown || known != count) {
    throw UserError("reshape: {} has {} elements, which do not fill {}", type_str(tensor), count,
                    shape_str(shape));
  }
  return resolved;
}

}  // namespace

std::string shape_str(ShapeView shape) {
  return fmt::format("[{}]", fmt::join(shape.begin(), shape.end(), ", "));
}

int64_t checked_num_bytes(ShapeView shape, DataType dtype, std::string_view what) {
  int64_t bits = static_cast<int64_t>(dtype.bits) * dtype.lanes;
  bool overflows = false;
  for (int64_t extent : shape) {
    if (extent < 0)
      throw UserError("{}: shape {} has the negative dimension {}", what, shape_str(shape), extent);
    overflows |= __builtin_mul_overflow(bits, extent, &bits);
  }
  if (is_empty(shape)) return 0;
  if (overflows || bits > std::numeric_limits<int64_t>::max() - 7) {
    throw UserError("{}: {}{} is larger than any memory", what, dtype.str(), shape_str(shape));
  }
  return (bits + 7) / 8;
}

TensorObject::TensorObject(Ref<Storage> storage, void* data, ShapeView shape, ShapeView strides,
                           DataType dtype, Device device)
    : storage(std::move(storage)) {
  const size_t ndim = shape.size();
  const bool is_compact = strides.empty() || is_row_major(shape, strides);
  int64_t* dims = reserve_dims(is_compact ? ndim : 2 * ndim);
  std::copy(shape.begin(), shape.end(), dims);
  if (!is_compact) std::copy(strides.begin(), strides.end(), dims + ndim);
  dl = {data,
        device.to_dlpack(),
        static_cast<int32_t>(ndim),
        to_dlpack(dtype),
        dims,
        is_compact ? nullptr : dims + ndim,
        0};
}

int64_t* TensorObject::reserve_dims(size_t count) {
  if (count > capacity_) {
    more_dims_ = std::make_unique<int64_t[]>(count);
    capacity_ = count;
  }
  return more_dims_ ? more_dims_.get() : inline_dims_;
}

Tensor Tensor::empty(ShapeView shape, DataType dtype, Device device) {
  const DeviceInterface& interface = device_interface(device);
  if (dtype.is_void()) throw UserError("tensor: there are no tensors of dtype void");
  const int64_t bytes = checked_num_bytes(shape, dtype);
  // an empty tensor still gets an address of its own
  Ref<Storage> storage(
      new DeviceStorage(interface, device.id, static_cast<size_t>(std::max<int64_t>(bytes, 1))));
  void* data = storage->data;
  return make(std::move(storage), data, shape, {}, dtype, device);
}

Tensor Tensor::zeros(ShapeView shape, DataType dtype, Device device) {
  Tensor tensor = empty(shape, dtype, device);
  clear_elements(tensor);
  return tensor;
}

Tensor Tensor::copy_of(const void* data, size_t num_bytes, ShapeView shape, DataType dtype) {
  const int64_t expected = checked_num_bytes(shape, dtype);
  if (num_bytes != static_cast<size_t>(expected)) {
    throw UserError("tensor: {}{} takes {} bytes, got {}", dtype.str(), shape_str(shape), expected,
                    num_bytes);
  }
  Tensor tensor = empty(shape, dtype);
  if (num_bytes) std::memcpy(tensor.data(), data, num_bytes);
  return tensor;
}

Tensor Tensor::view_of(void* data, ShapeView shape, DataType dtype, std::shared_ptr<const void> owner) {
  checked_num_bytes(shape, dtype);
  return make(Ref<Storage>(new ViewStorage(data, std::move(owner))), data, shape, {}, dtype, Device::cpu());
}

Tensor Tensor::view_of_const(const void* data, ShapeView shape, DataType dtype,
                             std::shared_ptr<const void> owner) {
  Tensor tensor = view_of(const_cast<void*>(data), shape, dtype, std::move(owner));
  const_cast<TensorObject*>(tensor.object())->read_only = true;
  return tensor;
}

Shape Tensor::strides() const {
  const size_t ndim = shape().size();
  if (dl().strides) return Shape(dl().strides, dl().strides + ndim);
  Shape strides(ndim);
  int64_t step = 1;
  for (size_t axis = ndim; axis-- > 0;) {
    strides[axis] = step;
    // an empty tensor may have other dimensions of any size; its strides have no meaning
    if (__builtin_mul_overflow(step, std::max<int64_t>(shape()[axis], 1), &step)) step = 1;
  }
  return strides;
}

int64_t Tensor::num_elements() const {
  if (is_empty(shape())) return 0;
  int64_t count = 1;
  for (int64_t extent : shape()) count *= extent;
  return count;
}

int64_t Tensor::num_bytes() const { return (num_elements() * dl().dtype.bits * dl().dtype.lanes + 7) / 8; }

Tensor Tensor::copy() const {
  Tensor result = empty(shape(), dtype(), device());
  copy_elements(*this, result);
  return result;
}

Tensor Tensor::to(Device target) const {
  if (target == device()) return *this;
  Tensor result = empty(shape(), dtype(), target);
  copy_elements(*this, result);
  return result;
}

bool Tensor::is_kernel_ready(const DLTensor& dl) {
  const auto element_bytes = static_cast<uintptr_t>(dl.dtype.bits * dl.dtype.lanes + 7) / 8;
  // the largest power of two that divides it: vector types of odd sizes, such as 12 bytes, are aligned like
  // their lanes
  const uintptr_t alignment = element_bytes & (~element_bytes + 1);
  return !dl.strides && (reinterpret_cast<uintptr_t>(dl.data) & (alignment - 1)) == 0;
}

Tensor Tensor::compact() const { return is_kernel_ready(dl()) ? *this : copy(); }

void Tensor::copy_from(const Tensor& source) const {
  require_copyable(source, *this);
  copy_elements(source, *this);
}

Tensor Tensor::reshape(ShapeView shape) const {
  const Shape resolved = resolve_shape(*this, shape);
  const Tensor base = is_contiguous() ? *this : copy();
  return make_view(base, base.data(), resolved, {});
}

Tensor Tensor::slice(int axis, int64_t begin, int64_t end) const {
  if (axis < 0 || axis >= ndim())
    throw UserError("slice: axis {} of {} does not exist", axis, type_str(*this));
  if (begin < 0 || end < begin || end > shape()[axis]) {
    throw UserError("slice: range {}..{} is not within dimension {} of {}", begin, end, axis,
                    type_str(*this));
  }
  if (dtype().bits * dtype().lanes % 8 != 0)
    throw Unsupported("slice: elements of {} share bytes", type_str(*this));
  Shape sliced(shape().begin(), shape().end());
  sliced[axis] = end - begin;
  const Shape steps = strides();
  char* data = data_as<char>() + begin * steps[axis] * dtype().num_bytes();
  return make_view(*this, data, sliced, steps);
}

Tensor Tensor::read_only_view() const {
  Tensor view = make_view(*this, data(), shape(), is_contiguous() ? Shape() : strides());
  const_cast<TensorObject*>(view.object())->read_only = true;
  return view;
}

Tensor Tensor::view_as(DataType dtype) const {
  TILEWRIGHT_CHECK(dtype.bits == this->dtype().bits && dtype.lanes == this->dtype().lanes,
                   "elements of {} seen as {}", this->dtype().str(), dtype.str());
  Tensor view = make_view(*this, data(), shape(), is_contiguous() ? Shape() : strides());
  auto* object = const_cast<TensorObject*>(view.object());
  object->dl.dtype = {dtype.code, dtype.bits, dtype.lanes};
  return view;
}

Tensor Tensor::transpose(std::span<const int> axes) const {
  std::vector<bool> seen(static_cast<size_t>(ndim()));
  bool is_permutation = axes.size() == seen.size();
  for (int axis : axes) {
    if (axis < 0 || axis >= ndim() || seen[axis])
      is_permutation = false;
    else
      seen[axis] = true;
  }
  if (!is_permutation) {
    throw UserError("transpose: [{}] is not a permutation of the {} of {}",
                    fmt::join(axes.begin(), axes.end(), ", "), count_text(ndim(), "dimension"),
                    type_str(*this));
  }
  Shape permuted, steps;
  const Shape old_steps = strides();
  for (int axis : axes) {
    permuted.push_back(shape()[axis]);
    steps.push_back(old_steps[axis]);
  }
  return make_view(*this, data(), permuted, steps);
}

std::string type_str(const Tensor& tensor) { return tensor.dtype().str() + shape_str(tensor.shape()); }

}  // namespace tilewright::runtime
