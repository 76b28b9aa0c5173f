// Checks and escapes text that may contain arbitrary bytes.
#pragma once
#include <string>
#include <string_view>

namespace tilewright {

/// True if `text` is valid UTF-8 (RFC 3629).
bool is_utf8(std::string_view text);
/// `text` with an escape such as \xff for each byte that is not part of a UTF-8 character.
std::string printable(std::string_view text);

}  // namespace tilewright
