#include "tilewright/tune/samples.h"

#include <algorithm>

namespace tilewright::tune {
namespace {

using schedule::ArgValue;
using schedule::ExprRef;
using schedule::Schedule;

ExprRef draw(Schedule& sch, const std::vector<int64_t>& values, const std::vector<double>& likely) {
  return sch.call("sample_categorical", values, likely).expr();
}

}  // namespace

ExprRef sample_count(Schedule& sch, int64_t most, int64_t extent, int64_t rivals) {
  std::vector<int64_t> counts{1};
  for (int64_t power = 2; power <= most; power *= 2) {
    counts.push_back(power);
    if (power / 2 * 3 <= most) counts.push_back(power / 2 * 3);
  }
  if (extent <= most) counts.push_back(extent);
  std::ranges::sort(counts);
  counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
  const auto others = static_cast<double>(counts.size() - 1);
  std::vector<double> likely(counts.size(), 1.0);
  likely[0] = std::max(1.0, others * static_cast<double>(rivals - 2) / 2);
  return draw(sch, counts, likely);
}

ExprRef sample_lanes(Schedule& sch, int64_t most, bool has_choice) {
  if (!has_choice || most == 1) return draw(sch, {most}, {1.0});
  return draw(sch, {most, most / 2}, {3.0, 1.0});
}

ExprRef sample_of(Schedule& sch, const std::vector<int64_t>& values) {
  return draw(sch, values, std::vector<double>(values.size(), 1.0));
}

}  // namespace tilewright::tune
