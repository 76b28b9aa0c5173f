// Names of variables in printed source: legal identifiers of the C family, different where both are visible.
#pragma once
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tilewright/tir/tir.h"

namespace tilewright::codegen {

/// Whether `name` is an identifier of C that is no keyword.
bool is_identifier(std::string_view name);

/// The names of one function.  A name is free again where the block that declared it has ended.
class Names {
 public:
  /// `reserved`: what no variable may be called besides keywords, e.g. functions that are called.
  explicit Names(std::set<std::string, std::less<>> reserved);

  void enter() { blocks_.emplace_back(); }
  void leave();
  /// A name for `var`, as near to its name_hint as possible, in the innermost block.
  const std::string& declare(const tir::VarNode* var);
  /// A name for something that is no variable of the program.
  std::string declare(std::string_view hint);
  /// Takes back the last name that the innermost block declared.
  void take_back();
  /// The name of a declared variable; raises UserError if nothing declared it.
  const std::string& of(const tir::VarNode* var) const;

 private:
  std::set<std::string, std::less<>> used_;
  std::vector<std::vector<std::string>> blocks_{1};
  std::unordered_map<const tir::VarNode*, std::string> names_;
};

}  // namespace tilewright::codegen
