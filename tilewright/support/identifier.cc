#include "tilewright/support/identifier.h"

#include <algorithm>
#include <array>

#include "tilewright/support/utf8.h"

namespace tilewright {
namespace {

constexpr std::array<std::string_view, 37> kKeywords = {
    "False",    "None",   "True",  "and",  "as",     "assert",   "async",   "await", "break", "class",
    "continue", "def",    "del",   "elif", "else",   "except",   "finally", "for",   "from",  "global",
    "if",       "import", "in",    "is",   "lambda", "nonlocal", "not",     "or",    "pass",  "raise",
    "return",   "try",    "while", "with", "yield",  "range",    "cls"};

// Letters of other alphabets are kept: Python allows them in names.
bool is_letter_part(char c) { return static_cast<unsigned char>(c) >= 0x80; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
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
