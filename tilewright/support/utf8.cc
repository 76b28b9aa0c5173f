#include "tilewright/support/utf8.h"

#include <fmt/format.h>

namespace tilewright {

Character first_character(std::string_view text) {
  const auto byte = [&](size_t n) { return static_cast<uint8_t>(text[n]); };
  const uint8_t first = byte(0);
  const size_t length = first < 0x80       ? 1
                        : first >> 5 == 6  ? 2
                        : first >> 4 == 14 ? 3
                        : first >> 3 == 30 ? 4
                                           : 0;
  if (length == 1) return {first, 1};
  if (length == 0 || text.size() < length) return {};
  uint32_t code = first & (0x7fu >> length);
  for (size_t n = 1; n < length; ++n) {
    if (byte(n) >> 6 != 2) return {};
    code = code << 6 | (byte(n) & 0x3f);
  }
  constexpr uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool is_surrogate = code >= 0xd800 && code < 0xe000;
  if (code < kLeast[length] || code > 0x10ffff || is_surrogate) return {};
  return {code, length};
}

void append_character(std::string& text, uint32_t code) {
  if (code < 0x80) {
    text += static_cast<char>(code);
    return;
  }
  const int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;  // bytes after the first
  text += static_cast<char>((0xff00u >> (more + 1) & 0xff) | code >> 6 * more);
  for (int n = more; n-- > 0;) text += static_cast<char>(0x80 | (code >> 6 * n & 0x3f));
}

size_t utf8_fault(std::string_view text) {
  size_t at = 0;
  while (at < text.size()) {
    const size_t length = first_character(text.substr(at)).length;
    if (length == 0) return at;
    at += length;
  }
  return std::string_view::npos;
}

bool is_utf8(std::string_view text) { return utf8_fault(text) == std::string_view::npos; }

std::string printable(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const size_t length = first_character(text).length;
    if (length == 0)
      result += fmt::format("\\x{:02x}", static_cast<uint8_t>(text[0]));
    else
      result += text.substr(0, length);
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return result;
}

}  // namespace tilewright
