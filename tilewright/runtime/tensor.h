// Tensors: a reference-counted DLTensor and the memory behind it.
// A Tensor is a handle: copying it shares the data.  Shape, strides and dtype of a tensor never change; its
// elements may.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tilewright/runtime/device.h"
#include "tilewright/support/dtype.h"
#include "tilewright/support/ref.h"

namespace tilewright::runtime {

using Shape = std::vector<int64_t>;
using ShapeView = std::span<const int64_t>;

inline DLDataType to_dlpack(DataType dtype) { return {dtype.code, dtype.bits, dtype.lanes}; }
inline DataType from_dlpack(DLDataType dtype) { return DataType::make(dtype.code, dtype.bits, dtype.lanes); }

/// "[5, 7]"
std::string shape_str(ShapeView shape);
/// The product of the dimensions times the element size.  Raises UserError, which begins with `what`, if a
/// dimension is negative or the result does not fit in 63 bits.
int64_t checked_num_bytes(ShapeView shape, DataType dtype, std::string_view what = "tensor");

/// Memory that tensors share.  Subclasses define how it is released.
class Storage : public RefCounted {
 public:
  explicit Storage(void* data) : data(data) {}
  virtual ~Storage() = default;
  void* const data;
};

/// Elements with a shape.  `dl.shape` points into this object; `dl.strides` is null when compact row-major.
class TensorObject final : public RefCounted {
 public:
  /// strides: in elements, empty when compact.  data: address of element 0 (byte_offset is always 0).
  TensorObject(Ref<Storage> storage, void* data, ShapeView shape, ShapeView strides, DataType dtype,
               Device device);
  TensorObject(const TensorObject&) = delete;
  TensorObject& operator=(const TensorObject&) = delete;

  DLTensor dl;
  Ref<Storage> storage;
  bool read_only = false;  // imported as read-only; writing through a kernel output or copy_from is refused
  bool in_arena = false;   // its memory is in the arena of a VM frame and is overwritten by the next call

  static constexpr int kInlineDims = 12;
  /// Room for `count` entries each of shape and strides; their contents are not kept.
  int64_t* reserve_dims(size_t count);

 private:
  int64_t inline_dims_[kInlineDims];
  std::unique_ptr<int64_t[]> more_dims_;
  size_t capacity_ = kInlineDims;
};

class Tensor {
 public:
  Tensor() = default;
  explicit Tensor(Ref<TensorObject> object) : object_(std::move(object)) {}

  /// Uninitialised elements, compact, aligned to 64 bytes.
  /// Raises UserError for a negative dimension or too large a size, Unsupported for a device we cannot run
  /// on.
  static Tensor empty(ShapeView shape, DataType dtype, Device device = Device::cpu());
  static Tensor zeros(ShapeView shape, DataType dtype, Device device = Device::cpu());
  /// A compact tensor with a copy of `num_bytes` bytes at `data`; raises UserError unless that is exactly the
  /// tensor's size.
  static Tensor copy_of(const void* data, size_t num_bytes, ShapeView shape, DataType dtype);
  /// A view of elements at `data`, in CPU memory that `owner` keeps alive (null: valid until the process
  /// ends).
  static Tensor view_of(void* data, ShapeView shape, DataType dtype, std::shared_ptr<const void> owner);
  /// The same, read-only.
  static Tensor view_of_const(const void* data, ShapeView shape, DataType dtype,
                              std::shared_ptr<const void> owner);

  /// Takes ownership of `managed` (also when it raises) without a copy; its deleter is called when the last
  /// tensor over the data is gone.  Raises UserError for a malformed description or another DLPack major
  /// version.
  static Tensor from_dlpack(DLManagedTensor* managed);
  static Tensor from_dlpack(DLManagedTensorVersioned* managed);
  /// A DLPack description of the same data, which it keeps alive until its deleter is called.  Never null.
  DLManagedTensor* to_dlpack() const;
  DLManagedTensorVersioned* to_dlpack_versioned() const;

  explicit operator bool() const { return static_cast<bool>(object_); }
  const TensorObject* object() const { return object_.get(); }
  const Ref<TensorObject>& ref() const { return object_; }
  const DLTensor& dl() const { return object_->dl; }

  int ndim() const { return dl().ndim; }
  ShapeView shape() const { return {dl().shape, static_cast<size_t>(dl().ndim)}; }
  /// Strides in elements; computed if the tensor is compact.
  Shape strides() const;
  DataType dtype() const { return runtime::from_dlpack(dl().dtype); }
  Device device() const { return Device::from_dlpack(dl().device); }
  void* data() const { return dl().data; }
  template <class T>
  T* data_as() const {
    return static_cast<T*>(dl().data);
  }
  int64_t num_elements() const;
  int64_t num_bytes() const;
  bool is_contiguous() const { return dl().strides == nullptr; }
  bool is_read_only() const { return object_->read_only; }
  /// True if element 0 is aligned to `alignment` bytes.
  bool is_aligned(size_t alignment) const { return reinterpret_cast<uintptr_t>(data()) % alignment == 0; }

  /// A compact copy with its own memory.
  Tensor copy() const;
  /// A tensor with the same elements on `device`; this tensor itself if it is there already.
  Tensor to(Device device) const;
  /// True if kernels accept it as it is: compact, and aligned to its element size.
  static bool is_kernel_ready(const DLTensor& dl);
  /// This tensor if kernels accept it (compact, aligned to its element size), else copy().
  Tensor compact() const;
  /// Copies the elements of `source`, which must have the same shape and dtype.  Raises UserError otherwise.
  void copy_from(const Tensor& source) const;
  /// The same elements with another shape: a view, or a view of a copy if this tensor is not compact.  At
  /// most one dimension may be -1 and is computed.  Raises UserError if the number of elements differs.
  Tensor reshape(ShapeView shape) const;
  /// The elements begin, begin+1 .. end-1 of dimension `axis`, as a view.  Raises UserError if out of range.
  Tensor slice(int axis, int64_t begin, int64_t end) const;
  /// A view of the same data that refuses writing.
  Tensor read_only_view() const;
  /// The same bits as elements of another dtype of the same width; a view.
  Tensor view_as(DataType dtype) const;
  /// A view with permuted dimensions.  Raises UserError unless `axes` is a permutation.
  Tensor transpose(std::span<const int> axes) const;

  friend bool operator==(const Tensor& a, const Tensor& b) {
    return a.object_ == b.object_;
  }  // the same object

 private:
  Ref<TensorObject> object_;
};

/// "float32[5, 7]"
std::string type_str(const Tensor& tensor);

}  // namespace tilewright::runtime
