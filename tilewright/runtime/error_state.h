// The current error of a thread: lets errors cross functions that return -1 instead of raising.
#pragma once
#include <exception>
#include <string>

namespace tilewright::runtime {

/// Makes `error` the current error of this thread.
void set_current_error(std::exception_ptr error) noexcept;
/// The same for (kind, message) as in TilewrightHost::set_error: kind "InternalError" becomes an
/// InternalError, any other a UserError.
void set_current_error(const char* kind, const char* message) noexcept;
/// Returns the current error of this thread and clears it; null if there is none.
std::exception_ptr take_current_error() noexcept;
/// Raises the current error; if there is none, an InternalError "{what} failed without saying why".
[[noreturn]] void raise_current_error(const std::string& what);

}  // namespace tilewright::runtime
