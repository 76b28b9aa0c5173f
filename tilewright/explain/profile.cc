#include "tilewright/explain/profile.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <mutex>
#include <set>

#include "tilewright/analysis/flops.h"
#include "tilewright/relax/graph/function_names.h"
#include "tilewright/runtime/device/accelerator.h"
#include "tilewright/tir/tir.h"

namespace tilewright::explain {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// Counts the FLOPs of calls: from the loop programs if they are there, else what the library's notes say.
class FlopCounter {
 public:
  FlopCounter(const runtime::vm::Executable& executable, const ir::IRModule& module)
      : executable_(executable) {
    if (!module) return;
    for (size_t n = 0; n < module->functions.size(); ++n) {
      const auto func = ir::ref_as<tir::PrimFuncNode>(module->functions[n]);
      if (func) functions_[relax::kernel_symbol(module, module->global_vars[n]->name_hint)] = func;
    }
  }

  /// The loop program of a kernel, or null.
  tir::PrimFunc program_of(const runtime::vm::CallRecord& record) const {
    const auto func = functions_.find(record.callee);
    return func == functions_.end() ? tir::PrimFunc() : func->second;
  }

  std::optional<int64_t> flops(const runtime::vm::CallRecord& record) const {
    const auto func = functions_.find(record.callee);
    if (func != functions_.end()) return count(func->second, record.args);
    return count(std::string(executable_.note(fmt::format("flops.{}", record.callee))), record.args);
  }

 private:
  // Symbolic sizes are those of the call's tensors, or integers that it was given.
  static std::optional<int64_t> count(const tir::PrimFunc& func, std::span<const TilewrightAny> args) {
    std::map<const tir::VarNode*, int64_t> sizes;
    for (size_t n = 0; n < std::min(args.size(), func->params.size()); ++n) {
      const tir::Buffer& buffer = func->buffers[n];
      if (!buffer) {
        if (args[n].type_index == kTilewrightInt) sizes[func->params[n].get()] = args[n].v_int64;
        continue;
      }
      if (args[n].type_index != kTilewrightDLTensor) continue;
      const auto* tensor = static_cast<const DLTensor*>(args[n].v_ptr);
      for (size_t axis = 0; axis < buffer->shape.size() && axis < static_cast<size_t>(tensor->ndim); ++axis) {
        if (const auto* var = buffer->shape[axis].as<tir::VarNode>()) sizes[var] = tensor->shape[axis];
      }
    }
    return analysis::count_flops(func, [&](const tir::VarNode* var) -> std::optional<int64_t> {
      const auto found = sizes.find(var);
      return found == sizes.end() ? std::nullopt : std::optional(found->second);
    });
  }

  // A note of driver/build_graph.cc: "1024", or "1024 * 0.1 + 5", where 0.1 is dimension 1 of argument 0.
  static std::optional<int64_t> count(const std::string& note, std::span<const TilewrightAny> args) {
    int64_t number = 0, rest = 0;
    size_t param = 0, axis = 0;
    const int num_read = std::sscanf(note.c_str(), "%ld * %zu.%zu + %ld", &number, &param, &axis, &rest);
    if (num_read == 1) return number;
    if (num_read != 4 || param >= args.size() || args[param].type_index != kTilewrightDLTensor) return {};
    const auto* tensor = static_cast<const DLTensor*>(args[param].v_ptr);
    int64_t result = 0;
    if (axis >= static_cast<size_t>(tensor->ndim) ||
        __builtin_mul_overflow(number, tensor->shape[axis], &result) ||
        __builtin_add_overflow(result, rest, &result))
      return {};
    return result;
  }

  const runtime::vm::Executable& executable_;
  std::map<std::string, tir::PrimFunc, std::less<>> functions_;
};

/// A tensor that a kernel is given as argument `place`.
struct Argument {
  size_t place;
  const DLTensor* tensor;
};

// The tensors that a kernel is given, each memory once.
std::vector<Argument> tensors_of(const runtime::vm::CallRecord& record) {
  std::vector<Argument> tensors;
  for (size_t n = 0; n < record.args.size(); ++n) {
    if (record.args[n].type_index != kTilewrightDLTensor) continue;
    const auto* tensor = static_cast<const DLTensor*>(record.args[n].v_ptr);
    const bool is_known = std::any_of(tensors.begin(), tensors.end(), [&](const Argument& other) {
      return other.tensor->data == tensor->data;
    });
    if (!is_known) tensors.push_back({n, tensor});
  }
  return tensors;
}

// How much of argument `place` the program is given: less than all if it sees parts of it alone.
double share_of(const tir::PrimFunc& func, size_t place) {
  const auto* realize = func ? func->body.as<tir::BlockRealizeNode>() : nullptr;
  if (!realize || place >= func->buffers.size()) return 1;
  double share = 0;
  for (const tir::MatchBufferRegion& view : realize->block->match_buffers) {
    if (view->source->buffer != func->buffers[place]) continue;
    double of_view = 1;
    for (size_t axis = 0; axis < view->source->region.size(); ++axis) {
      const auto* part = view->source->region[axis]->extent.as<ir::IntImmNode>();
      const auto* whole = view->source->buffer->shape[axis].as<ir::IntImmNode>();
      if (part && whole && whole->value > 0)
        of_view *= static_cast<double>(part->value) / static_cast<double>(whole->value);
    }
    share += of_view;
  }
  return share == 0 ? 1 : std::min(share, 1.0);
}

double bytes_of(const DLTensor& tensor) {
  double count = (tensor.dtype.bits * tensor.dtype.lanes + 7) / 8;
  for (int axis = 0; axis < tensor.ndim; ++axis) count *= static_cast<double>(tensor.shape[axis]);
  return count;
}

/// The calls of one kernel.
struct Seen {
  KernelTime kernel;
  std::vector<double> seconds_of_round;
};

/// Two points in the work of a device, before and after what a call queued.
struct Interval {
  std::string callee;
  std::shared_ptr<void> begin, end;
};

/// Watches calls; packed functions may call the machine from threads of their own.
class Watcher {
 public:
  /// device  where kernels run
  Watcher(const FlopCounter& counter, const runtime::vm::Executable& executable, runtime::Device device,
          size_t rounds)
      : counter_(counter), device_(device), rounds_(rounds) {
    if (!device.is_cpu()) accelerator_ = &runtime::accelerator(device, "profile");
    for (const runtime::Tensor& constant : executable.constants) weights_.insert(constant.data());
  }

  void begin_round(size_t round) {
    round_ = round;
    begin_ = Clock::now();
    if (accelerator_) start_ = accelerator_->record_event(device_.id);
  }

  /// Before a call on a device.
  void begin_call() {
    const std::lock_guard lock(mutex_);
    call_ = accelerator_->record_event(device_.id);
  }

  void see(const runtime::vm::CallRecord& record) {
    const std::lock_guard lock(mutex_);
    const double seconds = static_cast<double>(record.duration_ns) * 1e-9;
    if (accelerator_)
      intervals_.push_back({std::string(record.callee), call_, accelerator_->record_event(device_.id)});
    else
      add_time(std::string(record.callee), std::max(0.0, seconds_since(begin_) - seconds), seconds);
    if (round_ > 0) return;
    Seen& seen = seen_[std::string(record.callee)];
    KernelTime& kernel = seen.kernel;
    ++kernel.num_calls;
    const tir::PrimFunc program = counter_.program_of(record);
    for (const auto& [place, tensor] : tensors_of(record)) {
      kernel.bytes += bytes_of(*tensor) * share_of(program, place);
      if (weights_.contains(tensor->data)) kernel.weight_bytes += bytes_of(*tensor);
    }
    const std::optional<int64_t> flops = counter_.flops(record);
    kernel.flops =
        flops && kernel.flops ? std::optional(*kernel.flops + static_cast<double>(*flops)) : std::nullopt;
  }

  /// Takes the times of a device, which are known when its work is done.
  void end_round() {
    for (const Interval& each : intervals_) {
      const double begin = accelerator_->seconds_between(device_.id, start_.get(), each.begin.get());
      add_time(each.callee, begin,
               accelerator_->seconds_between(device_.id, each.begin.get(), each.end.get()));
    }
    intervals_.clear();
  }

  Profile result() {
    Profile profile;
    for (auto& [name, seen] : seen_) {
      seen.kernel.name = name;
      seen.kernel.seconds = median(std::move(seen.seconds_of_round));
      profile.kernels.push_back(seen.kernel);
    }
    std::sort(profile.kernels.begin(), profile.kernels.end(), [](const KernelTime& a, const KernelTime& b) {
      return std::tie(b.seconds, a.name) < std::tie(a.seconds, b.name);
    });
    std::map<std::string_view, size_t> places;
    for (size_t n = 0; n < profile.kernels.size(); ++n) places[profile.kernels[n].name] = n;
    for (auto& [callee, step] : steps_) {
      step.kernel = places[callee];
      profile.steps.push_back(step);
    }
    return profile;
  }

 private:
  void add_time(const std::string& callee, double begin, double seconds) {
    Seen& seen = seen_[callee];
    seen.seconds_of_round.resize(rounds_);
    seen.seconds_of_round[round_] += seconds;
    if (round_ + 1 == rounds_) steps_.emplace_back(callee, Step{0, begin, seconds});
  }

  const FlopCounter& counter_;
  const runtime::Device device_;
  const runtime::Accelerator* accelerator_ = nullptr;  // null: the CPU
  std::shared_ptr<void> start_, call_;                 // events of the round, and of the call that runs
  std::vector<Interval> intervals_;                    // of the round
  std::set<const void*> weights_;
  size_t rounds_, round_ = 0;
  Clock::time_point begin_ = {};
  std::mutex mutex_;
  std::map<std::string, Seen, std::less<>> seen_;
  std::vector<std::pair<std::string, Step>> steps_;
};

/// Lets a watcher see the calls of a machine while it lives.
class Watched {
 public:
  Watched(const runtime::vm::VirtualMachine& machine, Watcher* watcher) : machine_(machine) {
    machine.set_profiler([watcher](const runtime::vm::CallRecord& record) { watcher->see(record); });
    if (device_of(machine).is_cpu()) return;
    runtime::vm::Instrument instrument;
    instrument.before = [watcher](const runtime::Function&, std::string_view, runtime::Args) {
      watcher->begin_call();
      return true;
    };
    machine.set_instrument(std::move(instrument));
  }
  Watched(const Watched&) = delete;
  Watched& operator=(const Watched&) = delete;
  ~Watched() {
    machine_.set_profiler(nullptr);
    if (!device_of(machine_).is_cpu()) machine_.set_instrument({});
  }

 private:
  const runtime::vm::VirtualMachine& machine_;
};

}  // namespace

runtime::Device device_of(const runtime::vm::VirtualMachine& machine) {
  const std::vector<runtime::Device>& devices = machine.devices();
  const auto found =
      std::ranges::find_if(devices, [](const runtime::Device& each) { return !each.is_cpu(); });
  return found == devices.end() ? runtime::Device::cpu() : *found;
}

void wait_for_device(const runtime::vm::VirtualMachine& machine) {
  const runtime::Device device = device_of(machine);
  if (device.is_cpu()) return;
  const runtime::Accelerator& accelerator = runtime::accelerator(device, "profile");
  accelerator.synchronize(device.id, accelerator.current_stream(device.id));
}

std::vector<double> time_calls(const runtime::vm::VirtualMachine& machine,
                               const std::vector<runtime::Value>& inputs, double max_seconds) {
  constexpr size_t kLeast = 3, kMost = 1000;
  (void)machine.invoke("main", inputs);  // memory of a first call
  wait_for_device(machine);
  std::vector<double> seconds;
  double total = 0;
  while (seconds.size() < kLeast || (seconds.size() < kMost && total < max_seconds)) {
    const Clock::time_point begin = Clock::now();
    const runtime::Value result = machine.invoke("main", inputs);
    wait_for_device(machine);
    seconds.push_back(seconds_since(begin));
    total += seconds.back();
  }
  return seconds;
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

double bytes_of(const runtime::vm::CallRecord& record) {
  double bytes = 0;
  for (const Argument& argument : tensors_of(record)) bytes += bytes_of(*argument.tensor);
  return bytes;
}

Profile profile(const runtime::vm::VirtualMachine& machine, const ir::IRModule& module,
                const std::vector<runtime::Value>& inputs, size_t rounds) {
  const FlopCounter counter(machine.executable(), module);
  Watcher watcher(counter, machine.executable(), device_of(machine), rounds);
  const Watched watched(machine, &watcher);
  for (size_t round = 0; round < rounds; ++round) {
    watcher.begin_round(round);
    (void)machine.invoke("main", inputs);
    watcher.end_round();
  }
  return watcher.result();
}

}  // namespace tilewright::explain
