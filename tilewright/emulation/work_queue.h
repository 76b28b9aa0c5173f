// The streams of the emulated GPU. Work is queued and runs only when somebody waits for it, as late as the rules of
// CUDA's streams allow: what a program forgets to wait for is not done.
#pragma once
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

namespace tilewright::emulation {

/// A point in a stream: that of an event when it was recorded.
struct Point {
  int stream = 0;
  uint64_t number = 0;
  bool is_done = false;
  double time_ms = 0;
};

/// The streams of one context. Number 0 is the one that a context begins with: its work waits for what was queued
/// before in the others, and theirs for its, but for streams that were made with the flag that says not to.
class WorkQueue {
 public:
  WorkQueue() : streams_(1) {}
  int add_stream(bool waits_for_first);
  bool has_stream(int stream) const { return stream >= 0 && stream < static_cast<int>(streams_.size()); }
  void push(int stream, std::function<void()> work);
  std::shared_ptr<Point> push_point(int stream);
  /// What is queued in `stream` from now on waits for the point.
  void push_wait(int stream, std::shared_ptr<Point> point);

  void run(int stream);
  void run_all();
  void run_to(const Point& point);
  /// Forgets all work.
  void clear();

 private:
  struct Work {
    uint64_t number;
    std::function<void()> run;
  };
  struct Stream {
    bool waits_for_first = true;
    std::deque<Work> work;
  };
  void run_until(int stream, uint64_t number);
  void run_one(int stream);

  std::vector<Stream> streams_;
  uint64_t last_number_ = 0;  // of the work that was queued last, in whichever stream
};

}  // namespace tilewright::emulation
