// The time of each kernel of a model, measured call by call.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "tilewright/ir/module.h"
#include "tilewright/runtime/vm/virtual_machine.h"

namespace tilewright::explain {

/// The part of one kernel in a call of the function.
struct KernelTime {
  std::string name;
  int64_t num_calls = 0;            // in one call of the function
  double seconds = 0;               // the median over calls of the function
  std::optional<double> flops = 0;  // of one call of the function; nothing if unknown
  double bytes = 0;                 // of the tensors it was given, in one call of the function; each once
  double weight_bytes = 0;          // those of them that are constants of the model
};

/// One call of a kernel in the last call of the function.
struct Step {
  size_t kernel = 0;  // in Profile::kernels
  double begin = 0;   // seconds since the function was called
  double seconds = 0;
};

struct Profile {
  std::vector<KernelTime> kernels;  // the most expensive first
  std::vector<Step> steps;          // in order
};

/// Calls "main" of `machine` `rounds` times, at least once, and watches.  On a device, a kernel's time is between two events
/// of the device around its launches.
///
/// module  the loop programs that were compiled, to count what they do; null: what the executable notes
/// counts
Profile profile(const runtime::vm::VirtualMachine& machine, const ir::IRModule& module,
                const std::vector<runtime::Value>& inputs, size_t rounds);

/// The accelerator that `machine` uses, the first of several; the CPU if it uses none.
runtime::Device device_of(const runtime::vm::VirtualMachine& machine);
/// Waits until the device of `machine` has done what is queued; nothing for the CPU.
void wait_for_device(const runtime::vm::VirtualMachine& machine);

/// Seconds of calls of "main" until their results are there, for about `max_seconds`.
std::vector<double> time_calls(const runtime::vm::VirtualMachine& machine,
                               const std::vector<runtime::Value>& inputs, double max_seconds);

/// The middle one, of two the greater.
double median(std::vector<double> values);

/// Bytes of the tensors that a kernel is given, read and written.
double bytes_of(const runtime::vm::CallRecord& record);

}  // namespace tilewright::explain
