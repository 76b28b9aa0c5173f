// IR nodes: plain immutable structs with a table of their fields.  Equality, hash, walk, rewrite, repr, JSON
// and the Python class all use the table; adding a node takes its struct, a line in nodes.inc and a line in
// its layer's node_infos.cc.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <variant>
#include <vector>

#include "tilewright/support/dtype.h"
#include "tilewright/support/ref.h"
#include "tilewright/support/span.h"

namespace tilewright::runtime {
class Tensor;
}

namespace tilewright::ir {

enum class Kind : uint16_t {
#define NODE(Name) k##Name,
#define GROUP_BEGIN(Name) k##Name##Begin,
#define GROUP_END(Name) k##Name##End,
#include "tilewright/ir/nodes.inc"
  kCount
};

/// The role of a field in equality, hashing and substitution.
enum class Role : uint8_t {
  kUse,  // an ordinary child
  kDef,  // defines the variable or buffer it holds (let, loop, block axis, allocation)
  // like kDef, and also defines unseen variables inside it (`m`, `n` of a shape): function parameters
  kDefRec,
  kIgnore,  // not part of the meaning: name hints, spans
};

struct NodeInfo;
const NodeInfo* node_info(Kind kind);

struct Object : RefCounted {
  explicit Object(Kind kind) : kind(kind) {}
  const Kind kind;
};
using ObjectRef = Ref<Object>;

/// Deletes the node; chains of any length are deleted without recursion.
void release_last(const Object* object);
/// The same for a Ref of any node type: the deleter of support/ref.h would only delete the static type.
template <class T>
  requires(std::is_base_of_v<Object, T> && !std::is_same_v<T, Object>)
void release_last(const T* object) {
  release_last(static_cast<const Object*>(object));
}

/// Base of the abstract classes: is-a holds for all kinds between the group's marks in nodes.inc.
template <Kind kBegin, Kind kEnd>
struct Group {
  static bool classof(const Object& object) { return object.kind > kBegin && object.kind < kEnd; }
};

/// String-keyed attributes, sorted by key.  Values are IntImm (also for bool), FloatImm, StringImm, Array,
/// Dict or any other node.
class AttrMap {
 public:
  using Entry = std::pair<std::string, ObjectRef>;
  AttrMap() = default;
  AttrMap(std::initializer_list<Entry> entries) {
    for (const Entry& entry : entries) set(entry.first, entry.second);
  }
  /// The value under `key`, or null.
  ObjectRef get(std::string_view key) const;
  bool contains(std::string_view key) const { return static_cast<bool>(get(key)); }
  void set(std::string key, ObjectRef value);
  void erase(std::string_view key);
  bool empty() const { return entries_.empty(); }
  size_t size() const { return entries_.size(); }
  auto begin() const { return entries_.begin(); }
  auto end() const { return entries_.end(); }

  /// Typed reads: the value, or `otherwise` if the key is absent.  They raise UserError if the value has
  /// another type.
  int64_t get_int(std::string_view key, int64_t otherwise) const;
  bool get_bool(std::string_view key, bool otherwise) const;
  double get_float(std::string_view key, double otherwise) const;
  std::string get_string(std::string_view key, std::string_view otherwise) const;
  std::vector<int64_t> get_ints(std::string_view key, std::vector<int64_t> otherwise) const;

 private:
  std::vector<Entry> entries_;  // sorted by key, keys unique
};

// ---- field tables ----

template <auto Member>
struct Field {
  std::string_view name, doc;
  Role role = Role::kUse;
  static constexpr auto member = Member;
};
template <auto Member>
consteval Field<Member> field(std::string_view name, std::string_view doc, Role role = Role::kUse) {
  return {name, doc, role};
}

/// Base of a concrete node.  `Self::fields()` lists the fields in the order of make()'s arguments.
template <class Self, class Base, Kind kSelfKind>
struct Node : Base {
  static constexpr Kind kKind = kSelfKind;
  Node() : Base(kSelfKind) {}
  static bool classof(const Object& object) { return object.kind == kSelfKind; }

  /// A new node from its fields in table order; trailing fields may be omitted.  Runs verify() if the node
  /// has one.
  template <class... Args>
  static Ref<Self> make(Args&&... args) {
    auto node = std::make_unique<Self>();
    assign(*node, std::index_sequence_for<Args...>{}, std::forward<Args>(args)...);
    return finish(std::move(node));
  }
  /// A copy of `node` changed by `edit(Self&)`.
  template <class Edit>
  static Ref<Self> copy(const Self& node, Edit&& edit) {
    auto changed = std::make_unique<Self>(node);
    edit(*changed);
    return finish(std::move(changed));
  }

 private:
  static Ref<Self> finish(std::unique_ptr<Self> node) {
    if constexpr (requires { node->verify(); }) node->verify();
    return Ref<Self>(node.release());
  }
  template <size_t... I, class... Args>
  static void assign(Self& node, std::index_sequence<I...>, Args&&... args) {
    [[maybe_unused]] constexpr auto table = Self::fields();
    ((node.*std::get<I>(table).member = std::forward<Args>(args)), ...);
  }
};

/// A copy of `node` changed by `edit(NodeType&)`: `with(loop, [&](ForNode& n) { n.body = body; })`.
template <class N, class Edit>
Ref<N> with(const Ref<N>& node, Edit&& edit) {
  return N::copy(*node, std::forward<Edit>(edit));
}
template <class N, class Edit>
Ref<N> with(const N* node, Edit&& edit) {
  return N::copy(*node, std::forward<Edit>(edit));
}

/// Tests and casts by kind.
template <class N>
bool is(const ObjectRef& ref) {
  return ref && N::classof(*ref);
}
template <class N>
Ref<N> ref_as(const ObjectRef& ref) {
  return Ref<N>(ref.template as<N>());
}

}  // namespace tilewright::ir
