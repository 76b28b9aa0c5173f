// Computes calls whose arguments are all constants.
//   lv = R.permute_dims(R.const(w), axes=[1, 0]); gv = R.matmul(x, lv)  ->  gv = R.matmul(x, R.const(w.T))
// Works on operators and on call_tir, so it may run before and after legalize_ops.  Shape values (shape_of,
// tensor_to_shape) become R.shape([...]) where they are known, and their users get more precise types.
// Not folded: calls that would make the model much larger (zeros, broadcasts of large extents), take too
// long, or raise an error.
#include "tilewright/ir/rewrite.h"
#include "tilewright/relax/build/block_builder.h"
#include "tilewright/relax/fold/fold_call.h"
#include "tilewright/relax/infer/infer.h"
#include "tilewright/relax/memory/liveness.h"
#include "tilewright/relax/pass.h"

namespace tilewright::relax {
namespace {

struct Options {
  int64_t max_growth = 16;
  int64_t small_bytes = 4096;
  int64_t max_steps = 1 << 21;
  static constexpr auto fields() {
    return std::tuple{
        field<&Options::max_growth>("max_growth", "a result may be at most this many times its arguments"),
        field<&Options::small_bytes>("small_bytes", "results of at most this many bytes are always kept"),
        field<&Options::max_steps>("max_steps",
                                   "most iterations of loops to interpret; moves of elements and "
                                   "float arithmetic have no limit")};
  }
};

class Folder {
 public:
  Folder(const IRModule& module, const Options& options)
      : module_(module), options_(options), steps_left_(options.max_steps) {}

  /// The value of `call`, which has its type; null if it cannot be computed or is not worth storing.
  Expr fold(const Call& call) {
    return op_name(call.get()) == "relax.call_tir" ? fold_call_tir(call)
                                                   : fold_call(call, limits(), &steps_left_);
  }

 private:
  FoldLimits limits() const { return {options_.max_growth, options_.small_bytes}; }

  Expr fold_call_tir(const Call& call) {
    std::vector<runtime::Tensor> inputs;
    const auto* callee = call->args[0].as<GlobalVarNode>();
    const auto func = callee ? ref_as<tir::PrimFuncNode>(module_->find(callee->name_hint)) : tir::PrimFunc();
    if (!func || call->args.size() != 2 || !collect_constants(call->args[1], &inputs)) return nullptr;
    const std::vector<TensorType> outputs = output_types(call.get());
    if (!is_worth_storing(outputs, inputs, limits())) return nullptr;
    return fold_program(func, inputs, outputs, outputs.size() > 1, &steps_left_);
  }

  const IRModule& module_;
  const Options& options_;
  int64_t steps_left_;
};

Function fold_function(const Function& func, const IRModule& module, Folder& folder) {
  auto fold_call = [&](auto& self, const CallNode* node) -> Expr {
    Call call = self.children(node);
    if (call.get() != node && op_of(call.get()))
      call = with(call, [&](CallNode& changed) {
        changed.type = nullptr;
        changed.type = infer_type(call, module.get());
      });
    const Expr known = call->type ? folder.fold(call) : Expr();
    return known ? known : Expr(call);
  };
  auto fold_item = [&](auto& self, const TupleGetItemNode* node) -> Expr {
    const TupleGetItem item = self.children(node);
    const auto* tuple = item->tuple.as<TupleNode>();
    return tuple ? tuple->elements.at(static_cast<size_t>(item->index)) : Expr(item);
  };
  // a constant replaces the uses of its variable
  auto fold_binding = [&](auto& self, const VarBindingNode* node) -> Binding {
    const VarBinding binding = self.children(node);
    std::vector<runtime::Tensor> tensors;
    const bool is_known = is<ConstantNode>(binding->value) ||
                          (binding.get() != node && (is<ShapeExprNode>(binding->value) ||
                                                     collect_constants(binding->value, &tensors)));
    if (is_known) self.replace_uses(node->var.get(), binding->value);
    return binding;
  };
  // and drops its binding, unless the variable is visible outside of the block
  auto fold_block = [&](auto& self, const DataflowBlockNode* node) -> BindingBlock {
    const DataflowBlock block = self.children(node);
    if (block.get() == node) return block;
    std::vector<Binding> kept;
    for (size_t n = 0; n < block->bindings.size(); ++n) {
      const Binding& binding = block->bindings[n];
      const bool was_call =
          is<CallNode>(node->bindings[n]->value) || is<TupleGetItemNode>(node->bindings[n]->value);
      const bool is_leaf = is<ConstantNode>(binding->value) || is<ShapeExprNode>(binding->value) ||
                           is<TupleNode>(binding->value);
      if (!is<DataflowVarNode>(binding->var) || !was_call || !is_leaf) kept.push_back(binding);
    }
    return DataflowBlockNode::make(std::move(kept));
  };
  const Function folded = rewrite(func, fold_call, fold_item, fold_binding, fold_block);
  return folded == func ? func : BlockBuilder(module).normalize_function(folded);
}

IRModule run(const IRModule& module, const Options& options, PassContext&) {
  Folder folder(module, options);
  return map_functions<FunctionNode>(
      module, [&](const Function& func) { return fold_function(func, module, folder); });
}

}  // namespace

extern constinit const PassInfo fold_constant_info =
    module_pass<run, Options>("fold_constant", "Computes values that depend only on constants.", 1);

}  // namespace tilewright::relax
