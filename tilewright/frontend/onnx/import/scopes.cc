#include "tilewright/frontend/onnx/import/scopes.h"

#include <iterator>

namespace tilewright::frontend::onnx {

void Scopes::open(const Graph& graph) {
  Scope& scope = scopes_.emplace_back();
  for (const Node& node : graph.nodes) {
    for (const std::string& output : node.outputs) scope.makers[output] = &node;
  }
}

const Scopes::Scope* Scopes::find(const std::string& name, size_t* depth) const {
  for (size_t n = scopes_.size(); n-- > 0;) {
    if (!scopes_[n].has(name)) continue;
    if (depth) *depth = n;
    return &scopes_[n];
  }
  return nullptr;
}

Scopes::Expr Scopes::value(const std::string& name) const {
  const Scope* scope = find(name, nullptr);
  if (!scope) return nullptr;
  const auto found = scope->values.find(name);
  return found == scope->values.end() ? Expr() : found->second;
}

const Known* Scopes::known(const std::string& name, size_t* depth) const {
  const Scope* scope = find(name, depth);
  if (!scope) return nullptr;
  const auto found = scope->known.find(name);
  return found == scope->known.end() ? nullptr : &found->second;
}

const Node* Scopes::maker(const std::string& name) const {
  for (size_t n = scopes_.size(); n-- > 0;) {
    if (const auto found = scopes_[n].makers.find(name); found != scopes_[n].makers.end())
      return found->second;
    if (scopes_[n].has(name)) break;
  }
  return nullptr;
}

void Scopes::add_known(const std::string& name, Known known) {
  if (const Expr tensor = value(name)) define(name, tensor);
  define_known(name, std::move(known));
}

Scopes::Inner Scopes::enter(size_t depth) {
  const auto first = scopes_.begin() + static_cast<std::ptrdiff_t>(depth) + 1;
  Inner inner(std::make_move_iterator(first), std::make_move_iterator(scopes_.end()));
  scopes_.erase(first, scopes_.end());
  scopes_.emplace_back();
  return inner;
}

void Scopes::leave(Inner inner) {
  scopes_.pop_back();
  scopes_.insert(scopes_.end(), std::make_move_iterator(inner.begin()), std::make_move_iterator(inner.end()));
}

}  // namespace tilewright::frontend::onnx
