// Names that scripts can hold.
#pragma once
#include <string>
#include <string_view>

namespace tilewright {

/// `hint` with what no identifier may hold replaced by _; "v" for an empty one; an underscore behind Python's
/// keywords.
std::string identifier(std::string_view hint);

}  // namespace tilewright
