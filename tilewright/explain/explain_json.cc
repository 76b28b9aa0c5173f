// Explanations as JSON.
#include <nlohmann/json.hpp>

#include "tilewright/explain/explain.h"

namespace tilewright::explain {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const Peaks& peaks) {
  Json levels = Json::array();
  for (const MemoryLevel& level : peaks.levels)
    levels.push_back({{"name", level.name}, {"bytes_per_s", level.bytes_per_s}});
  const auto or_null = [](double speed) { return speed > 0 ? Json(speed) : Json(); };
  return {{"threads", peaks.num_threads},
          {"flops_per_s", peaks.flops_per_s},
          {"steady", peaks.is_steady},
          {"bfloat16_per_s", or_null(peaks.bfloat16_per_s)},
          {"int8_per_s", or_null(peaks.int8_per_s)},
          {"levels", levels}};
}

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

Json json_of(const KernelReport& kernel) {
  const KernelTime& time = kernel.time;
  Json attempts = Json::array();
  for (const schedule::Attempt& attempt : kernel.attempts)
    attempts.push_back({{"block", attempt.block},
                        {"rule", attempt.rule},
                        {"applied", attempt.is_applied()},
                        {"reason", attempt.is_applied() ? "" : attempt.reason->text},
                        {"kind", attempt.is_applied() ? "" : name_of(attempt.reason->kind)}});
  const bool is_known = !kernel.limit.empty();
  return {{"name", time.name},
          {"nodes", kernel.nodes},
          {"calls", time.num_calls},
          {"seconds", time.seconds},
          {"share", kernel.share},
          {"flops", or_null(time.flops)},
          {"bytes", time.bytes},
          {"level", is_known ? Json(kernel.level) : Json()},
          {"limit", is_known ? Json(kernel.limit) : Json()},
          {"packed", kernel.is_packed},
          {"parallel", kernel.is_parallel},
          {"arithmetic", name_of(kernel.arithmetic)},
          {"least_seconds", is_known ? Json(kernel.least_seconds) : Json()},
          {"efficiency", is_known ? Json(kernel.efficiency()) : Json()},
          {"vector_use", or_null(kernel.vector_use)},
          {"rules", attempts},
          {"trace", kernel.trace},
          {"plans", kernel.plans},
          {"plan", kernel.plans.empty() ? Json() : Json(kernel.plan)},
          {"next", kernel.next},
          {"gain_seconds", kernel.gain_seconds}};
}

}  // namespace

std::string to_json(const Explanation& explanation) {
  Json kernels = Json::array(), steps = Json::array();
  for (const KernelReport& kernel : explanation.kernels) kernels.push_back(json_of(kernel));
  for (const Step& step : explanation.steps)
    steps.push_back({{"kernel", explanation.kernels[step.kernel].time.name},
                     {"begin", step.begin},
                     {"seconds", step.seconds}});
  const Json all = {{"model", explanation.model},
                    {"seconds", explanation.seconds},
                    {"peaks", json_of(explanation.peaks)},
                    {"kernels", kernels},
                    {"steps", steps}};
  return all.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace tilewright::explain
