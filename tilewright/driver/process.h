// Running other programs: the linker, the C compiler.
#pragma once
#include <string>
#include <vector>

namespace tilewright::driver {

/// The path of the first of `names` that a folder of PATH has; "" if none has one.
std::string find_program(const std::vector<std::string>& names);
/// Runs `command` (its first word is a path), whose messages go to a file beside `output` meanwhile.
/// Raises UserError, calling it `what`, if it cannot be started or fails; its messages are in the error.
void run_program(const std::string& what, const std::vector<std::string>& command, const std::string& output);

}  // namespace tilewright::driver
