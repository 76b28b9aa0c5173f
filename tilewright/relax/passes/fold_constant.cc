// Calls whose arguments are all constants are computed now.
//   lv = R.permute_dims(R.const(w), axes=[1, 0]); gv = R.matmul(x, lv)  ->  gv = R.matmul(x, R.const(w.T))
// Works on operators and on call_tir, so it may run before and after legalize_ops.  Shapes taken as values
// (shape_of, tensor_to_shape) become R.shape([...]) where they are known, and what uses them gets better
// types. Not computed: what would make the model much larger (zeros, broadcasts of large extents), what would
// take too long, and what raises an error.
#include "tilewright/ir/rewrite.h"
#include "tilewright/relax/block_builder.h"
#include "tilewright/relax/evaluate.h"
#include "tilewright/relax/infer.h"
#include "tilewright/relax/liveness.h"
#include "tilewright/relax/op.h"
#include "tilewright/relax/pass.h"
#include "tilewright/relax/te_call.h"
#include "tilewright/support/error.h"

namespace tilewright::relax {
namespace {

struct Options {
  int64_t max_growth = 16;
  int64_t small_bytes = 4096;
  int64_t max_steps = 1 << 21;
  static constexpr auto fields() {
    return std::tuple{
        field<&Options::max_growth>("max_growth", "a result may be at most this many times its arguments"),
        field<&Options::small_bytes>("small_bytes", "results of at most so many bytes may always be kept"),
        field<&Options::max_steps>("max_steps",
                                   "most turns of loops to interpret; moves of elements and "
                                   "float arithmetic have no limit")};
  }
};

// The tensors of `arg`; nothing unless all of it is constant.
bool collect_constants(const Expr& arg, std::vector<runtime::Tensor>* tensors) {
  if (const auto* constant = arg.as<ConstantNode>()) {
    tensors->push_back(constant->data);
    return true;
  }
  if (const auto* tuple = arg.as<TupleNode>()) {
    return std::all_of(tuple->elements.begin(), tuple->elements.end(),
                       [&](const Expr& element) { return collect_constants(element, tensors); });
  }
  if (const auto* shape = arg.as<ShapeExprNode>()) return constant_extents(shape->values).has_value();
  if (const auto* value = arg.as<PrimValueNode>())
    return is<IntImmNode>(value->value) || is<FloatImmNode>(value->value);
  return is<StringValueNode>(arg) || is<DataTypeValueNode>(arg);
}

int64_t total_bytes(const std::vector<runtime::Tensor>& tensors) {
  int64_t bytes = 0;
  for (const runtime::Tensor& tensor : tensors) bytes += tensor.num_bytes();
  return bytes;
}

// False for results that are unknown, or too large to be stored in the model.
bool is_worth_storing(const std::vector<TensorType>& outputs, int64_t input_bytes, const Options& options) {
  int64_t bytes = 0;
  for (const TensorType& type : outputs) {
    const Shape* shape = type ? known_shape(type.get()) : nullptr;
    const auto extents = shape ? constant_extents(*shape) : std::nullopt;
    if (!extents || type->dtype.is_void()) return false;
    int64_t mine = type->dtype.num_bytes();
    for (int64_t extent : *extents) {
      if (__builtin_mul_overflow(mine, extent, &mine)) return false;
    }
    if (__builtin_add_overflow(bytes, mine, &bytes)) return false;
  }
  int64_t limit;
  if (__builtin_mul_overflow(input_bytes, options.max_growth, &limit)) limit = INT64_MAX;
  return bytes <= std::max(limit, options.small_bytes);
}

std::vector<TensorType> tensor_types(const Type& type) {
  if (const auto* tuple = type.as<TupleTypeNode>()) {
    std::vector<TensorType> types;
    for (const Type& element : tuple->elements) types.push_back(ref_as<TensorTypeNode>(element));
    return types;
  }
  return {ref_as<TensorTypeNode>(type)};
}

class Folder {
 public:
  Folder(const IRModule& module, const Options& options)
      : module_(module), options_(options), steps_left_(options.max_steps) {}

  /// What `call`, with its type, gives; null if that is not known now or not worth knowing.
  Expr fold(const Call& call) {
    const std::string_view name = op_name(call.get());
    if (name == "relax.shape_of") {
      const Shape* shape = known_shape(call->args[0]);
      return shape ? Expr(shape_expr(*shape)) : Expr();
    }
    if (name == "relax.size") {
      const Shape* shape = known_shape(call->args[0]);
      return shape ? constant_size(*shape) : Expr();
    }
    if (name == "relax.tensor_to_shape") {
      const auto* known = is<ConstantNode>(call->args[0]) ? call->type.as<ShapeTypeNode>() : nullptr;
      return known && known->is_known ? Expr(ShapeExprNode::make(known->values, call->type)) : Expr();
    }
    std::vector<runtime::Tensor> inputs;
    if (name == "relax.call_tir") return fold_call_tir(call, &inputs);
    const OpInfo* info = op_of(call.get());
    if (!info || !info->is_pure || !info->lower) return nullptr;
    for (const Expr& arg : call->args) {
      if (!collect_constants(arg, &inputs)) return nullptr;
    }
    const std::vector<TensorType> outputs = tensor_types(call->type);
    if (!is_worth_storing(outputs, total_bytes(inputs), options_)) return nullptr;
    if (is_reshape_like(name))
      return make_constant(inputs[0].reshape(*constant_extents(*known_shape(outputs[0].get()))));
    const TeCall lowered = lower_call(call, *info);
    if (!lowered.extra.empty()) return nullptr;
    return result_of(lowered.func, inputs, lowered.outputs, is<TupleTypeNode>(call->type));
  }

 private:
  // the number of elements, null if it depends on the input
  static Expr constant_size(const Shape& shape) {
    int64_t count;
    if (!tir::as_const_int(num_elements(shape), &count)) return nullptr;
    const runtime::Tensor scalar = runtime::Tensor::empty({}, kInt64);
    *scalar.data_as<int64_t>() = count;
    return make_constant(scalar);
  }

  Expr fold_call_tir(const Call& call, std::vector<runtime::Tensor>* inputs) {
    const auto* callee = call->args[0].as<GlobalVarNode>();
    const auto func = callee ? ref_as<tir::PrimFuncNode>(module_->find(callee->name_hint)) : tir::PrimFunc();
    if (!func || call->args.size() != 2 || !collect_constants(call->args[1], inputs)) return nullptr;
    const std::vector<TensorType> outputs = output_types(call.get());
    if (!is_worth_storing(outputs, total_bytes(*inputs), options_)) return nullptr;
    return result_of(func, *inputs, outputs, outputs.size() > 1);
  }

  Expr result_of(const tir::PrimFunc& func, const std::vector<runtime::Tensor>& inputs,
                 const std::vector<TensorType>& outputs, bool is_tuple) {
    const auto results = evaluate(func, inputs, outputs, &steps_left_);
    if (!results) return nullptr;
    if (!is_tuple) return make_constant(results->at(0));
    std::vector<Expr> elements;
    for (const runtime::Tensor& result : *results) elements.push_back(make_constant(result));
    const Tuple tuple = TupleNode::make(std::move(elements));
    return with(tuple, [&](TupleNode& node) { node.type = type_of(tuple); });
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
  // uses of a variable that turns out to be constant are the constant
  auto fold_binding = [&](auto& self, const VarBindingNode* node) -> Binding {
    const VarBinding binding = self.children(node);
    std::vector<runtime::Tensor> tensors;
    const bool is_known = is<ConstantNode>(binding->value) ||
                          (binding.get() != node && (is<ShapeExprNode>(binding->value) ||
                                                     collect_constants(binding->value, &tensors)));
    if (is_known) self.replace_uses(node->var.get(), binding->value);
    return binding;
  };
  // and its binding is not needed, unless it is seen outside of the block
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
    module_pass<run, Options>("fold_constant", "What depends on constants alone is a constant.", 1);

}  // namespace tilewright::relax
