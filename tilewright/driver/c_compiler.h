// The C compiler of this machine.
#pragma once
#include <string>
#include <vector>

namespace tilewright::driver {

/// The relocatable object that `cc` makes of `source`, position independent, with the options `flags`.
/// Raises UserError if no C compiler is on the PATH, or if it refuses the text (an external function that was
/// given wrong types, an unknown CPU), with its messages.
std::string compile_c(const std::string& source, const std::vector<std::string>& flags);

}  // namespace tilewright::driver
