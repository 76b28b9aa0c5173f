// Running the system's linker.
#pragma once
#include <string>
#include <vector>

namespace tilewright::driver {

/// Links the object files `objects` into `output`: a shared library, or one relocatable object.
/// Raises Unsupported if neither lld, cc nor ld is there, InternalError with the linker's message if it
/// fails.
void link_shared(const std::vector<std::string>& objects, const std::string& output);
void link_relocatable(const std::vector<std::string>& objects, const std::string& output);

}  // namespace tilewright::driver
