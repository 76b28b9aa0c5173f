// Lowers operators to calls of loop programs made from their tensor expressions; equal programs are added
// once.
//   lv = R.add(x, y)  ->  lv = R.call_tir(cls.add, (x, y), out_sinfo=R.Tensor((4, 5), "float32"))
// Operators that only change the shape (reshape, flatten, expand_dims, squeeze) stay: the VM makes views.
// Operators that a runtime function implements (sort, unique) become calls of it.
// Operators that only control gradients (no_grad, start_checkpoint) are replaced by their argument.
// All other operators stay; later passes decide about them.
// Requirements on extents that are known only when the graph runs are stated before
// their operators are replaced.
#include <algorithm>

#include "tilewright/ir/rewrite.h"
#include "tilewright/relax/build/block_builder.h"
#include "tilewright/relax/build/te_call.h"
#include "tilewright/relax/infer/op.h"
#include "tilewright/relax/memory/liveness.h"
#include "tilewright/relax/pass.h"
#include "tilewright/support/error.h"

namespace tilewright::relax {
namespace {

struct Options {
  std::vector<std::string> keep;
  static constexpr auto fields() {
    return std::tuple{field<&Options::keep>("keep", "operators that are kept, e.g. [\"relax.matmul\"]")};
  }
};

bool is_kept(const Options& options, const OpInfo& info) {
  return std::find(options.keep.begin(), options.keep.end(), info.name) != options.keep.end();
}

Expr legalized(const Call& call, const OpInfo& info, BlockBuilder& builder) {
  const TeCall lowered = lower_call(call, info);
  const std::string_view name = info.name.substr(info.name.rfind('.') + 1);
  const GlobalVar func = builder.add_func(lowered.func, std::string(name));
  return with(call_tir(func, lowered, call->span), [&](CallNode& changed) {
    changed.type = call->type;
    // R.split(x, 1) has a tuple type of one field; a list of one type would make the result a tensor
    const auto* tuple = call->type.as<TupleTypeNode>();
    if (tuple && tuple->elements.size() == 1) changed.type_args = {call->type};
  });
}

// call_tir without the name of its gradient, which is not needed any more.
Expr without_gradient(const Call& call) {
  return with(call, [](CallNode& changed) {
    changed.op = OpNode::make("relax.call_tir");
    changed.attrs = {};
  });
}

IRModule run(const IRModule& module, const Options& options, PassContext&) {
  BlockBuilder builder(module);
  IRModule result = module;
  std::vector<std::pair<std::string, Function>> changed;
  for (size_t n = 0; n < module->functions.size(); ++n) {
    if (!is<FunctionNode>(module->functions[n])) continue;
    const Function func = with_requirements(ref_as<FunctionNode>(module->functions[n]));
    Function legal = rewrite(func, [&](auto& self, const CallNode* node) -> Expr {
      Call call = self.children(node);
      const OpInfo* info = op_of(call.get());
      if (info && info->name == "relax.call_tir_with_grad") return without_gradient(call);
      if (info && info->name.starts_with("relax.grad.") && call->args.size() == 1) return call->args[0];
      if (info && !info->packed.empty() && !is_kept(options, *info)) return runtime_call(call, *info);
      if (!info || !info->lower || is_reshape_like(info->name) || is_kept(options, *info)) return call;
      return legalized(call, *info, builder);
    });
    if (legal != module->functions[n])
      changed.emplace_back(module->global_vars[n]->name_hint, std::move(legal));
  }
  if (changed.empty()) return module;
  result = builder.get();
  for (auto& [name, func] : changed) result = with_function(result, name, std::move(func));
  return result;
}

}  // namespace

extern constinit const PassInfo legalize_ops_info =
    module_pass<run, Options>("legalize_ops", "Lowers all operators to loop programs, called by call_tir.");

}  // namespace tilewright::relax
