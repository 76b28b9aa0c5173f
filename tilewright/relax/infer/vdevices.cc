#include "tilewright/relax/infer/vdevices.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "tilewright/ir/pass.h"
#include "tilewright/ir/rewrite.h"
#include "tilewright/ir/walk.h"
#include "tilewright/relax/graph/devices.h"
#include "tilewright/relax/graph/type_util.h"
#include "tilewright/support/error.h"
#include "tilewright/support/near.h"
#include "tilewright/target/target.h"

namespace tilewright::relax {
namespace {

struct DeviceName {
  std::string_view kind;
  int32_t number = 0;
};

// "cuda", "cuda:1", "cuda:1:global"
std::optional<DeviceName> split(std::string_view text) {
  const size_t colon = text.find(':');
  DeviceName name{text.substr(0, colon)};
  if (colon == std::string_view::npos) return name;
  std::string_view number = text.substr(colon + 1);
  number = number.substr(0, number.find(':'));
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), name.number);
  const bool is_number = error == std::errc() && end == number.data() + number.size() && name.number >= 0;
  return is_number ? std::optional(name) : std::nullopt;
}

runtime::Device device_of(const target::TargetKind& kind, int64_t id) {
  const runtime::Device device = runtime::Device::parse(kind.device);
  return {device.type, device.is_cpu() ? 0 : static_cast<int32_t>(id)};
}

// The target of an entry as text: {"target": "cuda"} or {"target": {"kind": "cuda", "arch": "sm_80"}} or a Target.
std::string target_text(const ObjectRef& target) {
  if (const auto* text = target.as<StringImmNode>()) return text->value;
  if (const auto* node = target.as<TargetNode>()) return node->str();
  const auto* dict = target.as<DictNode>();
  if (!dict) return "";
  std::string text = dict->items.get_string("kind", dict->items.get_string("tag", ""));
  for (const auto& [key, value] : dict->items) {
    if (key == "kind" || key == "tag") continue;
    if (const auto* number = value.as<IntImmNode>()) text += fmt::format(" -{}={}", key, number->value);
    if (const auto* word = value.as<StringImmNode>()) text += fmt::format(" -{}={}", key, word->value);
  }
  return text;
}

std::vector<std::string_view> kind_names() {
  std::vector<std::string_view> names = {"cpu"};
  for (const target::TargetKind* kind : target::all_kinds()) names.push_back(kind->name);
  return names;
}

std::string list_text(const std::vector<VDevice>& list) {
  std::vector<std::string> names;
  for (const VDevice& each : list) names.push_back(each.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

VDevice vdevice_of(const ObjectRef& entry) {
  const auto* info = entry.as<DictNode>();
  const std::string text = info ? target_text(info->items.get("target")) : "";
  if (text.empty())
    throw UserError("I.module_global_infos: an entry of \"{}\" has no target", kVDevices)
        .help("write I.vdevice(\"llvm\", 0)");
  const int64_t id = info->items.get_int("vdevice_id", 0);
  if (id < 0) throw UserError("I.vdevice: vdevice_id is {}, expected at least 0", id);
  ir::Target target;
  try {
    target = target::parse_target(text);
  } catch (Error& error) {
    error.add_prefix("I.vdevice");
    throw;
  }
  return {target->kind_name, target->str(), device_of(*target::find_target_kind(target->kind_name), id)};
}

VDevices::VDevices(const IRModule& module) {
  const ObjectRef given = module->global_infos.get(kVDevices);
  if (const auto* entries = given.as<ArrayNode>()) {
    for (const ObjectRef& entry : entries->items) {
      VDevice device = vdevice_of(entry);
      const auto number = std::count_if(list_.begin(), list_.end(), [&](const VDevice& other) {
        return split(other.name)->kind == device.name;
      });
      device.name = fmt::format("{}:{}", device.name, number);
      list_.push_back(std::move(device));
    }
  }
  const bool has_list = !list_.empty();
  const auto see = [&](const std::string& name, const Expr& where) {
    if (name.empty()) return;
    is_used_ = true;
    if (!has_list) add_named(name, where);
  };
  for (const BaseFunc& func : module->functions) {
    const auto* graph = func.as<FunctionNode>();
    if (!graph) continue;
    walk(
        func, [&](const TensorTypeNode* type) { see(type->device, func); },
        [&](const CallNode* call) { see(call->attrs.get_string("dst_vdevice", ""), Expr(call)); });
    // walks enter variables where they are defined, but not the types of expressions
    walk(graph->ret_type, [&](const TensorTypeNode* type) { see(type->device, func); });
  }
}

// A device of a module without a list.
void VDevices::add_named(std::string_view text, const Expr& where) {
  const std::optional<DeviceName> name = split(text);
  const std::string_view kind_name = name && name->kind == "cpu" ? "llvm" : name ? name->kind : text;
  const target::TargetKind* kind = target::find_target_kind(kind_name);
  if (!name || !kind)
    throw UserError(where, "there is no device \"{}\"", text)
        .help("write a kind of target and a number, e.g. \"opencl:0\"; {}",
              nearest_names_text(name ? name->kind : text, kind_names()));
  const runtime::Device device = device_of(*kind, name->number);
  const bool is_any_cpu = name->kind == "cpu";
  for (const VDevice& known : list_) {
    const std::optional<DeviceName> other = split(known.name);
    if (known.device.type == device.type && other->number == name->number &&
        (is_any_cpu || other->kind == kind_name))
      return;
  }
  list_.push_back({fmt::format("{}:{}", kind_name, name->number), std::string(kind_name), device});
}

size_t VDevices::find(std::string_view text, const Expr& where) const {
  for (size_t n = 0; n < list_.size(); ++n) {
    if (list_[n].name == text) return n;
  }
  const std::optional<DeviceName> name = split(text);
  std::vector<size_t> of_kind;
  for (size_t n = 0; name && n < list_.size(); ++n) {
    const bool is_meant = name->kind == "vdevice" || name->kind == split(list_[n].name)->kind ||
                          (name->kind == "cpu" && list_[n].device.is_cpu());
    if (is_meant) of_kind.push_back(n);
  }
  const auto number = name ? static_cast<size_t>(name->number) : 0;
  if (number < of_kind.size()) return of_kind[number];
  for (const size_t n : of_kind) {
    if (list_[n].device.id == name->number && name->kind != "vdevice") return n;
  }
  throw UserError(where, "the module has no device \"{}\"", text)
      .help("it has {}; others are added to I.module_global_infos({{\"{}\": [...]}})", list_text(list_),
            kVDevices);
}

size_t VDevices::find_device(std::string_view text, const Expr& where) const {
  const std::optional<DeviceName> name = split(text);
  for (size_t n = 0; name && n < list_.size(); ++n) {
    const bool is_kind =
        name->kind == split(list_[n].name)->kind || (name->kind == "cpu" && list_[n].device.is_cpu());
    if (is_kind && !list_[n].device.is_cpu() && list_[n].device.id == name->number) return n;
  }
  return find(text, where);
}

size_t VDevices::of_type(const Type& type, const Expr& where) const {
  for (const TensorTypeNode* tensor : tensors_in(type)) {
    if (!tensor->device.empty()) return find(tensor->device, where);
  }
  return 0;
}

IRModule VDevices::with_names(const IRModule& module) const {
  std::vector<ObjectRef> entries;
  for (const VDevice& device : list_)
    entries.push_back(DictNode::make(AttrMap{{"target", StringImmNode::make(device.target)},
                                             {"vdevice_id", extent_imm(device.device.id)},
                                             {"memory_scope", StringImmNode::make("global")}}));
  const IRModule listed = with(module, [&](IRModuleNode& node) {
    node.global_infos.set(std::string(kVDevices), ArrayNode::make(std::move(entries)));
  });
  return with_device_names(listed, [&](const std::string& name, const Expr& where, bool is_hint) {
    return list_[is_hint ? find_device(name, where) : find(name, where)].name;
  });
}

size_t num_devices(const IRModule& module) {
  const ObjectRef given = module->global_infos.get(kVDevices);
  const auto* entries = given.as<ArrayNode>();
  return std::max<size_t>(1, entries ? entries->items.size() : 0);
}

IRModule with_device_names(const IRModule& module, const Rename& rename) {
  return map_functions<FunctionNode>(module, [&](const Function& func) {
    return rewrite(
        func,
        [&](auto& self, const TensorTypeNode* node) -> Type {
          const TensorType type = self.children(node);
          const std::string name = type->device.empty() ? "" : rename(type->device, func, false);
          if (name == type->device) return type;
          return with(type, [&](TensorTypeNode& moved) { moved.device = name; });
        },
        [&](auto& self, const CallNode* node) -> Expr {
          const Call call = self.children(node);
          const std::string name = call->attrs.get_string("dst_vdevice", "");
          if (name.empty()) return call;
          const auto* op = call->op.template as<OpNode>();
          const std::string known = rename(name, call, op && op->name == "relax.hint_on_device");
          if (known == name) return call;
          return with(call,
                      [&](CallNode& moved) { moved.attrs.set("dst_vdevice", StringImmNode::make(known)); });
        });
  });
}

}  // namespace tilewright::relax
