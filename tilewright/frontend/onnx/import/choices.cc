#include "tilewright/frontend/onnx/import/choices.h"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "tilewright/support/error.h"

namespace tilewright::frontend::onnx {
namespace {

// `node` and the nodes of `graph` that it depends on.
std::set<const Node*> needed_for(const Node* node, const Graph& graph) {
  std::unordered_map<std::string, const Node*> makers;
  for (const Node& each : graph.nodes) {
    for (const std::string& output : each.outputs) makers[output] = &each;
  }
  std::set<const Node*> found{node};
  std::vector<const Node*> open{node};
  while (!open.empty()) {
    const Node* next = open.back();
    open.pop_back();
    for (const std::string& name : needs_of(*next)) {
      const auto maker = makers.find(name);
      if (maker != makers.end() && found.insert(maker->second).second) open.push_back(maker->second);
    }
  }
  return found;
}

}  // namespace

bool Choices::is_first(const std::string& name) {
  constexpr int64_t kMostCalls = 4096;
  if (++num_calls_ > kMostCalls)
    throw Unsupported("branches that return different numbers of dimensions lie deep in each other")
        .help("make conditions constants where the model is exported, or fix dimensions with shapes=");
  const auto found =
      std::find_if(made_.begin(), made_.end(), [&](const Choice& made) { return made.name == name; });
  if (found != made_.end()) return found->is_first;
  made_.push_back({name, current_, first_guess_, false});
  return first_guess_;
}

bool Choices::next(const Graph& graph) {
  if (made_.empty()) return false;
  const std::set<const Node*> needed = needed_for(current_, graph);
  while (!made_.empty() && (made_.back().is_changed || !needed.contains(made_.back().node))) made_.pop_back();
  if (made_.empty()) return false;
  Choice& last = made_.back();
  first_guess_ = last.is_first = !last.is_first;
  last.is_changed = true;
  return true;
}

}  // namespace tilewright::frontend::onnx
