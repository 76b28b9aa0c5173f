// Runs the system's linker.
#pragma once
#include <string>
#include <vector>

namespace tilewright::driver {

/// Links the object files `objects` into `output`: a shared library, or one relocatable object.
/// Raises Unsupported if none of lld, cc and ld is found, InternalError with the linker's message if it
/// fails.
void link_shared(const std::vector<std::string>& objects, const std::string& output);
void link_relocatable(const std::vector<std::string>& objects, const std::string& output);

}  // namespace tilewright::driver
