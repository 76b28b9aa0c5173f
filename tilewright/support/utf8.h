// Text from files that may hold any bytes.
#pragma once
#include <string>
#include <string_view>

namespace tilewright {

/// Whether `text` is UTF-8 (RFC 3629).
bool is_utf8(std::string_view text);
/// `text` with \xff in place of each byte that is no part of a character in UTF-8.
std::string printable(std::string_view text);

}  // namespace tilewright
