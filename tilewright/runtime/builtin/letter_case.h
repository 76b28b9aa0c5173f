// Upper and lower case of characters.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace tilewright::runtime::builtin {

/// `text`, which is UTF-8, with its letters in upper or lower case: those of ASCII, of Latin-1, of Latin Extended-A, of
/// Greek and of Cyrillic that have one letter of the other case.  Raises Unsupported for other letters with case.
std::string with_case(std::string_view text, bool is_upper);

}  // namespace tilewright::runtime::builtin
