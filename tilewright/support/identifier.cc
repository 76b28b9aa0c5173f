#include "tilewright/support/identifier.h"

#include <algorithm>
#include <array>

namespace tilewright {
namespace {

constexpr std::array<std::string_view, 37> kKeywords = {
    "False",    "None",   "True",  "and",  "as",     "assert",   "async",   "await", "break", "class",
    "continue", "def",    "del",   "elif", "else",   "except",   "finally", "for",   "from",  "global",
    "if",       "import", "in",    "is",   "lambda", "nonlocal", "not",     "or",    "pass",  "raise",
    "return",   "try",    "while", "with", "yield",  "range",    "cls"};

// Letters of other alphabets are kept: Python's names have them, too.
bool is_letter_part(char c) { return static_cast<unsigned char>(c) >= 0x80; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
// How many bytes follow the first one of a character in UTF-8; -1: none begins with it.
int num_following(char first) {
  const auto byte = static_cast<unsigned char>(first);
  if (byte < 0x80) return 0;
  if (byte >= 0xC2 && byte < 0xE0) return 1;
  if (byte >= 0xE0 && byte < 0xF0) return 2;
  return byte >= 0xF0 && byte < 0xF5 ? 3 : -1;
}
bool is_utf8(std::string_view text) {
  for (size_t n = 0; n < text.size(); ++n) {
    for (int left = num_following(text[n]); left != 0; --left) {
      if (left < 0 || ++n >= text.size() || (static_cast<unsigned char>(text[n]) & 0xC0) != 0x80)
        return false;
    }
  }
  return true;
}
bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

std::string identifier(std::string_view hint) {
  std::string name;
  const bool keeps_all = is_utf8(hint);
  for (const char c : hint) name += is_letter(c) || is_digit(c) || (keeps_all && is_letter_part(c)) ? c : '_';
  if (name.empty()) return "v";
  if (is_digit(name[0])) name.insert(0, "v");
  if (std::find(kKeywords.begin(), kKeywords.end(), name) != kKeywords.end()) name += '_';
  return name;
}

}  // namespace tilewright
