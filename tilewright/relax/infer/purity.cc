#include "tilewright/relax/infer/purity.h"

#include <optional>

#include "tilewright/ir/walk.h"
#include "tilewright/relax/infer/infer.h"
#include "tilewright/relax/infer/op.h"
#include "tilewright/support/error.h"

namespace tilewright::relax {
namespace {

// A side effect of a call, and the call to write instead if there is none.
struct Effect {
  std::string what, instead;
};

bool is_about_memory(std::string_view op) {
  return op.starts_with("relax.builtin.") || op.starts_with("relax.memory.") || op.starts_with("relax.vm.");
}

std::optional<Effect> effect_of_registered(const ExternFuncNode* func) {
  const auto* type = func->type.as<CallableTypeNode>();
  if (type && type->is_pure) return std::nullopt;
  return Effect{fmt::format("R.call_packed of \"{}\" may have side effects", func->global_symbol),
                "R.call_pure_packed if it has none"};
}

// The side effect of `call`, if it has one or calls a function that is not known to be pure.
std::optional<Effect> effect_of(const CallNode* call, const IRModuleNode* module, bool in_dataflow) {
  if (const OpInfo* info = op_of(call)) {
    if (info->is_pure || is_about_memory(info->name)) return std::nullopt;
    const auto* registered = info->name == "relax.call_packed" ? call->args[0].as<ExternFuncNode>() : nullptr;
    if (registered) return effect_of_registered(registered);
    return Effect{fmt::format("R.{} has side effects", info->name.substr(info->name.find('.') + 1)), ""};
  }
  if (const auto* func = call->op.as<ExternFuncNode>()) return effect_of_registered(func);
  const auto* global = call->op.as<GlobalVarNode>();
  const BaseFunc callee = global && module ? module->find(global->name_hint) : BaseFunc();
  if (const auto* external = callee.as<ExternFuncNode>()) return effect_of_registered(external);
  if (is<tir::PrimFuncNode>(callee)) {
    if (!in_dataflow) return std::nullopt;
    return Effect{fmt::format("loop program {} writes into its arguments", global->name_hint), "R.call_tir"};
  }
  const auto* graph = callee.as<FunctionNode>();
  const Type type = global && !graph ? global->type : type_of(call->op);
  const auto* callable = type.as<CallableTypeNode>();
  if (graph ? graph->is_pure : !callable || callable->is_pure) return std::nullopt;
  return Effect{fmt::format("{} is not pure", callee_name(call->op)), ""};
}

class Checker {
 public:
  Checker(std::string_view name, bool is_pure, const IRModuleNode* module)
      : name_(name), is_pure_(is_pure), module_(module) {}

  void check(const Expr& expr, bool in_dataflow) const {
    if (const auto* seq = expr.as<SeqExprNode>()) {
      for (const BindingBlock& block : seq->blocks) {
        for (const Binding& binding : block->bindings)
          check_value(binding, in_dataflow || is<DataflowBlockNode>(block));
      }
      return check(seq->body, in_dataflow);
    }
    if (const auto* branch = expr.as<IfNode>()) {
      check(branch->true_branch, in_dataflow);
      return check(branch->false_branch, in_dataflow);
    }
    if (const auto* call = expr.as<CallNode>()) check_call(call, in_dataflow);
  }

 private:
  void check_value(const Binding& binding, bool in_dataflow) const {
    if (const auto* inner = binding->value.as<FunctionNode>())
      require_purity(Function(inner), binding->var->name_hint, module_);
    else
      check(binding->value, in_dataflow);
  }

  void check_call(const CallNode* call, bool in_dataflow) const {
    if (!in_dataflow && !is_pure_) return;
    const std::optional<Effect> effect = effect_of(call, module_, in_dataflow);
    if (!effect) return;
    const std::string instead = effect->instead.empty() ? "" : fmt::format("write {}, or ", effect->instead);
    if (in_dataflow)
      throw UserError(call, "{}, but is in a dataflow block", effect->what)
          .help("{}move it out of the block", instead);
    throw UserError(call, "{}, but function {} is pure", effect->what, name_)
        .help("{}declare {} impure: @R.function(pure=False), bb.function(..., pure=False) or is_pure=False",
              instead, name_);
  }

  std::string_view name_;
  bool is_pure_;
  const IRModuleNode* module_;
};

}  // namespace

bool is_pure_call(const CallNode* call, const IRModuleNode* module) {
  if (const OpInfo* info = op_of(call)) return info->is_pure;
  const auto* callee = call->op.as<GlobalVarNode>();
  const auto func = callee ? ref_as<FunctionNode>(module->find(callee->name_hint)) : Function();
  return func && func->is_pure;
}

void require_purity(const Function& func, std::string_view name, const IRModuleNode* module) {
  if (func->attrs.get_bool("relax.force_pure", false)) return;
  Checker(name, func->is_pure, module).check(func->body, false);
}

}  // namespace tilewright::relax
