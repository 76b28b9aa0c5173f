// What tests of devices share: tensors there, and launches of registered kernels.
#pragma once
#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

#include "tilewright/runtime/device/accelerator.h"
#include "tilewright/runtime/device/device_code.h"
#include "tilewright/runtime/function.h"

namespace tilewright::runtime {

inline constexpr const char* kAddKey = "00000000000000000000000000000add";
inline constexpr const char* kReverseKey = "0000000000000000000000000000feed";

struct Sizes {
  std::vector<int64_t> grid, block;
  int64_t shared_bytes = 0;
};

inline Value launch(Device device, const std::string& key, const Sizes& sizes,
                    const std::vector<Value>& arguments) {
  std::vector<Value> values{device.type, device.id};
  values.insert(values.end(), sizes.grid.begin(), sizes.grid.end());
  values.insert(values.end(), sizes.block.begin(), sizes.block.end());
  values.emplace_back(sizes.shared_bytes);
  values.insert(values.end(), arguments.begin(), arguments.end());
  return get_function("tilewright.kernel." + key).call(values);
}

template <class T>
Tensor on_device(Device device, std::vector<T> values, Shape shape, DataType dtype) {
  return Tensor::copy_of(values.data(), values.size() * sizeof(T), shape, dtype).to(device);
}

template <class T>
std::vector<T> elements(const Tensor& tensor) {
  const Tensor host = tensor.to(Device::cpu()).compact();
  return std::vector<T>(host.data_as<T>(), host.data_as<T>() + host.num_elements());
}

inline std::vector<float> counting(size_t count, float first = 0) {
  std::vector<float> values(count);
  std::iota(values.begin(), values.end(), first);
  return values;
}

}  // namespace tilewright::runtime
