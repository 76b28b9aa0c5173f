#include "tilewright/emulation/work_queue.h"

#include <chrono>
#include <utility>

namespace tilewright::emulation {

int WorkQueue::add_stream(bool waits_for_first) {
  streams_.push_back({waits_for_first, {}});
  return static_cast<int>(streams_.size()) - 1;
}

void WorkQueue::push(int stream, std::function<void()> work) {
  streams_[static_cast<size_t>(stream)].work.push_back({++last_number_, std::move(work)});
}

std::shared_ptr<Point> WorkQueue::push_point(int stream) {
  auto point = std::make_shared<Point>();
  push(stream, [point] {
    point->is_done = true;
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    point->time_ms = std::chrono::duration<double, std::milli>(now).count();
  });
  point->stream = stream;
  point->number = last_number_;
  return point;
}

void WorkQueue::push_wait(int stream, std::shared_ptr<Point> point) {
  push(stream, [this, point = std::move(point)] { run_to(*point); });
}

void WorkQueue::run_one(int stream) {
  Stream& from = streams_[static_cast<size_t>(stream)];
  const Work work = std::move(from.work.front());
  from.work.pop_front();
  if (stream == 0) {
    for (size_t other = 1; other < streams_.size(); ++other) {
      if (streams_[other].waits_for_first) run_until(static_cast<int>(other), work.number);
    }
  } else if (from.waits_for_first) {
    run_until(0, work.number);
  }
  work.run();
}

void WorkQueue::run_until(int stream, uint64_t number) {
  for (;;) {
    const Stream& from = streams_[static_cast<size_t>(stream)];
    if (from.work.empty() || from.work.front().number > number) return;
    run_one(stream);
  }
}

void WorkQueue::run(int stream) { run_until(stream, last_number_); }

// The latest stream first, so that a program that relies on an order for which it has not asked fails.
void WorkQueue::run_all() {
  for (size_t stream = streams_.size(); stream-- > 0;) run(static_cast<int>(stream));
}

void WorkQueue::run_to(const Point& point) {
  if (!point.is_done) run_until(point.stream, point.number);
}

void WorkQueue::clear() {
  for (Stream& stream : streams_) stream.work.clear();
}

}  // namespace tilewright::emulation
