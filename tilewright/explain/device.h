// Why the kernels of a model take as long as they do on a GPU: by its description, without one, and by times where there
// is one.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "tilewright/driver/build_graph.h"
#include "tilewright/explain/launches.h"
#include "tilewright/explain/lint.h"
#include "tilewright/explain/profile.h"
#include "tilewright/schedule/schedule.h"

namespace tilewright::explain {

/// How fast a GPU can be at most: rates per cycle of its description, and its clock.
struct DevicePeaks {
  double flops_per_s = 0;  // of float32; a multiplication and an addition are two
  double l2_bytes_per_s = 0, memory_bytes_per_s = 0;
  int64_t l2_bytes = 0;
  int64_t num_sms = 0, max_threads_per_sm = 0;
};
DevicePeaks peaks_of_gpu(const ir::Target& target);

/// One function of loops, which is one or several kernels of the GPU.
struct DeviceReport {
  KernelTime time;                 // seconds are 0 where nothing was measured
  double least_seconds = 0;        // that arithmetic and bandwidth allow; 0: unknown
  std::string limit;               // "arithmetic", "L2 bandwidth", "memory bandwidth"; "" unknown
  bool is_on_host = false;         // it has no kernel
  bool uses_tensor_cores = false;  // whose rate is not described
  std::vector<Launch> launches;
  std::vector<Finding> findings;
  std::vector<schedule::Attempt> attempts;  // rules, in order
  std::string trace;                        // the steps of its schedule, a line each
  std::vector<std::string> nodes;           // of a model file that it computes, by their names
  std::string next;                         // what to try
};

struct DeviceExplanation {
  std::string model, target;
  std::string device;  // its name; "" if nothing was measured
  double seconds = 0;  // the median of a call
  DevicePeaks peaks;
  std::vector<DeviceReport> kernels;  // the most expensive first
};

/// What follows from the description of `target`, a GPU: no device is needed.
///
/// name   what texts call the model
/// sizes  of open dimensions by their names
DeviceExplanation explain_for_gpu(const driver::Executable& compiled, const ir::Target& target,
                                  std::string name, const Sizes& sizes, const RegisterSource& registers);
/// Adds what calls of "main" of `machine`, which is on a device, take, measured for about `max_seconds`.
void add_times(DeviceExplanation* explanation, const driver::Executable& compiled,
               const runtime::vm::VirtualMachine& machine, const std::vector<runtime::Value>& inputs,
               double max_seconds = 1);

/// Of function `name` of a schedule; if no step was done, rules schedule it.
DeviceReport explain_for_gpu(const schedule::Schedule& sch, const std::string& name, const ir::Target& target,
                             const RegisterSource& registers = {});

/// A table of the kernels, then of the most expensive ones what limits them and what to try.
std::string to_text(const DeviceExplanation& explanation, size_t max_details = 5);
/// All of one kernel, with its trace.
std::string to_text(const DeviceReport& kernel, const DevicePeaks& peaks);
/// Raises UserError if there is none of that name.
std::string to_text(const DeviceExplanation& explanation, const std::string& kernel);
std::string to_json(const DeviceExplanation& explanation);

}  // namespace tilewright::explain
