// Decodes string tokens.
#include "tilewright/script/ast_parser.h"

namespace tilewright::script::ast {
namespace {

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

void append_utf8(std::string* out, uint32_t code) {
  if (code < 0x80) {
    out->push_back(static_cast<char>(code));
  } else if (code < 0x800) {
    out->push_back(static_cast<char>(0xC0 | (code >> 6)));
    out->push_back(static_cast<char>(0x80 | (code & 0x3F)));
  } else if (code < 0x10000) {
    out->push_back(static_cast<char>(0xE0 | (code >> 12)));
    out->push_back(static_cast<char>(0x80 | ((code >> 6) & 0x3F)));
    out->push_back(static_cast<char>(0x80 | (code & 0x3F)));
  } else {
    out->push_back(static_cast<char>(0xF0 | ((code >> 18) & 7)));
    out->push_back(static_cast<char>(0x80 | ((code >> 12) & 0x3F)));
    out->push_back(static_cast<char>(0x80 | ((code >> 6) & 0x3F)));
    out->push_back(static_cast<char>(0x80 | (code & 0x3F)));
  }
}

// Appends \xHH, \uHHHH, \UHHHHHHHH: `digits` hexadecimal digits at the start of `rest`;
// false if there are fewer.
bool append_hex(std::string* out, std::string_view rest, size_t digits) {
  if (rest.size() < digits) return false;
  uint32_t code = 0;
  for (size_t n = 0; n < digits; ++n) {
    if (hex_value(rest[n]) < 0) return false;
    code = code * 16 + static_cast<uint32_t>(hex_value(rest[n]));
  }
  append_utf8(out, code);
  return true;
}

// Appends the character that an escape stands for; returns the number of bytes of `rest` after the backslash.
size_t append_escape(std::string* out, std::string_view rest) {
  constexpr std::string_view kNames = "ntrbfav0\\'\"";
  constexpr std::string_view kValues("\n\t\r\b\f\a\v\0\\'\"", 11);
  const char c = rest[0];
  if (c == '\n') return 1;
  const size_t digits = c == 'x' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
  if (digits && append_hex(out, rest.substr(1), digits)) return 1 + digits;
  if (c >= '0' && c <= '7') {
    uint32_t code = 0;
    size_t n = 0;
    for (; n < 3 && n < rest.size() && rest[n] >= '0' && rest[n] <= '7'; ++n)
      code = code * 8 + static_cast<uint32_t>(rest[n] - '0');
    append_utf8(out, code);
    return n;
  }
  if (const size_t known = kNames.find(c); known != std::string_view::npos) {
    out->push_back(kValues[known]);
  } else {
    out->push_back('\\');
    out->push_back(c);
  }
  return 1;
}

}  // namespace

bool is_opaque_string(std::string_view token) {
  const std::string_view prefix = token.substr(0, token.find_first_of("\"'"));
  return prefix.find_first_of("fFbB") != std::string_view::npos;
}

std::string decode_string(std::string_view token) {
  const size_t begin = token.find_first_of("\"'");
  const bool is_raw = token.substr(0, begin).find_first_of("rR") != std::string_view::npos;
  const char quote = token[begin];
  const bool triple = token.size() >= begin + 6 && token[begin + 1] == quote && token[begin + 2] == quote;
  const size_t width = triple ? 3 : 1;
  const std::string_view body = token.substr(begin + width, token.size() - begin - 2 * width);
  if (is_raw) return std::string(body);
  std::string out;
  for (size_t n = 0; n < body.size();) {
    if (body[n] == '\\' && n + 1 < body.size())
      n += 1 + append_escape(&out, body.substr(n + 1));
    else
      out.push_back(body[n++]);
  }
  return out;
}

}  // namespace tilewright::script::ast
