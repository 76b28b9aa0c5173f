#include "tilewright/support/utf8.h"

#include <fmt/format.h>

#include <cstdint>

namespace tilewright {
namespace {

// The number of bytes of the character at the beginning of `text`; 0 if there is no valid one.
size_t character_length(std::string_view text) {
  const auto byte = [&](size_t n) { return static_cast<uint8_t>(text[n]); };
  const uint8_t first = byte(0);
  const size_t length = first < 0x80       ? 1
                        : first >> 5 == 6  ? 2
                        : first >> 4 == 14 ? 3
                        : first >> 3 == 30 ? 4
                                           : 0;
  if (length <= 1 || text.size() < length) return length == 1 ? 1 : 0;
  uint32_t code = first & (0x7fu >> length);
  for (size_t n = 1; n < length; ++n) {
    if (byte(n) >> 6 != 2) return 0;
    code = code << 6 | (byte(n) & 0x3f);
  }
  constexpr uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool is_surrogate = code >= 0xd800 && code < 0xe000;
  return code >= kLeast[length] && code <= 0x10ffff && !is_surrogate ? length : 0;
}

}  // namespace

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const size_t length = character_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string printable(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const size_t length = character_length(text);
    if (length == 0)
      result += fmt::format("\\x{:02x}", static_cast<uint8_t>(text[0]));
    else
      result += text.substr(0, length);
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return result;
}

}  // namespace tilewright
