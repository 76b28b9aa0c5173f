#include "tilewright/support/base64.h"

#include <cstdint>

#include "tilewright/support/error.h"

namespace tilewright {
namespace {
constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
}

std::string base64_encode(std::string_view bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t at = 0; at < bytes.size(); at += 3) {
    uint32_t group = 0;
    const size_t count = std::min<size_t>(3, bytes.size() - at);
    for (size_t n = 0; n < 3; ++n)
      group = group << 8 | (n < count ? static_cast<unsigned char>(bytes[at + n]) : 0u);
    for (size_t n = 0; n < 4; ++n) text += n <= count ? kDigits[group >> (18 - 6 * n) & 63] : '=';
  }
  return text;
}

std::string base64_decode(std::string_view text) {
  if (text.size() % 4 != 0) throw UserError("base64: {} characters, expected a multiple of 4", text.size());
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3);
  for (size_t at = 0; at < text.size(); at += 4) {
    uint32_t group = 0;
    size_t padding = 0;
    for (size_t n = 0; n < 4; ++n) {
      const char c = text[at + n];
      const size_t digit = kDigits.find(c);
      const bool may_pad = c == '=' && n >= 2 && at + 4 == text.size();
      if ((digit == std::string_view::npos && !may_pad) || (padding && c != '='))
        throw UserError("base64: character {} is not a digit", at + n);
      padding += c == '=';
      group = group << 6 | (c == '=' ? 0u : static_cast<uint32_t>(digit));
    }
    for (size_t n = 0; n < 3 - padding; ++n) bytes += static_cast<char>(group >> (16 - 8 * n) & 255);
  }
  return bytes;
}

}  // namespace tilewright
