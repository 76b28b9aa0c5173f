#include "tilewright/python/field_types.h"

#include <nanobind/stl/string.h>
#include <string>
#include <vector>

#include "tilewright/ir/field.h"
#include "tilewright/support/error.h"

namespace nb = nanobind;

namespace tilewright::python {
namespace {

std::vector<const ir::NodeInfo*> all_kinds() {
  std::vector<const ir::NodeInfo*> found;
  for (size_t n = 0; n < static_cast<size_t>(ir::Kind::kCount); ++n) {
    if (const ir::NodeInfo* info = ir::node_info(static_cast<ir::Kind>(n))) found.push_back(info);
  }
  return found;
}

// True if the field of a new node of `owner` takes a node of `kind`: the table of fields has no types of nodes, so that
// the field itself is asked.
bool takes(const ir::NodeInfo& owner, const ir::FieldInfo& field, const ir::NodeInfo& kind) {
  const ir::ObjectRef object(owner.create()), value(kind.create());
  try {
    if (field.type == ir::FieldType::kNodeList) {
      field.set(const_cast<ir::Object*>(object.get()), std::vector<ir::ObjectRef>{value});
    } else {
      field.set(const_cast<ir::Object*>(object.get()), value);
    }
  } catch (const Error&) {
    return false;
  }
  return true;
}

std::string literal_of(const ir::FieldInfo& field) {
  std::string text;
  for (const std::string_view name : field.enum_names)
    text += (text.empty() ? "'" : ", '") + std::string(name) + "'";
  return "Literal[" + text + "]";
}

std::string text_of(const ir::FieldInfo& field) {
  switch (field.type) {
    case ir::FieldType::kInt: return "int";
    case ir::FieldType::kBool: return "bool";
    case ir::FieldType::kFloat: return "float";
    case ir::FieldType::kString:
    case ir::FieldType::kDType: return "str";
    case ir::FieldType::kEnum: return literal_of(field);
    case ir::FieldType::kIntList: return "list[int]";
    case ir::FieldType::kStringList: return "list[str]";
    case ir::FieldType::kAttrs: return "dict[str, Any]";
    case ir::FieldType::kTensor: return "Tensor";
    case ir::FieldType::kNode: return "node";
    case ir::FieldType::kNodeList: return "list[node]";
    default: return "Any";
  }
}

nb::list kinds_of(const ir::NodeInfo& owner, const ir::FieldInfo& field) {
  nb::list kinds;
  if (field.type != ir::FieldType::kNode && field.type != ir::FieldType::kNodeList) return kinds;
  for (const ir::NodeInfo* kind : all_kinds()) {
    if (takes(owner, field, *kind)) kinds.append(nb::str(kind->name.data(), kind->name.size()));
  }
  return kinds;
}

}  // namespace

nb::dict field_types() {
  nb::dict table;
  for (const ir::NodeInfo* owner : all_kinds()) {
    nb::list types;
    for (const ir::FieldInfo& field : owner->fields)
      types.append(nb::make_tuple(text_of(field), kinds_of(*owner, field)));
    table[nb::str(owner->name.data(), owner->name.size())] = types;
  }
  return table;
}

}  // namespace tilewright::python
