// Numbers in fitting units and tables, for people.
#pragma once
#include <string>
#include <vector>

namespace tilewright {

/// "1.23 ms"
std::string seconds_text(double seconds);
/// "12.3 MB" (10^6 bytes)
std::string bytes_text(double num_bytes);
/// "12 %" of 0.12
std::string percent_text(double part);
/// Rows as lines with aligned columns, the first to the left and the others to the right; two blanks between
/// them and `indent` before.
std::string table_text(const std::vector<std::vector<std::string>>& rows, int indent = 0);
}  // namespace tilewright
