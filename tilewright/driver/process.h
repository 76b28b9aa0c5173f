// Runs other programs: the linker, the C compiler.
#pragma once
#include <string>
#include <vector>

namespace tilewright::driver {

/// The path of the first of `names` that is in a folder of PATH; "" if there is none.
std::string find_program(const std::vector<std::string>& names);
/// Runs `command`, whose first word is a path; its messages go to a temporary file beside `output`, and are returned.
/// Raises UserError with these messages, which calls the program `what`, if it cannot be started or fails.
std::string run_program(const std::string& what, const std::vector<std::string>& command,
                        const std::string& output);

}  // namespace tilewright::driver
