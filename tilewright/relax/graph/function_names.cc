#include "tilewright/relax/graph/function_names.h"

#include <algorithm>

#include "tilewright/relax/graph/type_util.h"

namespace tilewright::relax {

std::vector<std::string> names_in(const Function& func, std::string_view attr) {
  std::vector<std::string> names;
  const ir::ObjectRef given = func->attrs.get(attr);
  if (const auto* list = given.as<ir::ArrayNode>()) {
    for (const ir::ObjectRef& name : list->items) {
      if (const auto* text = name.as<ir::StringImmNode>()) names.push_back(text->value);
    }
  }
  return names;
}

std::string shown_type(const Function& func, const std::string& name, const Type& type) {
  const std::vector<std::string> strings = names_in(func, kStringNames);
  if (std::find(strings.begin(), strings.end(), name) == strings.end()) return short_type(type);
  const auto* pair = type.as<TupleTypeNode>();
  if (!pair || pair->elements.size() != 2) return "sequence of strings";
  const std::string ends = short_type(pair->elements[1]);
  return "string" + ends.substr(std::min(ends.find('['), ends.size()));
}

std::string kernel_symbol(const IRModule& module, const std::string& name) {
  return module->lookup(name)->attrs.get_string("global_symbol", name);
}

}  // namespace tilewright::relax
