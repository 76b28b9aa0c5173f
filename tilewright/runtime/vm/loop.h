// Loops of the virtual machine (kLoop): a function that is called again and again with the values that the
// call before returned.
#pragma once
#include <string>
#include <vector>

#include "tilewright/runtime/function.h"

namespace tilewright::runtime::vm {

/// Runs a loop and returns the tuple of the carried values after the last iteration, then the collected ones.
///
/// body      is called with the number of the iteration (an int64 tensor without dimensions), the condition,
///           the carried values and the captured ones; returns a tuple of the condition, the carried values
///           and the tensors to collect, which are stacked along a new first axis
/// args      number of carried values, number of collected ones, the most iterations (none: any number),
///           the condition of the first iteration (none: what the body returns as condition is ignored), for
///           each collected value the result if there is no iteration (none: unknown), the carried values,
///           the captured ones
/// function  how messages begin
///
/// Raises UserError if the body returns another number of values, or collected tensors differ in type.
Value run_loop(const Function& body, std::vector<Value> args, const std::string& function);

}  // namespace tilewright::runtime::vm
