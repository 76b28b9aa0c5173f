#include "tilewright/ir/target.h"

#include <fmt/ranges.h>

#include <charconv>
#include <nlohmann/json.hpp>

#include "tilewright/ir/expr.h"
#include "tilewright/support/near.h"

namespace tilewright::ir {
namespace {

constexpr TargetAttr kCpuAttrs[] = {
    {"mcpu", TargetAttr::kString, "CPU name as LLVM knows it; \"native\" is this machine"},
    {"mtriple", TargetAttr::kString, "architecture-vendor-system, e.g. aarch64-linux-gnu"},
    {"mattr", TargetAttr::kStrings, "features to add or remove, e.g. +avx512f,-amx-tile"},
    {"num-cores", TargetAttr::kInt, "threads that parallel loops may use"},
    {"l1_cache_size_bytes", TargetAttr::kInt, "bytes of the first data cache of a core"},
    {"l2_cache_size_bytes", TargetAttr::kInt, "bytes of the second cache, which a core has for itself"},
    {"vector-width", TargetAttr::kInt,
     "widest vectors in bits: 128, 256 or 512; default: the widest that are fast"},
    {"model", TargetAttr::kString, "name of the machine, for people"},
    {"opt-level", TargetAttr::kInt, "0..3, how hard LLVM tries"},
    {"fast-math", TargetAttr::kStrings,
     "what floats may do besides contraction: reassoc,nnan,ninf,nsz,arcp,afn"},
    {"fp-contract", TargetAttr::kString,
     "\"fast\": a * b + c may be rounded once, which is faster; \"off\": it is rounded twice"},
    {"device", TargetAttr::kString, "kind of device, for rules"},
    {"keys", TargetAttr::kStrings, "extra keys for rules"},
};
constexpr TargetAttr kGpuAttrs[] = {
    {"arch", TargetAttr::kString, "architecture, e.g. sm_80"},
    {"max_threads_per_block", TargetAttr::kInt, "threads in a block"},
    {"max_shared_memory_per_block", TargetAttr::kInt, "bytes of shared memory in a block"},
    {"registers_per_block", TargetAttr::kInt, "32-bit registers of a block"},
    {"l2_cache_size_bytes", TargetAttr::kInt, "bytes of the cache that all blocks share"},
    {"thread_warp_size", TargetAttr::kInt, "threads that run in step"},
    {"model", TargetAttr::kString, "name of the machine, for people"},
    {"device", TargetAttr::kString, "kind of device, for rules"},
    {"keys", TargetAttr::kStrings, "extra keys for rules"},
};
constexpr TargetKind kKinds[] = {
    {"llvm", "cpu", "machine code for CPUs, through LLVM", kCpuAttrs, std::size(kCpuAttrs), "cpu"},
    {"c", "cpu", "C99 source", kCpuAttrs, std::size(kCpuAttrs), "cpu"},
    {"cuda", "cuda", "CUDA source for NVIDIA GPUs", kGpuAttrs, std::size(kGpuAttrs), "cuda,gpu"},
    {"opencl", "opencl", "OpenCL C source", kGpuAttrs, std::size(kGpuAttrs), "opencl,gpu"},
    {"metal", "metal", "Metal source for Apple GPUs", kGpuAttrs, std::size(kGpuAttrs), "metal,gpu"},
};

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

const TargetKind& require_kind(std::string_view name) {
  if (const TargetKind* kind = find_target_kind(name)) return *kind;
  std::vector<std::string_view> names;
  for (const TargetKind& kind : kKinds) names.push_back(kind.name);
  if (name.find('/') != std::string_view::npos)
    throw UserError("unknown target tag \"{}\"", name).help("{}", nearest_names_text(name, target_tags()));
  throw UserError("unknown target kind \"{}\"", name).help("the kinds are {}", fmt::join(names, ", "));
}

const TargetAttr& require_attr(const TargetKind& kind, std::string_view name) {
  std::vector<std::string_view> names;
  for (size_t n = 0; n < kind.num_attrs; ++n) {
    if (kind.attrs[n].name == name) return kind.attrs[n];
    names.push_back(kind.attrs[n].name);
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
  if (attr.name == "fp-contract" && text != "fast" && text != "off")
    throw UserError("target {}: -fp-contract is \"{}\", expected \"fast\" or \"off\"", kind.name, text);
  if (attr.type == TargetAttr::kString) return StringImmNode::make(text);
  if (attr.type == TargetAttr::kStrings) return strings(split(text, ','));
  int64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    throw UserError("target {}: attribute \"{}\" must be an integer, but is \"{}\"", kind.name, attr.name,
                    text);
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
  return TargetNode::make(std::string(kind.name), std::move(attrs), std::move(keys));
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

const TargetKind* find_target_kind(std::string_view name) {
  for (const TargetKind& kind : kKinds) {
    if (kind.name == name) return &kind;
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
