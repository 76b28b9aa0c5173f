// Names of variables in printed source: valid identifiers of C-like languages, distinct where both are
// visible.
#pragma once
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tilewright/tir/tir.h"

namespace tilewright::codegen {

/// True if `name` is a C identifier and not a keyword.
bool is_identifier(std::string_view name);

/// The names of one function.  A name is free again after the block that declared it.
class Names {
 public:
  /// `reserved`: names that variables must not have besides keywords, e.g. functions that are called.
  explicit Names(std::set<std::string, std::less<>> reserved);

  void enter() { blocks_.emplace_back(); }
  void leave();
  /// Declares a name for `var`, as similar to its name_hint as possible, in the innermost block.
  const std::string& declare(const tir::VarNode* var);
  /// Declares a name for something other than a variable of the program.
  std::string declare(std::string_view hint);
  /// Gives `var` a text that is no name of its own, such as a component of a vector: "a.x".
  void set(const tir::VarNode* var, std::string text) { names_[var] = std::move(text); }
  /// Removes the last name that the innermost block declared.
  void take_back();
  /// The name of a declared variable; raises UserError if nothing declared it.
  const std::string& of(const tir::VarNode* var) const;

 private:
  std::set<std::string, std::less<>> used_;
  std::vector<std::vector<std::string>> blocks_{1};
  std::unordered_map<const tir::VarNode*, std::string> names_;
};

}  // namespace tilewright::codegen
