#include "tilewright/script/parser/aliases.h"

namespace tilewright::script {
namespace {

// "tvm.script.tir.exp" -> "tir.exp": removes package prefixes and normalises the
// module names of all versions.
std::string canonical(std::string_view path) {
  bool cut = true;
  while (cut) {
    cut = false;
    for (std::string_view prefix : {"tvm.", "tilewright.", "script.", "parser.", "compat."}) {
      if (!path.starts_with(prefix)) continue;
      path.remove_prefix(prefix.size());
      cut = true;
    }
  }
  if (path == "ir_module") return "ir.ir_module";
  auto renamed = [&](std::string_view from, std::string_view to) {
    return path == from || (path.starts_with(from) && path[from.size()] == '.')
               ? std::string(to).append(path.substr(from.size()))
               : std::string();
  };
  for (auto [from, to] : {std::pair{"tirx.op", "tir"},
                          {"tir.op", "tir"},
                          {"tirx", "tir"},
                          {"s_tir", "tir"},
                          {"tir", "tir"},
                          {"relax.op", "relax"},
                          {"relax", "relax"},
                          {"ir", "ir"}}) {
    std::string result = renamed(from, to);
    if (!result.empty()) return result;
  }
  return {};
}

}  // namespace

Aliases::Aliases() {
  for (auto [name, path] : {std::pair{"T", "tir"},
                            {"tir", "tir"},
                            {"tirx", "tir"},
                            {"s_tir", "tir"},
                            {"Tx", "tir"},
                            {"R", "relax"},
                            {"relax", "relax"},
                            {"rx", "relax"},
                            {"I", "ir"},
                            {"tvm", "tvm"},
                            {"tilewright", "tilewright"},
                            {"tw", "tilewright"}})
    add(name, path);
  // programs of 2022 wrote types of graphs without a module
  for (const char* name : {"Tensor", "Shape", "Object", "Callable"}) add(name, std::string("relax.") + name);
}

void Aliases::add(std::string name, std::string path) {
  entries_.emplace_back(std::move(name), std::move(path));
}

std::string Aliases::resolve(std::string_view dotted) const {
  const size_t dot = dotted.find('.');
  const std::string_view root = dotted.substr(0, dot);
  for (size_t n = entries_.size(); n-- > 0;) {
    if (entries_[n].first != root) continue;
    std::string path = entries_[n].second;
    if (path.empty()) return {};  // a value that the user defined
    if (dot != std::string_view::npos) path.append(dotted.substr(dot));
    return canonical(path);
  }
  return {};
}

}  // namespace tilewright::script
