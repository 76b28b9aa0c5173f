#include "tilewright/support/near.h"

#include <fmt/ranges.h>

#include <algorithm>

namespace tilewright {
namespace {
// Levenshtein distance, one row at a time.
size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t n = 0; n <= b.size(); ++n) row[n] = n;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t n = 1; n <= b.size(); ++n) {
      const size_t replaced = diagonal + (a[i - 1] != b[n - 1]);
      diagonal = row[n];
      row[n] = std::min({row[n] + 1, row[n - 1] + 1, replaced});
    }
  }
  return row[b.size()];
}
}  // namespace

std::vector<std::string> nearest_names(std::string_view wrong, const std::vector<std::string_view>& names) {
  const size_t limit = std::max<size_t>(2, wrong.size() / 3);
  std::vector<std::pair<size_t, std::string>> near;
  for (std::string_view name : names) {
    const size_t distance = edit_distance(wrong, name);
    // x and y differ in all that they have
    if (distance <= limit && distance < std::max(wrong.size(), name.size()))
      near.emplace_back(distance, name);
  }
  std::sort(near.begin(), near.end());
  std::vector<std::string> result;
  for (size_t n = 0; n < near.size() && n < 3; ++n) result.push_back(near[n].second);
  return result;
}

std::string nearest_names_text(std::string_view wrong, const std::vector<std::string_view>& names) {
  std::vector<std::string> near = nearest_names(wrong, names);
  if (near.size() == 1) return fmt::format("did you mean {}?", near[0]);
  if (near.size() > 1) {
    std::string last = near.back();
    near.pop_back();
    return fmt::format("did you mean {} or {}?", fmt::join(near, ", "), last);
  }
  if (names.empty()) return "there are none";
  if (names.size() == 1) return fmt::format("the only one is {}", names[0]);
  std::vector<std::string_view> shown(names.begin(),
                                      names.begin() + static_cast<long>(std::min<size_t>(names.size(), 12)));
  return fmt::format("the names are {}{}", fmt::join(shown, ", "),
                     names.size() > shown.size() ? ", ..." : "");
}

}  // namespace tilewright
