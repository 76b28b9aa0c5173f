// Exchanges tensors with other frameworks without a copy.
#include <algorithm>
#include <limits>

#include "tilewright/runtime/tensor.h"
#include "tilewright/support/error.h"

namespace tilewright::runtime {
namespace {

// Calls the lender's deleter when the last tensor is gone.
template <class Managed>
class ImportedStorage final : public Storage {
 public:
  explicit ImportedStorage(Managed* managed) : Storage(managed->dl_tensor.data), managed_(managed) {}
  ~ImportedStorage() override {
    if (managed_->deleter) managed_->deleter(managed_);
  }

 private:
  Managed* managed_;
};

template <class Managed>
struct Release {
  void operator()(Managed* managed) const {
    if (managed->deleter) managed->deleter(managed);
  }
};

void check_description(const DLTensor& tensor) {
  if (tensor.ndim < 0 || tensor.ndim > 64)
    throw UserError("dlpack: invalid tensor of {} dimensions", tensor.ndim);
  if (tensor.ndim > 0 && !tensor.shape)
    throw UserError("dlpack: invalid tensor of {} dimensions without a shape", tensor.ndim);
  if (tensor.dtype.bits == 0 || tensor.dtype.lanes == 0) {
    throw UserError("dlpack: invalid dtype of {} bits and {} lanes", tensor.dtype.bits, tensor.dtype.lanes);
  }
  const ShapeView shape(tensor.shape, static_cast<size_t>(tensor.ndim));
  const int64_t bytes = checked_num_bytes(shape, from_dlpack(tensor.dtype), "dlpack");
  if (bytes > 0 && !tensor.data) throw UserError("dlpack: invalid tensor {} without data", shape_str(shape));
}

template <class Managed>
Tensor import_tensor(std::unique_ptr<Managed, Release<Managed>> managed, bool is_read_only) {
  const DLTensor& dl = managed->dl_tensor;
  check_description(dl);
  const auto ndim = static_cast<size_t>(dl.ndim);
  const ShapeView strides(dl.strides, dl.strides ? ndim : 0);
  char* data = dl.data ? static_cast<char*>(dl.data) + dl.byte_offset : nullptr;  // null: an empty tensor
  const DataType dtype = from_dlpack(dl.dtype);
  const Device device = Device::from_dlpack(dl.device);
  const ShapeView shape(dl.shape, ndim);
  Ref<Storage> storage(new ImportedStorage<Managed>(managed.release()));
  auto* object = new TensorObject(std::move(storage), data, shape, strides, dtype, device);
  object->read_only = is_read_only;
  return Tensor(Ref<TensorObject>(object));
}

// A tensor lent to another framework: its description, and a reference to it.  Strides are always given, as
// DLPack 1.2 requires.
template <class Managed>
struct Loan {
  Managed managed;
  Tensor tensor;
  Shape strides;

  explicit Loan(const Tensor& source) : managed{}, tensor(source), strides(source.strides()) {
    managed.dl_tensor = source.dl();
    managed.dl_tensor.strides = strides.data();
    managed.manager_ctx = this;
    managed.deleter = [](Managed* self) { delete static_cast<Loan*>(self->manager_ctx); };
  }
};

}  // namespace

Tensor Tensor::from_dlpack(DLManagedTensor* managed) {
  if (!managed) throw UserError("dlpack: no tensor was given");
  return import_tensor(std::unique_ptr<DLManagedTensor, Release<DLManagedTensor>>(managed), false);
}

Tensor Tensor::from_dlpack(DLManagedTensorVersioned* managed) {
  if (!managed) throw UserError("dlpack: no tensor was given");
  std::unique_ptr<DLManagedTensorVersioned, Release<DLManagedTensorVersioned>> owned(managed);
  if (managed->version.major != DLPACK_MAJOR_VERSION) {
    throw UserError("dlpack: the tensor has version {}.{} of the protocol, expected {}.x",
                    managed->version.major, managed->version.minor, DLPACK_MAJOR_VERSION);
  }
  if (managed->flags & DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED) {
    throw Unsupported("dlpack: padded elements narrower than a byte are not supported")
        .help("pass them packed, or as int8");
  }
  return import_tensor(std::move(owned), (managed->flags & DLPACK_FLAG_BITMASK_READ_ONLY) != 0);
}

DLManagedTensor* Tensor::to_dlpack() const {
  // the older version of the struct has no flag for read-only data
  if (is_read_only())
    throw UserError("dlpack: {} is read-only, which DLPack below 1.0 cannot express", type_str(*this));
  return &(new Loan<DLManagedTensor>(*this))->managed;
}

DLManagedTensorVersioned* Tensor::to_dlpack_versioned() const {
  DLManagedTensorVersioned* managed = &(new Loan<DLManagedTensorVersioned>(*this))->managed;
  managed->version = {DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION};
  managed->flags = is_read_only() ? DLPACK_FLAG_BITMASK_READ_ONLY : 0;
  return managed;
}

}  // namespace tilewright::runtime
