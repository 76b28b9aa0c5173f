#include "tilewright/ir/rewrite.h"

#include "tilewright/ir/identity.h"

namespace tilewright::ir {

ObjectRef RewriterBase::visit(const ObjectRef& node) {
  if (!node) return node;
  ObjectRef result;
  if (has_identity(node->kind)) {
    auto known = replaced_.find(node.get());
    if (known != replaced_.end()) return known->second;
    return take(node.get(), &result) ? result : node;
  }
  if (take(node.get(), &result)) return result;
  return rebuild_children(node.get());
}

// A node with identity is rebuilt once, where it is defined; later uses find the result.
ObjectRef RewriterBase::definition(const ObjectRef& node) {
  if (!node || !has_identity(node->kind)) return visit(node);
  auto known = replaced_.find(node.get());
  if (known != replaced_.end() && known->second->kind == node->kind) return known->second;
  if (node->kind == Kind::kVar) return node;  // a scalar variable has no fields to rebuild
  ObjectRef rebuilt = rebuild_children(node.get());
  if (rebuilt != node) replaced_[node.get()] = rebuilt;
  return rebuilt;
}

ObjectRef RewriterBase::rebuild_children(const Object* node) {
  const NodeInfo* info = info_of(*node);
  Object* copy = nullptr;
  ObjectRef owner;
  for (const FieldInfo& field : info->fields) {
    // types are rebuilt although equality ignores them: they hold shapes
    FieldValue changed;
    if (!rebuild_field(field, node, &changed)) continue;
    if (!copy) owner = ObjectRef(copy = info->clone(node));
    field.set(copy, std::move(changed));
  }
  if (!copy) return ObjectRef(node);
  if (info->verify) info->verify(copy);
  return owner;
}

bool RewriterBase::rebuild_field(const FieldInfo& field, const Object* node, FieldValue* changed) {
  const bool defines = field.role == Role::kDef || field.role == Role::kDefRec;
  auto rebuilt = [&](const Object* child) {
    return defines ? definition(ObjectRef(child)) : visit(ObjectRef(child));
  };
  if (field.type == FieldType::kAttrs) {
    bool any = false;
    AttrMap attrs = rebuild_attrs(std::get<AttrMap>(field.get(node)), &any);
    if (any) *changed = std::move(attrs);
    return any;
  }
  if (field.type == FieldType::kNode) {
    const Object* child = field.node(node, 0);
    if (!child) return false;
    ObjectRef result = rebuilt(child);
    if (result.get() == child) return false;
    *changed = std::move(result);
    return true;
  }
  if (field.type != FieldType::kNodeList) return false;
  const size_t count = field.num_nodes(node);
  std::vector<ObjectRef> items;
  bool any = false;
  items.reserve(count);
  for (size_t n = 0; n < count; ++n) {
    const Object* child = field.node(node, n);
    items.push_back(child ? rebuilt(child) : ObjectRef());
    any |= items.back().get() != child;
  }
  if (any) *changed = std::move(items);
  return any;
}

AttrMap RewriterBase::rebuild_attrs(const AttrMap& attrs, bool* changed) {
  AttrMap result;
  for (const auto& [key, value] : attrs) {
    ObjectRef rebuilt = visit(value);
    *changed |= rebuilt != value;
    result.set(key, std::move(rebuilt));
  }
  return result;
}

namespace {
class Substituter final : public RewriterBase {
 protected:
  bool take(const Object*, ObjectRef*) override { return false; }
};
}  // namespace

ObjectRef substitute_object(const ObjectRef& root, const Substitution& replacements) {
  Substituter substituter;
  for (const auto& [from, to] : replacements) substituter.replace_uses(from, to);
  return substituter.visit(root);
}

}  // namespace tilewright::ir
