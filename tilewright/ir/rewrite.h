// Rewrites programs: rewrite(root, lambdas...) rebuilds the nodes that the lambdas change and keeps all
// others as the same objects.
//   rewrite(func, [&](auto& self, const ForNode* loop) -> Stmt { ... return self.children(loop); });
// A lambda handles the nodes of its parameter's type; `self(child)` rewrites a child, `self.children(node)`
// rebuilds the node from its rewritten children.  Nodes without a lambda are rebuilt from their children.
// Lambdas do not see definitions (Role::kDef) of variables: replace uses, or change the defining node itself.
// A buffer or graph variable whose shape changes is rebuilt where it is defined, and its uses follow.
#pragma once
#include <unordered_map>

#include "tilewright/ir/field.h"
#include "tilewright/ir/node.h"
#include "tilewright/support/error.h"

namespace tilewright::ir {

class RewriterBase {
 public:
  virtual ~RewriterBase() = default;
  /// The rewritten node; null stays null.
  ObjectRef visit(const ObjectRef& node);
  /// `node` with rewritten children: the same object if none changed.
  ObjectRef rebuild_children(const Object* node);
  /// From now on uses of `from` (a variable or buffer) become `to`.
  void replace_uses(const Object* from, ObjectRef to) { replaced_[from] = std::move(to); }

 protected:
  /// Returns true and sets `*result` if a lambda handles the node, else false.
  virtual bool take(const Object* node, ObjectRef* result) = 0;

 private:
  ObjectRef definition(const ObjectRef& node);
  bool rebuild_field(const FieldInfo& field, const Object* node, FieldValue* changed);
  AttrMap rebuild_attrs(const AttrMap& attrs, bool* changed);
  std::unordered_map<const Object*, ObjectRef> replaced_;  // nodes with identity, old to new
};

namespace rewrite_detail {

template <class R, class C, class S, class N>
N node_arg(R (C::*)(S&, const N*) const);
template <class R, class C, class S, class N>
N node_arg(R (C::*)(S&, const N*));

template <class... Fs>
class Rewriter final : public RewriterBase {
 public:
  explicit Rewriter(Fs&... fns) : fns_(fns...) {}

  template <class T>
  Ref<T> operator()(const Ref<T>& node) {
    ObjectRef result = visit(node);
    if constexpr (!std::is_same_v<T, Object>) {
      if (result && !T::classof(*result))
        throw InternalError("rewrite: a {} cannot stand here", info_of(*result)->name);
    }
    return Ref<T>(static_cast<const T*>(result.get()));
  }
  template <class T>
  std::vector<T> operator()(const std::vector<T>& nodes) {
    std::vector<T> results;
    for (const T& node : nodes) results.push_back((*this)(node));
    return results;
  }
  template <class N>
  Ref<N> children(const N* node) {
    return Ref<N>(static_cast<const N*>(rebuild_children(node).get()));
  }

 protected:
  bool take(const Object* node, ObjectRef* result) override {
    return std::apply([&](auto&... fn) { return (try_one(fn, node, result) || ...); }, fns_);
  }

 private:
  template <class F>
  bool try_one(F& fn, const Object* node, ObjectRef* result) {
    using N = decltype(node_arg(&F::template operator()<Rewriter>));
    if (!N::classof(*node)) return false;
    *result = fn(*this, static_cast<const N*>(node));
    return true;
  }
  std::tuple<Fs&...> fns_;
};

}  // namespace rewrite_detail

template <class T, class... Fs>
Ref<T> rewrite(const Ref<T>& root, Fs&&... fns) {
  rewrite_detail::Rewriter<std::remove_reference_t<Fs>...> rewriter(fns...);
  return rewriter(root);
}

/// `root` with uses of variables and buffers replaced: {variable -> expression of the same dtype, buffer ->
/// buffer}.
using Substitution = std::unordered_map<const Object*, ObjectRef>;
ObjectRef substitute_object(const ObjectRef& root, const Substitution& replacements);
template <class T>
Ref<T> substitute(const Ref<T>& root, const Substitution& replacements) {
  if (replacements.empty()) return root;
  ObjectRef result = substitute_object(root, replacements);
  return Ref<T>(static_cast<const T*>(result.get()));
}

}  // namespace tilewright::ir
