// Visits programs: walk(root, lambdas...) calls a lambda for each node of its parameter's type.
//   walk(func, [&](const ForNode* loop) { ++num_loops; });
// Parents come before children, in field order.  A lambda that returns bool decides whether the walk enters
// the node; void means it does.  Uses of variables and buffers are visited as leaves; the inside of a buffer
// (its shape) is visited where the buffer is defined.
#pragma once
#include "tilewright/ir/field.h"
#include "tilewright/ir/node.h"

namespace tilewright::ir {

/// Calls `visit(context, child, is_leaf_use)` for each child node of `node`, in field order; attribute values
/// included.  `is_leaf_use` is true for a use of a node with identity.
void for_each_child(const Object* node, void* context,
                    void (*visit)(void* context, const Object* child, bool is_leaf_use));

namespace walk_detail {

template <class F>
struct ArgOf : ArgOf<decltype(&F::operator())> {};
template <class R, class C, class N>
struct ArgOf<R (C::*)(const N*) const> {
  using Node = N;
  using Result = R;
};
template <class R, class C, class N>
struct ArgOf<R (C::*)(const N*)> {
  using Node = N;
  using Result = R;
};

// Runs the first lambda that handles this node; returns true if the walk shall enter it.
template <class F>
bool call_if(F& fn, const Object* object, bool* taken) {
  using Arg = ArgOf<F>;
  if (*taken || !Arg::Node::classof(*object)) return true;
  *taken = true;
  const auto* node = static_cast<const typename Arg::Node*>(object);
  if constexpr (std::is_same_v<typename Arg::Result, bool>)
    return fn(node);
  else
    return fn(node), true;
}

template <class... Fs>
struct Walker {
  std::tuple<Fs&...> fns;
  static void visit(void* context, const Object* object, bool is_leaf_use) {
    static_cast<Walker*>(context)->go(object, is_leaf_use);
  }
  void go(const Object* object, bool is_leaf_use) {
    bool taken = false;
    const bool inside = std::apply([&](auto&... fn) { return (call_if(fn, object, &taken) && ...); }, fns);
    if (inside && !is_leaf_use) for_each_child(object, this, &visit);
  }
};

}  // namespace walk_detail

template <class... Fs>
void walk(const Object* root, Fs&&... fns) {
  if (!root) return;
  walk_detail::Walker<std::remove_reference_t<Fs>...> walker{{fns...}};
  walker.go(root, false);
}
template <class T, class... Fs>
void walk(const Ref<T>& root, Fs&&... fns) {
  walk(static_cast<const Object*>(root.get()), fns...);
}

}  // namespace tilewright::ir
