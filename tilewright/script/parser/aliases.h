// The names in a program that stand for the script modules: T, tir, R, relax, I and names defined by imports.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace tilewright::script {

class Aliases {
 public:
  Aliases();
  void add(std::string name, std::string path);
  /// The canonical path of a dotted name: "T.axis.spatial" -> "tir.axis.spatial", "relax.op.add" ->
  /// "relax.add", "tvm.script.ir_module" -> "ir.ir_module".  Empty if its first name does not
  /// stand for a script module.
  std::string resolve(std::string_view dotted) const;

 private:
  std::vector<std::pair<std::string, std::string>> entries_;  // later entries win
};

}  // namespace tilewright::script
