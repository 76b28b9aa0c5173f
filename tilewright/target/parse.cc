// Targets as text.
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "tilewright/ir/expr.h"
#include "tilewright/support/near.h"
#include "tilewright/target/architectures.h"
#include "tilewright/target/target.h"

namespace tilewright::target {
namespace {

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  size_t begin = 0;
  while (begin <= text.size()) {
    const size_t end = std::min(text.find(separator, begin), text.size());
    if (end > begin) parts.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

// Without dashes and what stands before the last slash: "h100" of "nvidia/h100".
std::string plain_name(std::string_view tag) {
  std::string name(tag.substr(tag.rfind('/') + 1));
  std::erase(name, '-');
  return name;
}

// Tags that are spelled alike, or whose names have that of `tag` in them.
std::string near_tags_text(std::string_view tag) {
  const std::string wanted = plain_name(tag);
  std::vector<std::string_view> found;
  for (std::string_view known : target_tags()) {
    if (!wanted.empty() && plain_name(known).find(wanted) != std::string::npos) found.push_back(known);
  }
  return found.empty() || !nearest_names(tag, target_tags()).empty()
             ? nearest_names_text(tag, target_tags())
             : fmt::format("did you mean {}?", fmt::join(found, " or "));
}

const TargetKind& require_kind(std::string_view name) {
  if (const TargetKind* kind = find_target_kind(name)) return *kind;
  std::vector<std::string_view> names;
  for (const TargetKind* kind : all_kinds()) names.push_back(kind->name);
  if (name.find('/') != std::string_view::npos)
    throw UserError("unknown target tag \"{}\"", name).help("{}", near_tags_text(name));
  throw UserError("unknown target kind \"{}\"", name).help("the kinds are {}", fmt::join(names, ", "));
}

const TargetAttr& require_attr(const TargetKind& kind, std::string_view name) {
  std::vector<std::string_view> names;
  for (const TargetAttr& attr : kind.attrs) {
    if (attr.name == name) return attr;
    names.push_back(attr.name);
  }
  throw UserError("target {} has no attribute \"{}\"", kind.name, name)
      .help("{}", nearest_names_text(name, names));
}

ObjectRef strings(const std::vector<std::string>& values) {
  std::vector<ObjectRef> items;
  for (const std::string& value : values) items.push_back(StringImmNode::make(value));
  return ArrayNode::make(std::move(items));
}

ObjectRef attr_value(const TargetKind& kind, const TargetAttr& attr, const std::string& text) {
  if (attr.type == TargetAttr::kString) {
    if (!attr.values.empty() && std::find(attr.values.begin(), attr.values.end(), text) == attr.values.end())
      throw UserError("target {}: -{} is \"{}\", expected \"{}\"", kind.name, attr.name, text,
                      fmt::join(attr.values, "\" or \""));
    return StringImmNode::make(text);
  }
  if (attr.type == TargetAttr::kStrings) return strings(split(text, ','));
  int64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    throw UserError("target {}: attribute \"{}\" must be an integer, but is \"{}\"", kind.name, attr.name,
                    text);
  if (value < attr.least || value > attr.most)
    throw UserError("target {}: -{} must be {} to {}{}{}, but is {}", kind.name, attr.name, attr.least,
                    attr.most, attr.unit.empty() ? "" : " ", attr.unit, value);
  return IntImmNode::make(kInt64, value);
}

Target make_target(const TargetKind& kind, AttrMap attrs) {
  std::vector<std::string> keys = split(kind.default_keys, ',');
  const ObjectRef extra = attrs.get("keys");
  if (const auto* list = extra.as<ArrayNode>()) {
    for (const ObjectRef& item : list->items) {
      if (const auto* key = item.as<StringImmNode>()) keys.push_back(key->value);
    }
  }
  Target target = TargetNode::make(std::string(kind.name), std::move(attrs), std::move(keys));
  if (kind.name == "cuda") (void)cuda_architectures(target);  // refuses wrong names at once
  return target;
}

// "llvm -mcpu=x -num-cores 4"; one or two dashes, value after = or a blank
Target parse_command_line(std::string_view text) {
  std::vector<std::string> words = split(text, ' ');
  if (words.empty()) throw UserError("the target is empty").help("write a kind, e.g. \"llvm\"");
  if (const std::string_view meaning = find_target_tag(words[0]); !meaning.empty()) {
    const std::vector<std::string> meant = split(meaning, ' ');
    words.erase(words.begin());
    words.insert(words.begin(), meant.begin(), meant.end());
  }
  const TargetKind& kind = require_kind(words[0]);
  AttrMap attrs;
  for (size_t n = 1; n < words.size(); ++n) {
    std::string_view word = words[n];
    if (!word.starts_with('-'))
      throw UserError("target {}: expected an option like -mcpu=..., but found \"{}\"", kind.name, word);
    while (word.starts_with('-')) word.remove_prefix(1);
    const size_t equals = word.find('=');
    const TargetAttr& attr = require_attr(kind, word.substr(0, equals));
    std::string value;
    if (equals != std::string_view::npos)
      value = word.substr(equals + 1);
    else if (n + 1 < words.size())
      value = words[++n];
    else
      throw UserError("target {}: option -{} has no value", kind.name, attr.name);
    attrs.set(std::string(attr.name), attr_value(kind, attr, value));
  }
  return make_target(kind, std::move(attrs));
}

Target parse_object(std::string_view text) {
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (json.is_object() && json.size() == 1 && json.contains("tag") && json["tag"].is_string())
    return parse_command_line(json["tag"].get<std::string>());
  if (!json.is_object() || !json.contains("kind") || !json["kind"].is_string())
    throw UserError("the target is not a JSON object with a \"kind\": {}", text);
  const TargetKind& kind = require_kind(json["kind"].get<std::string>());
  AttrMap attrs;
  for (const auto& [key, value] : json.items()) {
    if (key == "kind" || key == "tag") continue;
    const TargetAttr& attr = require_attr(kind, key);
    if (value.is_array()) {
      std::vector<std::string> items;
      for (const auto& item : value)
        items.push_back(item.is_string() ? item.get<std::string>() : item.dump());
      attrs.set(std::string(attr.name), strings(items));
    } else {
      attrs.set(std::string(attr.name),
                attr_value(kind, attr, value.is_string() ? value.get<std::string>() : value.dump()));
    }
  }
  return make_target(kind, std::move(attrs));
}

}  // namespace

std::span<const TargetKind* const> all_kinds() { return {k_kinds, k_kinds_count}; }

const TargetKind* find_target_kind(std::string_view name) {
  for (const TargetKind* kind : all_kinds()) {
    if (kind->name == name) return kind;
  }
  return nullptr;
}

Target parse_target(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\n");
  if (begin == std::string_view::npos)
    throw UserError("the target is empty").help("write a kind, e.g. \"llvm\"");
  text.remove_prefix(begin);
  if (text.starts_with('{')) return parse_object(text);
  return parse_command_line(text);
}

}  // namespace tilewright::target
