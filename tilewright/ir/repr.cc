#include "tilewright/ir/expr.h"
#include "tilewright/ir/field.h"
#include "tilewright/ir/identity.h"
#include "tilewright/ir/services.h"

namespace tilewright::ir {
namespace {

class Repr {
 public:
  void node(const Object* object, bool defines) {
    if (!object) {
      out += "None";
      return;
    }
    const NodeInfo* info = info_of(*object);
    if (has_identity(object->kind) && !defines) {
      name_of(object);
      return;
    }
    const size_t dot = info->name.find('.');
    out += info->name.substr(dot + 1);
    out += '(';
    bool first = true;
    for (const FieldInfo& field : info->fields) {
      if (field.type == FieldType::kSpan) continue;
      if (!first) out += ", ";
      first = false;
      out += field.name;
      out += '=';
      one_field(field, object);
    }
    out += ')';
  }

  std::string out;

 private:
  void name_of(const Object* object) {
    for (const FieldInfo& field : info_of(*object)->fields) {
      if (field.type == FieldType::kString) out += std::get<std::string>(field.get(object));
    }
  }

  void one_field(const FieldInfo& field, const Object* object) {
    const bool defines = field.role != Role::kUse;
    if (field.type == FieldType::kNode)
      return node(field.node(object, 0), defines && field.role != Role::kIgnore);
    if (field.type == FieldType::kNodeList) {
      out += '[';
      for (size_t n = 0; n < field.num_nodes(object); ++n) {
        if (n) out += ", ";
        node(field.node(object, n), defines);
      }
      out += ']';
      return;
    }
    plain(field, field.get(object));
  }

  void plain(const FieldInfo& field, const FieldValue& value) {
    if (field.type == FieldType::kEnum)
      out += field.enum_names[static_cast<size_t>(std::get<int64_t>(value))];
    else if (auto* number = std::get_if<int64_t>(&value))
      out += fmt::format("{}", *number);
    else if (auto* flag = std::get_if<bool>(&value))
      out += *flag ? "True" : "False";
    else if (auto* real = std::get_if<double>(&value))
      out += fmt::format("{}", *real);
    else if (auto* text = std::get_if<std::string>(&value))
      out += '"' + *text + '"';
    else if (auto* dtype = std::get_if<DataType>(&value))
      out += '"' + dtype->str() + '"';
    else if (auto* ints = std::get_if<std::vector<int64_t>>(&value))
      list(*ints, [](int64_t n) { return fmt::format("{}", n); });
    else if (auto* texts = std::get_if<std::vector<std::string>>(&value))
      list(*texts, [](const std::string& s) { return '"' + s + '"'; });
    else if (auto* attrs = std::get_if<AttrMap>(&value)) {
      out += '{';
      bool first = true;
      for (const auto& [key, item] : *attrs) {
        if (!first) out += ", ";
        first = false;
        out += '"' + key + "\": ";
        node(item.get(), false);
      }
      out += '}';
    } else if (auto* tensor = std::get_if<runtime::Tensor>(&value)) {
      out += *tensor ? fmt::format("<{} {}>", tensor->dtype().str(), runtime::shape_str(tensor->shape()))
                     : "None";
    }
  }

  template <class T, class F>
  void list(const std::vector<T>& items, F&& text) {
    out += '[';
    for (size_t n = 0; n < items.size(); ++n) out += (n ? ", " : "") + text(items[n]);
    out += ']';
  }
};

}  // namespace

std::string repr(const ObjectRef& node) {
  Repr printer;
  printer.node(node.get(), true);
  return std::move(printer.out);
}

}  // namespace tilewright::ir
