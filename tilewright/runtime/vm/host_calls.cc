#include "tilewright/runtime/vm/host_calls.h"

#include <algorithm>

#include "tilewright/runtime/device/accelerator.h"
#include "tilewright/runtime/tensor.h"

namespace tilewright::runtime::vm {

Value moved_to(Value value, Device device) {
  if (value.tensor_object()) return Value(value.as_tensor().to(device));
  if (!value.is(ValueKind::kTuple)) return value;
  std::vector<Value> fields;
  for (const Value& field : value.as_tuple()) fields.push_back(moved_to(field, device));
  return Value::tuple(std::move(fields));
}

Value call_on_host(const Function& function, Args args, Device device) {
  std::vector<Value> host;
  for (const Value& arg : args) host.push_back(moved_to(arg, Device::cpu()));
  Value result = function.call(host);
  for (size_t n = 0; n < args.size(); ++n) {
    const TensorObject* tensor = args[n].tensor_object();
    const bool is_copy = tensor && !Device::from_dlpack(tensor->dl.device).is_cpu();
    if (is_copy && !tensor->read_only) args[n].as_tensor().copy_from(host[n].as_tensor());
  }
  return moved_to(std::move(result), device);
}

int64_t argument_alignment(Device device) {
  if (device.is_cpu()) return 1;
  return std::max<int64_t>(1, accelerator(device, "vm").properties(device.id).memory_alignment);
}

bool is_ready_on(const DLTensor& tensor, Device device, int64_t alignment) {
  return Device::from_dlpack(tensor.device) == device && Tensor::is_kernel_ready(tensor) &&
         reinterpret_cast<uintptr_t>(tensor.data) % static_cast<uintptr_t>(alignment) == 0;
}

Tensor ready_on(const Tensor& tensor, Device device, int64_t alignment) {
  const Tensor moved = tensor.to(device).compact();
  return moved.is_aligned(static_cast<size_t>(alignment)) ? moved : moved.copy();
}

}  // namespace tilewright::runtime::vm
