#include "tilewright/script/printer/names.h"

namespace tilewright::script {

const std::string& NameTable::define(const ir::Object* node, std::string_view hint) {
  const std::string base = identifier(hint);
  std::string name = base;
  if (taken_.contains(name)) {
    int& counter = counters_[base];
    frames_.back().counters.emplace_back(base, counter);
    do name = base + '_' + std::to_string(++counter);
    while (taken_.contains(name));
  }
  taken_.insert(name);
  frames_.back().nodes.push_back(node);
  frames_.back().names.push_back(name);
  return names_[node] = name;
}

void NameTable::define_as(const ir::Object* node, std::string text) {
  if (!names_.try_emplace(node, std::move(text)).second) return;
  frames_.back().nodes.push_back(node);
}

const std::string* NameTable::find(const ir::Object* node) const {
  auto found = names_.find(node);
  return found == names_.end() ? nullptr : &found->second;
}

void NameTable::push() { frames_.emplace_back(); }

void NameTable::pop() {
  Frame& frame = frames_.back();
  for (const ir::Object* node : frame.nodes) names_.erase(node);
  for (const std::string& name : frame.names) taken_.erase(name);
  for (size_t n = frame.counters.size(); n-- > 0;)
    counters_[frame.counters[n].first] = frame.counters[n].second;
  frames_.pop_back();
}

}  // namespace tilewright::script
