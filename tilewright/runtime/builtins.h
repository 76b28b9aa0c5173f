// Functions that every process offers to compiled graphs.
#pragma once
#include "tilewright/runtime/function.h"

namespace tilewright::runtime {

inline constexpr const char* kPrintFunction = "tilewright.print";
inline constexpr const char* kAssertFunction = "tilewright.assert";

/// tilewright.print(format, values...): prints a line to standard output.
/// tilewright.assert(condition, format, values...): raises UserError with the text if the condition (a bool,
/// a number or a tensor of one element) is false.
/// Also the functions of builtin/, for graph operators that are not loop nests.
std::vector<Function> builtin_functions();
/// True for the functions of builtin/, which read and write elements on the host.
bool is_host_function(std::string_view name);

}  // namespace tilewright::runtime
