// Counts with their noun, for messages.
#pragma once
#include <fmt/format.h>

#include <string>
#include <string_view>

namespace tilewright {

/// "1 dimension", "3 dimensions"
template <class Count>
std::string count_text(Count count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

}  // namespace tilewright
