#include "tilewright/ir/options.h"

#include <algorithm>

#include "tilewright/ir/field.h"
#include "tilewright/support/near.h"

namespace tilewright::ir {

ObjectRef attr(bool value) { return IntImmNode::make(kBoolType, static_cast<int64_t>(value)); }
ObjectRef attr(int value) { return attr(int64_t{value}); }
ObjectRef attr(int64_t value) { return IntImmNode::make(kInt64, value); }
ObjectRef attr(double value) { return FloatImmNode::make(DataType::float_(64), value); }
ObjectRef attr(const std::string& value) { return StringImmNode::make(value); }
ObjectRef attr(const char* value) { return StringImmNode::make(value); }
ObjectRef attr(DataType value) { return StringImmNode::make(value.str()); }
ObjectRef attr(const std::optional<int64_t>& value) { return value ? attr(*value) : ObjectRef(); }

namespace {
template <class T>
ObjectRef attr_list(const std::vector<T>& values) {
  std::vector<ObjectRef> items;
  for (const T& value : values) items.push_back(attr(value));
  return ArrayNode::make(std::move(items));
}
}  // namespace

ObjectRef attr(const std::vector<int64_t>& value) { return attr_list(value); }
ObjectRef attr(const std::vector<std::string>& value) { return attr_list(value); }

namespace options_detail {
namespace {

std::string shown(const ObjectRef& value) {
  if (!value) return "None";
  if (const auto* text = value.as<StringImmNode>()) return fmt::format("\"{}\"", text->value);
  if (const auto* number = value.as<IntImmNode>()) {
    if (number->dtype.is_bool()) return number->value ? "True" : "False";
    return fmt::format("{}", number->value);
  }
  if (const auto* real = value.as<FloatImmNode>()) return fmt::format("{}", real->value);
  return fmt::format("a {}", info_of(*value)->name);
}

[[noreturn]] void wrong(const ObjectRef& value, std::string_view what, std::string_view name,
                        std::string_view expected) {
  throw UserError("{}: option \"{}\" must be {}, but is {}", what, name, expected, shown(value));
}

const ArrayNode& list_of(const ObjectRef& value, std::string_view what, std::string_view name,
                         std::string_view expected) {
  const auto* list = value.as<ArrayNode>();
  if (!list) wrong(value, what, name, expected);
  return *list;
}

}  // namespace

void wrong_node(const ObjectRef& value, std::string_view what, std::string_view name) {
  wrong(value, what, name, "another kind of node");
}

void read(const ObjectRef& value, std::string_view what, std::string_view name, bool* out) {
  const auto* number = value.as<IntImmNode>();
  if (!number || (number->value != 0 && number->value != 1)) wrong(value, what, name, "True or False");
  *out = number->value != 0;
}

void read(const ObjectRef& value, std::string_view what, std::string_view name, int64_t* out) {
  const auto* number = value.as<IntImmNode>();
  if (!number || number->dtype.is_bool()) wrong(value, what, name, "an integer");
  *out = number->value;
}

void read(const ObjectRef& value, std::string_view what, std::string_view name, double* out) {
  if (const auto* number = value.as<IntImmNode>())
    *out = static_cast<double>(number->value);
  else if (const auto* real = value.as<FloatImmNode>())
    *out = real->value;
  else
    wrong(value, what, name, "a number");
}

void read(const ObjectRef& value, std::string_view what, std::string_view name, std::string* out) {
  const auto* text = value.as<StringImmNode>();
  if (!text) wrong(value, what, name, "a string");
  *out = text->value;
}

void read(const ObjectRef& value, std::string_view what, std::string_view name, DataType* out) {
  const auto* text = value.as<StringImmNode>();
  if (!text) wrong(value, what, name, "a dtype such as \"float32\"");
  *out = text->value.empty() ? DataType::void_() : DataType::parse(text->value);
}

void read(const ObjectRef& value, std::string_view what, std::string_view name, std::optional<int64_t>* out) {
  if (!value) {
    out->reset();
    return;
  }
  int64_t number;
  read(value, what, name, &number);
  *out = number;
}

void read(const ObjectRef& value, std::string_view what, std::string_view name, std::vector<int64_t>* out) {
  out->clear();
  if (is<IntImmNode>(value)) {  // a single integer stands for a list of one
    read(value, what, name, &out->emplace_back());
    return;
  }
  for (const ObjectRef& item : list_of(value, what, name, "a list of integers").items)
    read(item, what, name, &out->emplace_back());
}

void read(const ObjectRef& value, std::string_view what, std::string_view name,
          std::vector<std::string>* out) {
  out->clear();
  for (const ObjectRef& item : list_of(value, what, name, "a list of strings").items)
    read(item, what, name, &out->emplace_back());
}

void refuse_unknown(const AttrMap& attrs, std::string_view what, const std::vector<std::string_view>& names) {
  for (const auto& [key, value] : attrs) {
    if (std::find(names.begin(), names.end(), key) == names.end())
      throw UserError("{}: there is no option \"{}\"", what, key).help("{}", nearest_names_text(key, names));
  }
}

}  // namespace options_detail
}  // namespace tilewright::ir
