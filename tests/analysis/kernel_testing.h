// Kernels of GPUs in tests: arguments, what is in them afterwards, the text of the fault.
#pragma once
#include <numeric>

#include "script_testing.h"
#include "tilewright/analysis/interpreter.h"

namespace tilewright::analysis {
using runtime::Tensor;
using runtime::Value;

inline Tensor floats(const std::vector<float>& values) {
  const std::vector<int64_t> shape{static_cast<int64_t>(values.size())};
  return Tensor::copy_of(values.data(), values.size() * sizeof(float), shape, kFloat32);
}
inline std::vector<float> counted(int64_t size) {
  std::vector<float> values(static_cast<size_t>(size));
  std::iota(values.begin(), values.end(), 0.f);
  return values;
}
inline std::vector<float> content(const Tensor& tensor) {
  const float* data = tensor.data_as<float>();
  return {data, data + tensor.num_elements()};
}
inline std::string fault(std::string_view program, std::vector<Value> args) {
  try {
    interpret(script::parse_func_unchecked(program), args);
    return "no error";
  } catch (const Error& error) {
    return error.text();
  }
}
inline void run_kernel(std::string_view program, std::vector<Value> args) {
  interpret(script::parse_func(program), args);
}
inline Tensor reshaped(const Tensor& tensor, const std::vector<int64_t>& shape) {
  return Tensor::copy_of(tensor.data(),
                         static_cast<size_t>(tensor.num_elements()) * tensor.dtype().num_bytes(), shape,
                         tensor.dtype());
}

}  // namespace tilewright::analysis
