// Quantities in readable units, and tables, for people.
#pragma once
#include <string>
#include <vector>

namespace tilewright {

/// "1.23 ms"
std::string seconds_text(double seconds);
/// "12.3 MB" (10^6 bytes)
std::string bytes_text(double num_bytes);
/// "12 %" for 0.12
std::string percent_text(double part);
/// The rows as lines with aligned columns, the first left-aligned and the others right-aligned, two blanks
/// between columns and `indent` blanks before each line.
std::string table_text(const std::vector<std::vector<std::string>>& rows, int indent = 0);
}  // namespace tilewright
