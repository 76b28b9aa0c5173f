// Undoes something at the end of a scope, also if an exception leaves it.
#pragma once
#include <utility>

namespace tilewright {

/// Calls `close` when it is destroyed: `const Finally close([&] { ... });`
template <class Close>
class Finally {
 public:
  explicit Finally(Close close) : close_(std::move(close)) {}
  Finally(const Finally&) = delete;
  Finally& operator=(const Finally&) = delete;
  ~Finally() { close_(); }

 private:
  Close close_;
};

}  // namespace tilewright
