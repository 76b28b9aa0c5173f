// Functions that every process offers to compiled graphs.
#pragma once
#include "tilewright/runtime/function.h"

namespace tilewright::runtime {

inline constexpr const char* kPrintFunction = "tilewright.print";
inline constexpr const char* kAssertFunction = "tilewright.assert";
inline constexpr const char* kCopyFunction = "tilewright.copy_to_device";

/// tilewright.print(format, values...): prints a line to standard output.
/// tilewright.assert(condition, format, values...): raises UserError with the text if the condition (a bool,
/// a number or a tensor of one element) is false.
/// tilewright.copy_to_device(from, device, to): copies elements between tensors of any devices; without `to` it returns
/// `from`, which kernels of another device copy when they read it.
/// Also the functions of builtin/, for graph operators that are not loop nests.
std::vector<Function> builtin_functions();
/// True for the functions of builtin/, which read and write elements on the host.
bool is_host_function(std::string_view name);

}  // namespace tilewright::runtime
