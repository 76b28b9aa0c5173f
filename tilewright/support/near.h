// "did you mean": the names nearest to a misspelt one.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace tilewright {

/// The names within edit distance max(2, size / 3) of `wrong` that have something in common with it, at most three,
/// nearest first.
std::vector<std::string> nearest_names(std::string_view wrong, const std::vector<std::string_view>& names);
/// "did you mean a, b or c?"; if none is near, "the names are ..." with at most twelve, or "the only one is a".
std::string nearest_names_text(std::string_view wrong, const std::vector<std::string_view>& names);

}  // namespace tilewright
