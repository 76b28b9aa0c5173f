// Prints the kernels of lowered modules (lower/lowered.h) in the languages of devices: CUDA C, OpenCL C, Metal.
// A text is self-contained but for headers of its language.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tilewright/ir/module.h"

namespace tilewright::codegen {

enum class DeviceLanguage : uint8_t { kCuda, kOpenCL, kMetal };

/// "CUDA C"
std::string_view language_name(DeviceLanguage language);
/// True if the language computes with float16; otherwise lowering has to widen it (step widen_floats).
bool has_float16(DeviceLanguage language);

/// One kernel.
struct KernelText {
  std::string name;
  std::string function;          // of the user, which it is a part of
  std::vector<DataType> params;  // handle for pointers
  int64_t block[3] = {1, 1, 1};  // threads of a block along x, y and z
  std::string text;              // the whole text of a unit that has this kernel alone
};

/// The kernels of `lowered`, the functions with lowered_kind "device_kernel", in order.  Raises UserError for names
/// that are not identifiers, Unsupported for values and operators that the language lacks.
std::vector<KernelText> kernel_texts(DeviceLanguage language, std::span<const ir::IRModule> lowered);
/// The kernels of `lowered` as one unit, with each helper function once.  Empty if there are none.
std::string emit_device(DeviceLanguage language, std::span<const ir::IRModule> lowered);

inline std::string emit_cuda(std::span<const ir::IRModule> lowered) {
  return emit_device(DeviceLanguage::kCuda, lowered);
}
inline std::string emit_opencl(std::span<const ir::IRModule> lowered) {
  return emit_device(DeviceLanguage::kOpenCL, lowered);
}
inline std::string emit_metal(std::span<const ir::IRModule> lowered) {
  return emit_device(DeviceLanguage::kMetal, lowered);
}

}  // namespace tilewright::codegen
