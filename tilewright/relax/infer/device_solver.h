// Which device each value of a module is on.  All that an operator reads and writes is on one device, so values form
// groups; types, R.to_vdevice and R.hint_on_device say where groups are.
#pragma once
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tilewright/relax/infer/vdevices.h"

namespace tilewright::relax {

class DeviceSolver {
 public:
  /// is_strict  an operator that reads values on different devices raises UserError; else they stay where they are, and
  ///            the virtual machine copies what its kernels read
  /// otherwise  the device of values that nothing places; npos: they stay without one
  DeviceSolver(const IRModule& module, const VDevices& devices, bool is_strict, size_t otherwise);

  /// The type of a variable, of a call, or of the result of a function with the devices of its tensors.
  Type type_of_var(const VarBaseNode* var) const;
  Type type_of_call(const CallNode* call, const Type& type) const;
  Type type_of_result(const FunctionNode* func) const;
  /// The device that a hint or a move puts its argument on; npos for an argument that is nowhere yet or a constant.
  static constexpr size_t npos = SIZE_MAX;
  size_t device_of_argument(const CallNode* call) const;

 private:
  using Leaves = std::vector<size_t>;  // a place for each tensor that a value holds
  struct Place {
    size_t parent;
    size_t device = npos;
    std::string name;  // of the value that says so
  };
  struct Argument {
    size_t leaf;
    std::string name;
  };

  void declare(const FunctionNode* func);
  void visit_function(const FunctionNode* func);
  Leaves visit_sequence(const Expr& body);
  void visit_binding(const Binding& binding);
  Leaves visit(const Expr& expr);
  Leaves visit_call(const CallNode* call);
  Leaves visit_operator(const CallNode* call);
  Leaves visit_moved(const CallNode* call, bool is_hint);
  Leaves visit_graph_call(const CallNode* call, const FunctionNode* callee, const std::string& name);
  Leaves visit_loop(const CallNode* call);
  Leaves visit_mixed(const CallNode* call);
  Leaves visit_if(const IfNode* node);

  Leaves new_leaves(const Type& type, const std::string& name, const Expr& where);
  std::vector<Argument> arguments(const CallNode* call, size_t first);
  const FunctionNode* function_called(const Expr& callee) const;
  size_t root(size_t leaf) const;
  void unite(const Argument& a, const Argument& b, const Expr& where, std::string_view what);
  void unite_all(const Leaves& a, const Leaves& b, std::string_view name, const Expr& where,
                 std::string_view what);
  std::vector<std::string> names_of(const Leaves& leaves) const;

  const IRModule& module_;
  const VDevices& devices_;
  const bool is_strict_;
  mutable std::vector<Place> places_;
  std::unordered_map<const Object*, Leaves> leaves_;   // of variables and calls
  std::unordered_map<const Object*, Leaves> results_;  // of functions
  std::vector<std::pair<size_t, size_t>>
      hints_;  // a place, and the device that it has unless another is known
  std::vector<std::pair<size_t, Leaves>> computed_;  // a place, and those that it has the device of
};

}  // namespace tilewright::relax
