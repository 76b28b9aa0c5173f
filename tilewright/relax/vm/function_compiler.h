// Compiles one graph function; used by vm_codegen.cc only.
#pragma once
#include <unordered_map>

#include "tilewright/relax/liveness.h"
#include "tilewright/relax/vm_codegen.h"
#include "tilewright/runtime/vm/builder.h"

namespace tilewright::relax::vm {
namespace rt = runtime::vm;

class FunctionCompiler {
 public:
  FunctionCompiler(const IRModule& module, rt::ExecutableBuilder& executable, std::string name,
                   const Function& func, bool is_public);
  rt::BytecodeFunction compile();
  MemoryPlan& plan() { return plan_; }

 private:
  // parameters.cc: what comes in
  void check_parameters();
  void check_value(rt::Register value, const std::string& name, const Type& type);
  rt::Operand dim_pattern(const PrimExpr& extent);
  void check_derived_dims();
  // sizes.cc: shape arithmetic
  rt::Operand size(const PrimExpr& extent);
  rt::IntRegister int_register(const PrimExpr& expr);
  rt::Operands sizes(const std::vector<PrimExpr>& extents);
  // memory
  void plan_arena();
  rt::Register allocate(size_t allocation, const CallNode* call);
  // bindings
  void load_constants();
  rt::Register sequence(const SeqExprNode* seq);
  void bind(const Binding& binding);
  rt::Register value(const Expr& expr);
  rt::Operand operand(const Expr& expr);
  rt::Register call(const CallNode* call, const VarBaseNode* var);
  rt::Register call_with_outputs(const CallNode* call, const VarBaseNode* var);
  rt::Register call_other(const CallNode* call);
  rt::Register reshape(const CallNode* call);
  rt::Register branch(const IfNode* node);
  void match_cast(const MatchCastNode* node);
  rt::Operands operands(const std::vector<Expr>& args, size_t first = 0);

  struct DerivedDim {
    rt::Register tensor;
    uint32_t axis;
    PrimExpr extent;
    std::string name;
  };

  const IRModule& module_;
  rt::ExecutableBuilder& executable_;
  Function func_;
  rt::FunctionBuilder code_;
  Liveness liveness_;
  MemoryPlan plan_;
  std::vector<int64_t> static_offset_;  // by allocation; -1: not in the static part
  std::unordered_map<const VarBaseNode*, rt::Register> registers_;
  std::unordered_map<const tir::VarNode*, rt::IntRegister> dims_;
  std::unordered_map<const ConstantNode*, rt::Register> constants_;
  std::vector<DerivedDim> derived_;
};

}  // namespace tilewright::relax::vm
