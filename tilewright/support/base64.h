// Base64 encoding and decoding (RFC 4648).
#pragma once
#include <string>
#include <string_view>

namespace tilewright {

std::string base64_encode(std::string_view bytes);
/// The bytes that `text` encodes.  Raises UserError if it is not base64.
std::string base64_decode(std::string_view text);

}  // namespace tilewright
