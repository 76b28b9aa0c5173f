// Valid identifiers for scripts.
#pragma once
#include <string>
#include <string_view>

namespace tilewright {

/// `hint` as an identifier: other characters become _, the empty text becomes "v", Python's keywords get a
/// trailing underscore.
std::string identifier(std::string_view hint);

}  // namespace tilewright
