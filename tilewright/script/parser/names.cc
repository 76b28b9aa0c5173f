#include "tilewright/script/parser/names.h"

#include <algorithm>

namespace tilewright::script {

void Names::define(std::string_view name, Value value, Place place, bool is_let) {
  frames_.back()[std::string(name)] = {std::move(value), place, is_let};
}

Names Names::outermost() const {
  Names result;
  result.frames_.push_back(frames_.front());
  return result;
}

const Binding* Names::lookup(std::string_view name) const {
  const std::string key(name);
  for (size_t n = frames_.size(); n-- > 0;) {
    auto found = frames_[n].find(key);
    if (found != frames_[n].end()) return &found->second;
  }
  return nullptr;
}

const Binding* Names::lookup_here(std::string_view name) const {
  auto found = frames_.back().find(std::string(name));
  return found == frames_.back().end() ? nullptr : &found->second;
}

const Value* Names::find(std::string_view name) const {
  const Binding* binding = lookup(name);
  return binding ? &binding->value : nullptr;
}

std::vector<std::string_view> Names::names() const {
  std::vector<std::string_view> result;
  for (size_t n = frames_.size(); n-- > 0;) {
    std::vector<std::string_view> of_frame;
    for (const auto& [name, binding] : frames_[n]) of_frame.push_back(name);
    std::sort(of_frame.begin(), of_frame.end());
    result.insert(result.end(), of_frame.begin(), of_frame.end());
  }
  return result;
}

}  // namespace tilewright::script
