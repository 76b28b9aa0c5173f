// Compiles one graph function; used only by vm_codegen.cc.
#pragma once
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "tilewright/relax/infer/vdevices.h"
#include "tilewright/relax/memory/memory_layout.h"
#include "tilewright/runtime/vm/builder.h"

namespace tilewright::relax::vm {
namespace rt = runtime::vm;

class FunctionCompiler {
 public:
  FunctionCompiler(const IRModule& module, rt::ExecutableBuilder& executable, std::string name,
                   const Function& func, bool is_public);
  rt::BytecodeFunction compile();
  MemoryPlan& plan() { return layout_.plan; }

 private:
  // parameters.cc: checks of the arguments
  void check_parameters();
  void check_value(rt::Register value, const std::string& name, const Type& type);
  void align(rt::Register value, const Var& param);
  rt::Operand dim_pattern(const PrimExpr& extent);
  rt::Operands dim_patterns(rt::Register value, const std::string& name, int64_t ndim, const Shape* shape);
  void check_derived_dims();
  void bind_dim(const tir::VarNode* dim, rt::IntRegister place);
  // sizes.cc: shape arithmetic
  rt::Operand size(const PrimExpr& extent);
  rt::IntRegister int_register(const PrimExpr& expr);
  rt::IntRegister inverted(rt::IntRegister truth);
  std::optional<rt::IntRegister> comparison(const PrimExpr& expr);
  rt::IntRegister chosen(const tir::SelectNode* node);
  rt::Operands sizes(const std::vector<PrimExpr>& extents);
  // memory.cc
  void reserve_arena();
  rt::Register alloc_own(const CallNode* call);
  rt::Register alloc_in_storage(const CallNode* call, const VarBaseNode* var);
  void check_begins(const CallNode* call, const std::string& name);
  void check_fits(const CallNode* call, const StoragePlace& storage, const std::string& name);
  void check_bounds();
  void kill(const CallNode* call);
  void end(const VarBaseNode* var);
  rt::Operand sum(const rt::Operand& a, const rt::Operand& b);
  // devices.cc
  bool is_split() const { return devices_.list().size() > 1; }
  size_t device_of_type(const Type& type) const;
  size_t device_of(const Binding& binding) const;
  void load_constant(const ConstantNode* constant, size_t device);
  void load_constants();
  // bindings
  rt::Register sequence(const SeqExprNode* seq, const Type& result);
  void bind(const Binding& binding);
  void name(const VarBaseNode* var, rt::Register place);
  bool does(const CallNode* call, const VarBaseNode* var);
  void require(const CallNode* call);
  rt::Register value(const Expr& expr);
  rt::Operand operand(const Expr& expr);
  rt::Register call(const CallNode* call, const VarBaseNode* var);
  rt::Register call_other(const CallNode* call);
  rt::Register reshape(const CallNode* call);
  rt::Register branch(const IfNode* node, const Type& result);
  // loop.cc
  rt::Register loop(const CallNode* call);
  rt::Operand empty_result(const Type& element);
  rt::Operand unless_absent(const Expr& arg);
  rt::Operands fields(const Expr& tuple);
  void match_cast(const MatchCastNode* node);
  rt::Operands operands(const std::vector<Expr>& args, size_t first = 0);

  struct DerivedDim {
    rt::Register value;  // a tensor or a shape
    uint32_t axis;
    PrimExpr extent;
    std::string name;
  };

  const IRModule& module_;
  const VDevices devices_;
  rt::ExecutableBuilder& executable_;
  Function func_;
  rt::FunctionBuilder code_;
  MemoryLayout layout_;
  std::vector<rt::Operand> storage_begin_;                        // the offset in the arena, by storage
  std::vector<std::pair<std::string, rt::IntRegister>> bounded_;  // dimensions with unchecked bounds
  std::unordered_set<const VarBaseNode*> storage_names_;          // variables that are a storage
  std::unordered_set<const VarBaseNode*> ended_;                  // variables whose registers are dropped
  std::unordered_set<uint32_t> in_arena_, is_kept_;               // registers that need not be dropped
  std::unordered_map<uint32_t, int> names_of_;                    // number of variables that share a register
  std::unordered_map<const VarBaseNode*, rt::Register> registers_;
  std::unordered_map<const tir::VarNode*, rt::IntRegister> dims_;
  std::map<std::pair<const ConstantNode*, size_t>, rt::Register> constants_;  // by device, too
  std::vector<DerivedDim> derived_;
};

}  // namespace tilewright::relax::vm
