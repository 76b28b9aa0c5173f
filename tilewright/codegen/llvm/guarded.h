// Calls of LLVM that memory may run out in.
#pragma once
#include <optional>
#include <type_traits>
#include <utility>

namespace tilewright::codegen {

namespace guarded_detail {
void run(void (*call)(void*), void* body);
}

/// What `body`, which calls LLVM, gives.  LLVM is built without exceptions: thrown through its functions they
/// leave its tables half changed, and destructors then free what is none of theirs.  Memory that runs out,
/// and what LLVM calls a fatal error, therefore end `body` without a destructor, as
/// llvm::CrashRecoveryContext does; what it held is lost.  So `body` owns what it changes and takes no lock.
/// Raises std::bad_alloc, Unsupported for a fatal error, and what `body` throws.
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
