#include "tilewright/runtime/time_evaluator.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>

#include "tilewright/runtime/device/accelerator.h"
#include "tilewright/runtime/interrupt.h"
#include "tilewright/support/error.h"

namespace tilewright::runtime {
namespace {

constexpr int64_t kMaxFlushBytes = int64_t{1} << 30;

// Memory that is written to evict everything else from the caches.
class Flusher {
 public:
  explicit Flusher(int64_t num_bytes) : bytes_(static_cast<size_t>(num_bytes)) {}
  void flush() {
    ++value_;
    for (volatile char& byte : bytes_) byte = value_;
  }

 private:
  std::vector<char> bytes_;
  char value_ = 0;
};

// The device beside the CPU that has one of the values; the CPU if there is none.
Device device_of(Args values) {
  for (const Value& value : values) {
    const TensorObject* tensor = value.tensor_object();
    const bool is_there =
        tensor && tensor->dl.device.device_type != kDLCPU && tensor->dl.device.device_type != kDLCUDAHost;
    if (is_there) return Device::from_dlpack(tensor->dl.device);
    if (!value.is(ValueKind::kTuple)) continue;
    if (const Device device = device_of(value.as_tuple()); !device.is_cpu()) return device;
  }
  return Device::cpu();
}

// Calls the function and measures the time, on a device beside the CPU between two of its events.  Between two
// groups of calls nothing is measured, and the program may be interrupted.
class Stopwatch {
 public:
  Stopwatch(const Function& function, Args args) : function_(function), args_(args) {}
  // Calls it once, and finds out which clock it needs: that of the device with an argument, or with the result.
  void warm_up() {
    check_interrupt();
    const auto start = std::chrono::steady_clock::now();
    const Value result = function_.call(args_);
    device_ = device_of(args_);
    if (device_.is_cpu()) device_ = device_of({&result, 1});
    if (!device_.is_cpu()) {
      accelerator_ = &accelerator(device_, "time_evaluator");
      accelerator_->synchronize(device_.id, accelerator_->current_stream(device_.id));
    }
    choose_group(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  // The seconds that `number` calls take.
  double measure(int number) {
    double taken_s = 0;
    while (number > 0) {
      check_interrupt();
      const int count = std::min(number, calls_of_group_);
      const double group_s = time_group(count);
      taken_s += group_s;
      number -= count;
      choose_group(group_s / count);
    }
    return taken_s;
  }

 private:
  void choose_group(double call_s) {
    constexpr double kGroup_s = 0.05;
    calls_of_group_ = static_cast<int>(std::clamp(kGroup_s / std::max(call_s, 1e-9), 1.0, 1e9));
  }
  double time_group(int count) const {
    if (accelerator_) {
      const auto start = accelerator_->record_event(device_.id);
      for (int n = 0; n < count; ++n) function_.call(args_);
      const auto end = accelerator_->record_event(device_.id);
      return accelerator_->seconds_between(device_.id, start.get(), end.get());
    }
    const auto start = std::chrono::steady_clock::now();
    for (int n = 0; n < count; ++n) function_.call(args_);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }

  const Function& function_;
  Args args_;
  Device device_ = Device::cpu();
  const Accelerator* accelerator_ = nullptr;  // null: the clock of the CPU
  int calls_of_group_ = 1;
};

// The number of calls that take about `wanted_s`, if `number` calls took `taken_s`: at most ten times as
// many, because short times mislead.
int next_number(int number, double taken_s, double wanted_s) {
  const double factor = std::clamp(wanted_s / std::max(taken_s, 1e-9) * 1.1, 1.5, 10.0);
  return static_cast<int>(std::min(std::ceil(number * factor), 1e9));
}

TimingResult summarize(std::vector<double> results_s, int number) {
  TimingResult result;
  result.number = number;
  std::vector<double> sorted = results_s;
  std::sort(sorted.begin(), sorted.end());
  const size_t count = sorted.size();
  result.min_s = sorted.front();
  result.max_s = sorted.back();
  result.median_s = count % 2 ? sorted[count / 2] : (sorted[count / 2 - 1] + sorted[count / 2]) / 2;
  result.mean_s = std::accumulate(sorted.begin(), sorted.end(), 0.0) / static_cast<double>(count);
  double squares = 0;
  for (double value : sorted) squares += (value - result.mean_s) * (value - result.mean_s);
  result.std_s = std::sqrt(squares / static_cast<double>(count));
  result.results_s = std::move(results_s);
  return result;
}

}  // namespace

std::string TimingResult::str() const {
  struct Unit {
    double scale;
    const char* name;
  };
  constexpr Unit kUnits[] = {{1, "s"}, {1e3, "ms"}, {1e6, "us"}, {1e9, "ns"}};
  const auto* unit = std::find_if(std::begin(kUnits), std::end(kUnits) - 1,
                                  [&](const Unit& u) { return mean_s * u.scale >= 1; });
  return fmt::format("mean {0:.4f} {5}, median {1:.4f}, min {2:.4f}, max {3:.4f}, std {4:.4f}",
                     mean_s * unit->scale, median_s * unit->scale, min_s * unit->scale, max_s * unit->scale,
                     std_s * unit->scale, unit->name);
}

TimingResult time_evaluator(const Function& function, Args args, const TimingOptions& options) {
  if (options.number < 1 || options.repeat < 1 || options.min_repeat_ms < 0) {
    throw UserError(
        "time_evaluator: number = {}, repeat = {}, min_repeat_ms = {}, expected at least 1, 1 and 0",
        options.number, options.repeat, options.min_repeat_ms);
  }
  if (options.cache_flush_bytes < 0 || options.cache_flush_bytes > kMaxFlushBytes)
    throw UserError("time_evaluator: cache_flush_bytes = {}, expected 0 to {}", options.cache_flush_bytes,
                    kMaxFlushBytes);
  Flusher flusher(options.cache_flush_bytes);
  Stopwatch stopwatch(function, args);
  stopwatch.warm_up();
  std::vector<double> results_s;
  int number = options.number;
  const double wanted_s = options.min_repeat_ms * 1e-3;
  while (results_s.size() < static_cast<size_t>(options.repeat)) {
    flusher.flush();
    const double taken_s = stopwatch.measure(number);
    if (taken_s < wanted_s && number < 1'000'000'000) {
      number = next_number(number, taken_s, wanted_s);
      results_s.clear();  // all measurements must have the same number of calls
    } else {
      results_s.push_back(taken_s / number);
    }
  }
  return summarize(std::move(results_s), number);
}

}  // namespace tilewright::runtime
