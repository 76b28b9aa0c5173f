// Fibers: functions that run on one thread of the CPU, one at a time, each with a stack of its own.
#pragma once
#include <cstddef>
#include <functional>
#include <memory>

namespace tilewright::analysis {

/// `count` fibers.  Only one runs at a time: resume(n) runs fiber n until it calls pause() or ends.
class Fibers {
 public:
  explicit Fibers(size_t count);
  ~Fibers();
  Fibers(const Fibers&) = delete;
  Fibers& operator=(const Fibers&) = delete;

  size_t size() const;
  /// Fiber n will call body(n) when it is resumed the next time.  All fibers must have ended, or be new.
  void start(std::function<void(size_t)> body);
  /// Runs fiber n until it pauses or ends.  Throws what its body throws; the fiber has ended then.
  void resume(size_t n);
  bool has_ended(size_t n) const;
  /// Called by a fiber: returns to the caller of resume.
  void pause();
  /// Ends all fibers that wait: pause() throws an exception of its own in them, which nothing may catch for good.
  void cancel();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tilewright::analysis
