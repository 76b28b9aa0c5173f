// Checks and escapes text that may contain arbitrary bytes.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace tilewright {

/// A character of UTF-8 (RFC 3629): its number, and its bytes.
struct Character {
  uint32_t code = 0;
  size_t length = 0;
};
/// The character at the beginning of `text`, which is not empty; length 0 if there is no valid one.
Character first_character(std::string_view text);
/// Adds the bytes of the character with the number `code` to `text`.
void append_character(std::string& text, uint32_t code);
/// The place of the first byte that is not part of a character; std::string_view::npos if there is none.
size_t utf8_fault(std::string_view text);
/// True if `text` is valid UTF-8.
bool is_utf8(std::string_view text);
/// `text` with an escape such as \xff for each byte that is not part of a UTF-8 character.
std::string printable(std::string_view text);

}  // namespace tilewright
