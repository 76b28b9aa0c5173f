#include "tilewright/ir/walk.h"

#include "tilewright/ir/identity.h"

namespace tilewright::ir {

void for_each_child(const Object* node, void* context, void (*visit)(void*, const Object*, bool)) {
  for (const FieldInfo& field : info_of(*node)->fields) {
    if (field.role == Role::kIgnore) continue;
    if (field.type == FieldType::kAttrs) {
      const FieldValue attrs = field.get(node);
      for (const auto& [key, value] : std::get<AttrMap>(attrs)) {
        if (value) visit(context, value.get(), has_identity(value->kind));
      }
      continue;
    }
    if (!field.num_nodes) continue;
    const size_t count = field.num_nodes(node);
    for (size_t n = 0; n < count; ++n) {
      const Object* child = field.node(node, n);
      if (child) visit(context, child, field.role == Role::kUse && has_identity(child->kind));
    }
  }
}

}  // namespace tilewright::ir
