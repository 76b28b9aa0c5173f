// Membership in short lists of names.
#pragma once
#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <string_view>

namespace tilewright {

/// True if `names` has `name` among them.
template <class Names>
bool is_one_of(std::string_view name, const Names& names) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}
inline bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace tilewright
