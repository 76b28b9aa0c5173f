// Explanations of kernels on GPUs as text and JSON.
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tilewright/explain/device.h"
#include "tilewright/support/count_text.h"
#include "tilewright/support/error.h"
#include "tilewright/support/near.h"
#include "tilewright/support/units.h"

namespace tilewright::explain {
namespace {

using Json = nlohmann::ordered_json;

std::string peaks_text(const DevicePeaks& peaks) {
  return fmt::format(
      "peaks: {:.1f} TFLOP/s of float32, L2 {:.0f} GB/s, memory {:.0f} GB/s; {} of {} threads\n",
      peaks.flops_per_s * 1e-12, peaks.l2_bytes_per_s * 1e-9, peaks.memory_bytes_per_s * 1e-9,
      count_text(static_cast<size_t>(peaks.num_sms), "multiprocessor"), peaks.max_threads_per_sm);
}

// The least of its kernels.
double occupancy_of(const DeviceReport& kernel) {
  double least = 1;
  for (const Launch& launch : kernel.launches) least = std::min(least, launch.occupancy);
  return least;
}

std::vector<std::string> row_of(const DeviceReport& kernel, bool has_times) {
  const KernelTime& time = kernel.time;
  const bool is_known = !kernel.limit.empty();
  std::vector<std::string> row = {time.name,
                                  std::to_string(time.num_calls),
                                  time.flops ? fmt::format("{:.4g}", *time.flops * 1e-6) : "-",
                                  bytes_text(time.bytes),
                                  is_known ? seconds_text(kernel.least_seconds) : "-",
                                  kernel.is_on_host ? "host"
                                  : is_known        ? kernel.limit
                                                    : "-",
                                  kernel.launches.empty() ? "-" : percent_text(occupancy_of(kernel)),
                                  std::to_string(kernel.findings.size())};
  if (has_times) {
    row.push_back(seconds_text(time.seconds));
    row.push_back(is_known ? percent_text(kernel.least_seconds / time.seconds) : "-");
  }
  return row;
}

std::string launch_text(const Launch& launch) {
  return fmt::format(
      "{}: {} {} of {} threads, {} of shared memory, {}: {} on a multiprocessor, {} of its threads",
      launch.kernel, launch.grid, launch.grid == "1" ? "block" : "blocks", launch.block,
      bytes_text(static_cast<double>(launch.shared_bytes)), launch.registers_text,
      count_text(static_cast<size_t>(launch.blocks_per_sm), "block"), percent_text(launch.occupancy));
}

// `text` with further lines below its first word.
std::string indented(const std::string& text) {
  std::istringstream stream(text);
  std::string result;
  for (std::string line; std::getline(stream, line);)
    result += (result.empty() ? "" : "          ") + line + "\n";
  return result;
}

std::string details_of(const DeviceReport& kernel) {
  const KernelTime& time = kernel.time;
  std::string text = time.name + "\n";
  if (!kernel.nodes.empty()) text += fmt::format("  nodes   {}\n", fmt::join(kernel.nodes, ", "));
  if (!kernel.limit.empty()) {
    text += fmt::format("  work    {:.4g} MFLOP, {}; {:.2f} FLOP a byte\n", *time.flops * 1e-6,
                        bytes_text(time.bytes), *time.flops / time.bytes);
    text += fmt::format("  limit   {}: {} at least", kernel.limit, seconds_text(kernel.least_seconds));
    if (time.seconds > 0)
      text += fmt::format(", {} of {} is used", percent_text(kernel.least_seconds / time.seconds),
                          seconds_text(time.seconds));
    text += kernel.uses_tensor_cores ? "; tensor cores, whose rate is not counted\n" : "\n";
  }
  for (const Launch& launch : kernel.launches) text += "  launch  " + launch_text(launch) + "\n";
  for (const schedule::Attempt& attempt : kernel.attempts) {
    if (!attempt.concerns_block()) continue;
    text += attempt.is_applied() ? fmt::format("  rule    {} on block {}\n", attempt.rule, attempt.block)
                                 : fmt::format("  rule    not {} on block {}: {}\n", attempt.rule,
                                               attempt.block, attempt.reason->text);
  }
  for (const Finding& finding : kernel.findings) text += "  lint    " + indented(finding.text());
  return text + "  next    " + kernel.next + "\n";
}

Json json_of(const Launch& launch) {
  return {{"kernel", launch.kernel},
          {"grid", launch.grid},
          {"block", launch.block},
          {"blocks", launch.blocks > 0 ? Json(launch.blocks) : Json()},
          {"threads", launch.threads},
          {"shared_bytes", launch.shared_bytes},
          {"registers", launch.registers},
          {"registers_text", launch.registers_text},
          {"spilled_bytes", launch.spilled_bytes},
          {"blocks_per_multiprocessor", launch.blocks_per_sm},
          {"occupancy", launch.occupancy}};
}

Json json_of(const DeviceReport& kernel, bool has_times) {
  const KernelTime& time = kernel.time;
  Json launches = Json::array(), findings = Json::array(), rules = Json::array();
  for (const Launch& launch : kernel.launches) launches.push_back(json_of(launch));
  for (const Finding& each : kernel.findings)
    findings.push_back({{"kind", each.kind},
                        {"kernel", each.kernel},
                        {"figure", each.figure},
                        {"message", each.message.text},
                        {"help", each.help}});
  for (const schedule::Attempt& attempt : kernel.attempts)
    rules.push_back({{"block", attempt.block},
                     {"rule", attempt.rule},
                     {"applied", attempt.is_applied()},
                     {"reason", attempt.is_applied() ? "" : attempt.reason->text}});
  const bool is_known = !kernel.limit.empty();
  return {{"name", time.name},
          {"nodes", kernel.nodes},
          {"calls", time.num_calls},
          {"flops", time.flops ? Json(*time.flops) : Json()},
          {"bytes", time.bytes},
          {"limit", is_known ? Json(kernel.limit) : Json()},
          {"least_seconds", is_known ? Json(kernel.least_seconds) : Json()},
          {"seconds", has_times ? Json(time.seconds) : Json()},
          {"host", kernel.is_on_host},
          {"tensor_cores", kernel.uses_tensor_cores},
          {"launches", launches},
          {"findings", findings},
          {"rules", rules},
          {"trace", kernel.trace},
          {"next", kernel.next}};
}

}  // namespace

std::string to_text(const DeviceExplanation& explanation, size_t max_details) {
  const bool has_times = !explanation.device.empty();
  std::string text = has_times ? fmt::format("{} on {}: {} a call\n", explanation.model, explanation.device,
                                             seconds_text(explanation.seconds))
                               : fmt::format("{} for {}: by its description; nothing was measured\n",
                                             explanation.model, explanation.target);
  text += peaks_text(explanation.peaks) + "\n";
  std::vector<std::vector<std::string>> rows = {
      {"kernel", "calls", "MFLOP", "bytes", "at least", "limit", "occupancy", "findings"}};
  if (has_times) rows[0].insert(rows[0].end(), {"time", "of limit"});
  for (const DeviceReport& kernel : explanation.kernels) rows.push_back(row_of(kernel, has_times));
  text += table_text(rows);
  for (size_t n = 0; n < std::min(max_details, explanation.kernels.size()); ++n)
    text += "\n" + details_of(explanation.kernels[n]);
  return text;
}

std::string to_text(const DeviceReport& kernel, const DevicePeaks& peaks) {
  return peaks_text(peaks) + "\n" + details_of(kernel) + "\n" + kernel.trace;
}

std::string to_text(const DeviceExplanation& explanation, const std::string& kernel) {
  std::vector<std::string_view> names;
  for (const DeviceReport& each : explanation.kernels) {
    if (each.time.name == kernel) return to_text(each, explanation.peaks);
    names.push_back(each.time.name);
  }
  throw UserError("there is no kernel \"{}\"", kernel).help("{}", nearest_names_text(kernel, names));
}

std::string to_json(const DeviceExplanation& explanation) {
  const bool has_times = !explanation.device.empty();
  Json kernels = Json::array();
  for (const DeviceReport& kernel : explanation.kernels) kernels.push_back(json_of(kernel, has_times));
  const DevicePeaks& peaks = explanation.peaks;
  const Json all = {{"model", explanation.model},
                    {"target", explanation.target},
                    {"device", has_times ? Json(explanation.device) : Json()},
                    {"seconds", has_times ? Json(explanation.seconds) : Json()},
                    {"peaks",
                     {{"flops_per_s", peaks.flops_per_s},
                      {"l2_bytes_per_s", peaks.l2_bytes_per_s},
                      {"memory_bytes_per_s", peaks.memory_bytes_per_s},
                      {"multiprocessors", peaks.num_sms}}},
                    {"kernels", kernels}};
  return all.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace tilewright::explain
