// Calls LLVM so that running out of memory, or a fatal error of LLVM, does not end the process.
#pragma once
#include <optional>
#include <type_traits>
#include <utility>

namespace tilewright::codegen {

namespace guarded_detail {
void run(void (*call)(void*), void* body);
}

/// Returns the result of `body`, which calls LLVM.  LLVM is built without exceptions: an exception thrown
/// through its functions leaves its tables in an inconsistent state, and destructors then free memory
/// wrongly. Therefore running out of memory and fatal errors of LLVM leave `body` without running
/// destructors, as llvm::CrashRecoveryContext does, and its memory is lost.  So `body` must own what it
/// changes and take no lock. Raises std::bad_alloc, Unsupported for a fatal error, and the exceptions of
/// `body`.
template <class Body>
std::invoke_result_t<Body> guarded(Body body) {
  using Result = std::invoke_result_t<Body>;
  std::conditional_t<std::is_void_v<Result>, std::optional<int>, std::optional<Result>> result;
  auto call = [&] {
    if constexpr (std::is_void_v<Result>)
      body();
    else
      result.emplace(body());
  };
  guarded_detail::run([](void* self) { (*static_cast<decltype(call)*>(self))(); }, &call);
  if constexpr (!std::is_void_v<Result>) return *std::move(result);
}

}  // namespace tilewright::codegen
