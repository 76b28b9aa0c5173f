#include "tilewright/runtime/error_state.h"

#include <string_view>
#include <utility>

#include "tilewright/support/error.h"

namespace tilewright::runtime {
namespace {
// thread_local because the C convention requires it: a function returns -1 and the message is kept per thread
thread_local std::exception_ptr current_error;
}  // namespace

void set_current_error(std::exception_ptr error) noexcept { current_error = std::move(error); }

void set_current_error(const char* kind, const char* message) noexcept {
  try {
    const std::string_view text = message ? message : "";
    if (kind && std::string_view(kind) == "InternalError") {
      current_error = std::make_exception_ptr(InternalError("{}", text));
    } else {
      current_error = std::make_exception_ptr(UserError("{}", text));
    }
  } catch (...) {
    current_error = std::current_exception();
  }
}

std::exception_ptr take_current_error() noexcept { return std::exchange(current_error, nullptr); }

void raise_current_error(const std::string& what) {
  if (std::exception_ptr error = take_current_error()) std::rethrow_exception(error);
  throw InternalError("{} failed without saying why", what);
}

}  // namespace tilewright::runtime
