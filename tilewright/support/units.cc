#include "tilewright/support/units.h"

#include <fmt/format.h>

#include <algorithm>

namespace tilewright {

std::string seconds_text(double seconds) {
  if (seconds < 1e-3) return fmt::format("{:.1f} us", seconds * 1e6);
  if (seconds < 1) return fmt::format("{:.2f} ms", seconds * 1e3);
  return fmt::format("{:.2f} s", seconds);
}

std::string bytes_text(double num_bytes) {
  if (num_bytes < 1e3) return fmt::format("{:.0f} B", num_bytes);
  if (num_bytes < 1e6) return fmt::format("{:.1f} kB", num_bytes / 1e3);
  if (num_bytes < 1e9) return fmt::format("{:.1f} MB", num_bytes / 1e6);
  return fmt::format("{:.2f} GB", num_bytes / 1e9);
}

std::string percent_text(double part) { return fmt::format("{:.0f} %", part * 100); }

std::string table_text(const std::vector<std::vector<std::string>>& rows, int indent) {
  std::vector<size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t column = 0; column < row.size(); ++column)
      widths[column] = std::max(widths[column], row[column].size());
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line(static_cast<size_t>(indent), ' ');
    for (size_t column = 0; column < row.size(); ++column)
      line += column == 0 ? fmt::format("{:<{}}", row[0], widths[0])
                          : fmt::format("  {:>{}}", row[column], widths[column]);
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

}  // namespace tilewright
