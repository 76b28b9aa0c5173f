// The current error of a thread: how errors cross functions that return -1 instead of raising.
#pragma once
#include <exception>
#include <string>

namespace tilewright::runtime {

/// Makes `error` the current error of this thread.
void set_current_error(std::exception_ptr error) noexcept;
/// The same for (kind, message) as in TilewrightHost::set_error: "InternalError" becomes InternalError,
/// others UserError.
void set_current_error(const char* kind, const char* message) noexcept;
/// The current error of this thread, which it has no more; null if there is none.
std::exception_ptr take_current_error() noexcept;
/// Raises the current error; if there is none, InternalError "{what} failed without saying why".
[[noreturn]] void raise_current_error(const std::string& what);

}  // namespace tilewright::runtime
