// Explanations as text.
#include <fmt/ranges.h>

#include <algorithm>

#include "tilewright/explain/explain.h"
#include "tilewright/support/error.h"
#include "tilewright/support/near.h"
#include "tilewright/support/units.h"

namespace tilewright::explain {
namespace {

std::string per_second(double count, double seconds) {
  return seconds > 0 ? fmt::format("{:.1f}", count / seconds * 1e-9) : "-";
}

std::string machine_text(const Peaks& peaks) {
  std::string text = fmt::format("peaks of {} {}: {:.1f} GFLOP/s", peaks.num_threads,
                                 peaks.num_threads == 1 ? "thread" : "threads", peaks.flops_per_s * 1e-9);
  for (const Arithmetic each : {Arithmetic::kBfloat16, Arithmetic::kInt8}) {
    if (peaks.of(each) != peaks.flops_per_s)
      text += fmt::format(", {} {:.1f}", name_of(each), peaks.of(each) * 1e-9);
  }
  for (const MemoryLevel& level : peaks.levels)
    text += fmt::format(", {} {:.1f} GB/s", level.name, level.bytes_per_s * 1e-9);
  text += "\n";
  if (!peaks.is_steady)
    text +=
        "others used the machine when its peaks were measured: they may be higher, and are measured again\n";
  return text;
}

std::vector<std::string> row_of(const KernelReport& kernel) {
  const KernelTime& time = kernel.time;
  return {time.name,
          std::to_string(time.num_calls),
          seconds_text(time.seconds),
          percent_text(kernel.share),
          time.flops ? per_second(*time.flops, time.seconds) : "-",
          time.bytes > 0 ? per_second(time.bytes, time.seconds) : "-",
          kernel.vector_use ? percent_text(*kernel.vector_use) : "-",
          kernel.limit.empty() ? "-" : percent_text(kernel.efficiency()),
          kernel.limit.empty() ? "-" : kernel.limit};
}

std::string details_of(const KernelReport& kernel) {
  const KernelTime& time = kernel.time;
  std::string text = fmt::format("{}\n", time.name);
  if (!kernel.nodes.empty()) text += fmt::format("  nodes   {}\n", fmt::join(kernel.nodes, ", "));
  if (!kernel.limit.empty()) {
    text += fmt::format("  work    {:.4g} MFLOP, {} in {}; {:.2f} FLOP a byte\n", *time.flops * 1e-6,
                        bytes_text(time.bytes), kernel.level, *time.flops / time.bytes);
    const bool is_low = kernel.limit == "arithmetic" && kernel.arithmetic != Arithmetic::kVectors;
    text += fmt::format("  limit   {}{}: {} at least, {} of {} is used\n", kernel.limit,
                        is_low ? fmt::format(" of {}", name_of(kernel.arithmetic)) : "",
                        seconds_text(kernel.least_seconds), percent_text(kernel.efficiency()),
                        seconds_text(time.seconds));
  }
  for (size_t n = 0; n < kernel.plans.size(); ++n)
    text += fmt::format("  plan    {}{}\n", kernel.plans[n], n == kernel.plan ? ", which ran" : "");
  for (const schedule::Attempt& attempt : kernel.attempts) {
    if (!attempt.concerns_block()) continue;
    if (attempt.rule == schedule::kAnyRule) {
      text += fmt::format("  rules   none: {}\n", attempt.reason->text);
      continue;
    }
    text += attempt.is_applied() ? fmt::format("  rule    {} on block {}\n", attempt.rule, attempt.block)
                                 : fmt::format("  rule    not {} on block {}: {}\n", attempt.rule,
                                               attempt.block, attempt.reason->text);
  }
  text += "  next    " + kernel.next;
  if (kernel.gain_seconds > 0) text += fmt::format("; that may save {}", seconds_text(kernel.gain_seconds));
  return text + "\n";
}

}  // namespace

std::string to_text(const Explanation& explanation, size_t max_details) {
  std::string text = fmt::format("{}: {} a call\n", explanation.model, seconds_text(explanation.seconds)) +
                     machine_text(explanation.peaks) + "\n";
  std::vector<std::vector<std::string>> rows = {
      {"kernel", "calls", "time", "share", "GFLOP/s", "GB/s", "lanes", "of limit", "limit"}};
  double total = 0;
  for (const KernelReport& kernel : explanation.kernels) {
    rows.push_back(row_of(kernel));
    total += kernel.time.seconds;
  }
  rows.push_back({"between kernels", "", seconds_text(std::max(0.0, explanation.seconds - total))});
  text += table_text(rows);
  for (size_t n = 0; n < std::min(max_details, explanation.kernels.size()); ++n)
    text += "\n" + details_of(explanation.kernels[n]);
  return text;
}

std::string to_text(const KernelReport& kernel, const Peaks& peaks) {
  return machine_text(peaks) + "\n" + details_of(kernel) + "\n" + kernel.trace;
}

std::string to_text(const Explanation& explanation, const std::string& kernel) {
  std::vector<std::string_view> names;
  for (const KernelReport& each : explanation.kernels) {
    if (each.time.name == kernel) return to_text(each, explanation.peaks);
    names.push_back(each.time.name);
  }
  throw UserError("there is no kernel \"{}\"", kernel).help("{}", nearest_names_text(kernel, names));
}

}  // namespace tilewright::explain
