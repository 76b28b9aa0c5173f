// Why a model takes as long as it does: each kernel against what the machine could do, and what to try next.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "tilewright/driver/build_graph.h"
#include "tilewright/explain/peaks.h"
#include "tilewright/explain/profile.h"
#include "tilewright/schedule/schedule.h"

namespace tilewright::explain {

/// One kernel.  Numbers are of all its calls in one call of the model.
struct KernelReport {
  KernelTime time;
  double share = 0;          // of the model's time, 0 to 1
  bool is_packed = false;    // a function that this compiler has not made: nothing is known of its inside
  bool is_parallel = false;  // it has a loop that threads share
  std::string level;         // the memory level that holds what a call of it reads and writes
  std::string limit;         // what bounds it: "arithmetic", or "L2 bandwidth" and the like; "" unknown
  Arithmetic arithmetic = Arithmetic::kVectors;  // what its multiplications use
  double least_seconds = 0;                      // that arithmetic and bandwidth allow; 0: unknown
  std::optional<double> vector_use;  // the part of the lanes of vector instructions that does work, 0 to 1
  std::vector<schedule::Attempt> attempts;  // rules, in order
  std::string trace;                        // the steps of its schedule, a line each
  std::vector<std::string> nodes;           // of a model file that it computes, by their names
  std::vector<std::string> plans;           // a line each, if it has several, between which extents choose
  size_t plan = 0;                          // the one that the call ran, which all else is about
  std::string next;                         // what to try
  double gain_seconds = 0;                  // what that may save

  /// least_seconds over the time it takes; 0: unknown.
  double efficiency() const { return time.seconds > 0 ? least_seconds / time.seconds : 0; }
};

struct Explanation {
  std::string model;
  double seconds = 0;  // the median of a call
  Peaks peaks;
  std::vector<KernelReport> kernels;  // the most expensive first
  std::vector<Step> steps;            // of one call, in order; Step::kernel counts in `kernels`
};

/// `peaks`, as high as the kernels have been: who exceeds one shows that the machine can do more.  A kernel
/// that seems to do much more does less than is counted, as one that reads some rows of a table; it raises
/// nothing.
Peaks raised(Peaks peaks, const std::vector<KernelReport>& kernels);

/// Finds what limits the kernel, of whose times and work all is known, and what to try.
///
/// vector_bytes  of the machine
void judge(KernelReport& kernel, const Peaks& peaks, int64_t vector_bytes);

/// Calls "main" of the compiled model with `inputs` for about `max_seconds`, at least three times.
///
/// name  what texts call it
Explanation explain(const driver::Executable& compiled, const std::vector<runtime::Value>& inputs,
                    const Peaks& peaks, std::string name, double max_seconds = 1);

/// The same of function `name` of a schedule, called with made-up numbers; if no step was done, rules
/// schedule it.  Raises UserError for a parameter whose size is not known, Unsupported for one that is no
/// buffer.
KernelReport explain(const schedule::Schedule& sch, const std::string& name, const ir::Target& target,
                     const Peaks& peaks);

/// Lines for a terminal: a table of the kernels, then of the most expensive ones what limits them and what to
/// try.
///
/// max_details  how many of them
std::string to_text(const Explanation& explanation, size_t max_details = 5);
/// All of one kernel, with its trace.
std::string to_text(const KernelReport& kernel, const Peaks& peaks);
/// Raises UserError if there is none of that name.
std::string to_text(const Explanation& explanation, const std::string& kernel);
/// All of it; seconds, bytes and operations are numbers.
std::string to_json(const Explanation& explanation);
/// One page that needs nothing else: a roofline plot, the time line of a call, each kernel with its trace.
std::string to_html(const Explanation& explanation);

}  // namespace tilewright::explain
