#include "tilewright/ir/target.h"

#include "tilewright/ir/expr.h"

namespace tilewright::ir {

std::string TargetNode::str() const {
  std::string text = kind_name;
  for (const auto& [key, value] : attrs) {
    text += " -" + key + "=";
    if (const auto* number = value.as<IntImmNode>()) text += std::to_string(number->value);
    if (const auto* name = value.as<StringImmNode>()) text += name->value;
    if (const auto* list = value.as<ArrayNode>()) {
      for (size_t n = 0; n < list->items.size(); ++n)
        text += (n ? "," : "") +
                (list->items[n].as<StringImmNode>() ? list->items[n].as<StringImmNode>()->value : "");
    }
  }
  return text;
}

}  // namespace tilewright::ir
