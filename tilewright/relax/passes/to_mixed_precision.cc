// Computes float32 operators in float16 or bfloat16 where it is worth it; parameters and results of functions
// stay float32.
//   always  matmul, linear, outer, einsum, convolutions, attention: arguments are converted, sums have
//           out_dtype
//   follow  elementwise arithmetic without growth, max pooling, moves: in low precision if every use of the
//           result is, so that a value is converted once and no result loses digits that its users need
//   never   everything else: exponentials, sums, means, norms, softmax, losses
//   lv = R.nn.relu(x)               ->  lv = R.astype(x, "float16");  lv1 = R.nn.relu(lv)
//   gv = R.matmul(lv, w)                lv2 = R.astype(w, "float16")
//                                       gv = R.matmul(lv1, lv2, out_dtype="float32")
// Works on dataflow blocks, also in branches.  The policy bf16 differs:
//   - it works on other blocks as well, where only the operators of the first list are converted
//   - arithmetic stays in float32, which kernels have in registers anyway, and so does attention
//   - a value that is rounded for a product is stored rounded, and arithmetic on results of products (the
//     sum of a residual connection) reads it so
// Source: Micikevicius et al., arXiv 1710.03740
#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "tilewright/ir/rewrite.h"
#include "tilewright/ir/walk.h"
#include "tilewright/relax/build/block_builder.h"
#include "tilewright/relax/infer/op.h"
#include "tilewright/relax/memory/liveness.h"
#include "tilewright/relax/pass.h"
#include "tilewright/relax/passes/mixed_precision_ops.h"
#include "tilewright/relax/products/mixed_precision.h"
#include "tilewright/support/one_of.h"
#include "tilewright/support/small_float.h"

namespace tilewright::relax {
namespace {

struct Options {
  DataType dtype = DataType::float_(16);
  DataType out_dtype = kFloat32;
  std::vector<std::string> low_inputs, always, follow, never;
  static constexpr auto fields() {
    return std::tuple{
        field<&Options::dtype>("dtype", "dtype of the computation: float16 or bfloat16"),
        field<&Options::out_dtype>("out_dtype",
                                   "dtype of the sums of matmuls and convolutions: float32, or dtype"),
        field<&Options::low_inputs>("low_inputs", "parameters whose type becomes dtype"),
        field<&Options::always>("always", "operators to add to that list, e.g. [\"relax.multiply\"]"),
        field<&Options::follow>("follow", "operators to add to that list"),
        field<&Options::never>("never", "operators to add to that list")};
  }
};

enum class Choice { kAlways, kFollow, kArithmetic, kNever };
enum class Wanted { kLow, kHigh, kEither };

void check(const Options& options) {
  if (!is_small_float(options.dtype) || options.dtype.bits != 16)
    throw UserError("dtype is {}, expected float16 or bfloat16", options.dtype.str());
  if (options.out_dtype != kFloat32 && options.out_dtype != options.dtype)
    throw UserError("out_dtype is {}, expected float32 or {}", options.out_dtype.str(), options.dtype.str());
  for (const auto* names : {&options.always, &options.follow, &options.never}) {
    for (const std::string& name : *names) lookup_op(name);
  }
}

// True if all tensors of the type are float32, which is what is converted.
bool is_float32(const Type& type) {
  if (const auto* tensor = type.as<TensorTypeNode>()) return tensor->dtype == kFloat32;
  const auto* tuple = type.as<TupleTypeNode>();
  return tuple && !tuple->elements.empty() &&
         std::all_of(tuple->elements.begin(), tuple->elements.end(), is_float32);
}

// True if the call returns float32 and has a float32 operand; other calls are not changed.
bool has_float32(const CallNode* call) {
  return is_float32(type_of(Expr(call))) &&
         std::any_of(call->args.begin(), call->args.end(),
                     [](const Expr& arg) { return is_float32(type_of(arg)); });
}

class MixedPrecision {
 public:
  /// is_kept  for the policy bf16: true for calls that stay in float32
  MixedPrecision(const IRModule& module, const Options& options, const CallTest* is_kept)
      : builder_(module), options_(options), is_kept_(is_kept) {}

  Function converted(const Function& func) {
    const auto* body = func->body.as<SeqExprNode>();
    if (!body) return func;
    find_results_of_products(body);
    decide(body);
    const std::vector<Var> params = low_params(func->params);
    if (!has_work_ && params == func->params) return func;
    builder_.begin_scope(params);
    try {
      for (const BindingBlock& block : body->blocks) write(block);
      const SeqExpr seq = builder_.end_scope(high(body->body));
      return with_body(func, params, seq);
    } catch (...) {
      builder_.abandon_scope();
      throw;
    }
  }

 private:
  Choice choice_of(const Expr& value) const {
    if (is<TupleGetItemNode>(value) || is<TupleNode>(value)) return Choice::kFollow;
    const auto* call = value.as<CallNode>();
    const std::string_view name = call ? op_name(call) : std::string_view();
    if (is_kept_ && call && (name.starts_with("relax.nn.attention") || (*is_kept_)(Call(call))))
      return Choice::kNever;  // attention in blocks of queries computes in float32
    if (is_one_of(name, options_.never)) return Choice::kNever;
    if (is_one_of(name, options_.always)) return has_float32(call) ? Choice::kAlways : Choice::kNever;
    if (is_one_of(name, options_.follow)) return Choice::kFollow;
    if (is_one_of(name, kAlwaysOps)) return has_float32(call) ? Choice::kAlways : Choice::kNever;
    if (is_one_of(name, kMoves)) return Choice::kFollow;
    if (!is_one_of(name, kArithmeticOps)) return Choice::kNever;
    return is_kept_ ? Choice::kArithmetic : Choice::kFollow;
  }

  // ---- results of products and of arithmetic on them: such values are rounded anyway

  void find_results_of_products(const SeqExprNode* seq) {
    for (const BindingBlock& block : seq->blocks) {
      for (const Binding& binding : block->bindings) {
        if (const auto* branch = binding->value.as<IfNode>()) {
          find_results_of_products(branch->true_branch.as<SeqExprNode>());
          find_results_of_products(branch->false_branch.as<SeqExprNode>());
          continue;
        }
        const Choice choice = choice_of(binding->value);
        if (choice == Choice::kAlways || (choice != Choice::kNever && reads_product(binding->value)))
          of_products_.insert(binding->var.get());
      }
    }
  }
  bool reads_product(const Expr& value) const {
    bool found = false;
    walk(
        value, [&](const VarNode* var) { found |= of_products_.contains(var); },
        [&](const DataflowVarNode* var) { found |= of_products_.contains(var); });
    return found;
  }

  // ---- values needed in low precision: visited in reverse, uses before definitions

  void decide(const SeqExprNode* seq) {
    count_uses(seq->body, Wanted::kHigh, seq);
    for (size_t n = seq->blocks.size(); n-- > 0;) decide(seq->blocks[n]);
  }
  void decide(const BindingBlock& block) {
    for (size_t n = block->bindings.size(); n-- > 0;) {
      const Binding& binding = block->bindings[n];
      if (const auto* branch = binding->value.as<IfNode>()) {
        decide(branch->true_branch.as<SeqExprNode>());
        decide(branch->false_branch.as<SeqExprNode>());
        count_uses(branch->cond, Wanted::kHigh, branch);
        continue;
      }
      const Choice choice =
          is_changed(block) && is<VarBindingNode>(binding) ? choice_of(binding->value) : Choice::kNever;
      const Use& use = uses_[binding->var.get()];
      const bool is_wanted_low = use.low > 0 && use.high == 0 && is_local(binding->var, block);
      bool is_low = choice == Choice::kAlways;
      if (is_wanted_low && is_float32(type_of(binding->value)) && is_changed(block)) {
        if (choice == Choice::kFollow)
          low_results_[binding->var.get()] = is_low = true;
        else if (is_kept_ && is<CallNode>(binding->value) && is<TensorTypeNode>(type_of(binding->value)))
          stored_low_[binding->var.get()] = true;
      }
      has_work_ |= choice == Choice::kAlways;
      count_uses(binding->value,
                 is_low                                                           ? Wanted::kLow
                 : choice == Choice::kArithmetic && reads_product(binding->value) ? Wanted::kEither
                                                                                  : Wanted::kHigh,
                 block.get());
    }
  }
  // reader  the block that `expr` is in, or another reader of it
  void count_uses(const Expr& expr, Wanted wanted, const Object* reader) {
    auto count = [&](const Object* var) {
      Use& use = uses_[var];
      if (wanted == Wanted::kLow) ++use.low;
      if (wanted == Wanted::kHigh) ++use.high;
      if (!use.reader) use.reader = reader;
      use.has_other_readers |= use.reader != reader;
    };
    walk(expr, [&](const VarNode* var) { count(var); }, [&](const DataflowVarNode* var) { count(var); });
  }
  // True if the value may have another dtype, because it is not used outside of the block.
  bool is_local(const AnyVar& var, const BindingBlock& block) const {
    if (is<DataflowVarNode>(var)) return true;
    const auto use = uses_.find(var.get());
    return is_kept_ && is<DataflowBlockNode>(block) && use != uses_.end() && !use->second.has_other_readers &&
           use->second.reader == block.get();
  }
  bool is_changed(const BindingBlock& block) const { return is_kept_ || is<DataflowBlockNode>(block); }

  // ---- rewriting

  std::vector<Var> low_params(const std::vector<Var>& params) {
    std::vector<Var> result;
    for (const Var& param : params) {
      const bool is_wanted = is_one_of(param->name_hint, options_.low_inputs) && is_float32(param->type);
      if (!is_wanted || !is<TensorTypeNode>(param->type)) {
        result.push_back(param);
        continue;
      }
      result.push_back(with(param, [&](VarNode& node) { node.type = as_low(param->type); }));
      low_[param.get()] = result.back();
      has_high_[param.get()] = false;
    }
    return result;
  }
  Type as_low(const Type& type) const {
    return with(ref_as<TensorTypeNode>(type), [&](TensorTypeNode& node) { node.dtype = options_.dtype; });
  }

  void write(const BindingBlock& block) {
    const bool is_dataflow = is<DataflowBlockNode>(block);
    if (is_dataflow) builder_.begin_dataflow();
    for (const Binding& binding : block->bindings) {
      const auto* plain = ObjectRef(binding).as<VarBindingNode>();
      if (const auto* branch = binding->value.as<IfNode>())
        keep(binding, converted(branch));
      else if (plain && is_changed(block))
        write(VarBinding(plain), block);
      else
        keep(binding, high(binding->value));
    }
    if (is_dataflow) builder_.end_dataflow();
    // values converted in this block are not visible in the next one
    for (auto* known : {&low_, &high_})
      std::erase_if(*known, [](const auto& entry) { return is<DataflowVarNode>(entry.second); });
  }

  If converted(const IfNode* branch) {
    const Expr cond = high(branch->cond);
    const Expr then = converted(branch->true_branch), otherwise = converted(branch->false_branch);
    if (cond == branch->cond && then == branch->true_branch && otherwise == branch->false_branch)
      return If(branch);
    return with(If(branch), [&](IfNode& node) {
      node.cond = cond;
      node.true_branch = then;
      node.false_branch = otherwise;
    });
  }
  // A branch; values converted in it are not visible outside.
  Expr converted(const Expr& branch) {
    const auto low = low_, high_again = high_;
    const auto* seq = branch.as<SeqExprNode>();
    builder_.begin_scope();
    try {
      for (const BindingBlock& block : seq->blocks) write(block);
      const SeqExpr result = builder_.end_scope(high(seq->body));
      low_ = low;
      high_ = high_again;
      return is_same_body(branch, result) ? branch : Expr(result);
    } catch (...) {
      builder_.abandon_scope();
      throw;
    }
  }

  void write(const VarBinding& binding, const BindingBlock& block) {
    const Choice choice = choice_of(binding->value);
    const bool is_low = low_results_.count(binding->var.get()) > 0;
    if (choice != Choice::kAlways && !is_low) {
      const Expr value = high(binding->value);
      return stored_low_.count(binding->var.get()) ? store_low(binding, value) : keep(binding, value);
    }
    const auto* call = binding->value.as<CallNode>();
    Expr value = call ? Expr(low_call(call, choice)) : retyped(low(binding->value, false));
    const Expr normal = builder_.normalize(value);
    if (stored_low_.count(binding->var.get())) return store_low(binding, normal);
    if (is_float32(type_of(normal))) return keep(binding, normal);
    if (is_local(binding->var, block)) {
      low_[binding->var.get()] = builder_.emit(normal, binding->var->name_hint);
      has_high_[binding->var.get()] = false;
    } else {
      const Expr bound = builder_.emit(normal, binding->var->name_hint + "_low");
      keep(binding, builder_.normalize(astype(bound, kFloat32)));
    }
  }

  // Binds the same variable to `value`, which has its type.
  void keep(const Binding& binding, const Expr& value) {
    if (value == binding->value) {
      builder_.emit_normalized(binding);
    } else if (const auto* cast = ObjectRef(binding).as<MatchCastNode>()) {
      builder_.emit_normalized(with(MatchCast(cast), [&](MatchCastNode& node) { node.value = value; }));
    } else {
      builder_.emit_normalized(
          with(ref_as<VarBindingNode>(binding), [&](VarBindingNode& node) { node.value = value; }));
    }
  }

  // Rounds a value computed in float32, because no use needs more.
  void store_low(const VarBinding& binding, const Expr& value) {
    const AnyVar exact = builder_.emit(value, binding->var->name_hint + "_exact");
    low_[binding->var.get()] = builder_.emit(astype(exact, options_.dtype), binding->var->name_hint);
    has_high_[binding->var.get()] = false;
  }

  Call low_call(const CallNode* call, Choice choice) {
    const bool has_out_dtype = choice == Choice::kAlways && call->attrs.contains("out_dtype");
    return with(Call(call), [&](CallNode& node) {
      for (Expr& arg : node.args) arg = low(arg, true);
      if (has_out_dtype) node.attrs.set("out_dtype", attr(options_.out_dtype));
      node.type = nullptr;
    });
  }
  static Expr retyped(const Expr& value) {
    if (const auto* item = value.as<TupleGetItemNode>())
      return with(TupleGetItem(item), [](TupleGetItemNode& node) { node.type = nullptr; });
    return with(Tuple(value.as<TupleNode>()), [](TupleNode& node) { node.type = nullptr; });
  }

  // `expr`, an operand or a tuple of operands, with float32 values converted to low precision.
  Expr low(const Expr& expr, bool is_operand) {
    if (const auto* tuple = expr.as<TupleNode>())
      return with(Tuple(tuple), [&](TupleNode& node) {
        for (Expr& element : node.elements) element = low(element, true);
        node.type = nullptr;
      });
    if (const auto* item = expr.as<TupleGetItemNode>(); item && !is_operand)
      return with(TupleGetItem(item), [&](TupleGetItemNode& node) { node.tuple = low(item->tuple, true); });
    if (auto known = low_.find(expr.get()); known != low_.end()) return known->second;
    if (!is_float32(type_of(expr)) || !is<TensorTypeNode>(type_of(expr))) return high(expr);
    if (const auto* constant = expr.as<ConstantNode>()) return rounded(constant);
    return low_[expr.get()] = builder_.emit(astype(expr, options_.dtype));
  }
  // The same converted back to float32.
  Expr high(const Expr& expr) {
    return rewrite(
        expr, [&](auto&, const VarNode* var) -> Expr { return high_of(Expr(var)); },
        [&](auto&, const DataflowVarNode* var) -> Expr { return high_of(Expr(var)); });
  }
  Expr high_of(const Expr& var) {
    if (auto known = high_.find(var.get()); known != high_.end()) return known->second;
    auto is_there = has_high_.find(var.get());
    if (is_there == has_high_.end()) return var;
    const Expr low = low_.at(var.get());
    if (!is<TensorTypeNode>(type_of(low))) throw InternalError("a tuple is needed in float32");
    return high_[var.get()] = builder_.emit(astype(low, kFloat32));
  }

  Expr rounded(const ConstantNode* constant) const {
    const runtime::Tensor data = constant->data.compact();
    const runtime::Tensor result = runtime::Tensor::empty(data.shape(), options_.dtype);
    const FloatFormat format = float_format(options_.dtype);
    for (int64_t n = 0; n < data.num_elements(); ++n)
      result.data_as<uint16_t>()[n] =
          static_cast<uint16_t>(encode_float(static_cast<double>(data.data_as<float>()[n]), format));
    return make_constant(result);
  }

  struct Use {
    int low = 0, high = 0;
    const Object* reader = nullptr;
    bool has_other_readers = false;
  };
  BlockBuilder builder_;
  const Options& options_;
  const CallTest* is_kept_;
  std::unordered_map<const Object*, Use> uses_;
  std::unordered_set<const Object*> of_products_;
  std::unordered_map<const Object*, bool> low_results_, stored_low_, has_high_;
  std::unordered_map<const Object*, Expr> low_, high_;
  bool has_work_ = false;
};

IRModule convert(const IRModule& module, const Options& options, const CallTest* is_kept) {
  check(options);
  return map_functions<FunctionNode>(
      module, [&](const Function& func) { return MixedPrecision(module, options, is_kept).converted(func); });
}

IRModule run(const IRModule& module, const Options& options, PassContext&) {
  return convert(module, options, nullptr);
}

}  // namespace

Expr astype(const Expr& value, DataType dtype) {
  return call_op("relax.astype", {value}, {{"dtype", attr(dtype)}});
}

IRModule to_bfloat16(const IRModule& module, const CallTest& is_kept) {
  Options options;
  options.dtype = DataType::bfloat16();
  return convert(module, options, &is_kept);
}

extern constinit const PassInfo to_mixed_precision_info = module_pass<run, Options>(
    "to_mixed_precision", "Computes matrix products and convolutions in float16 or bfloat16.");

}  // namespace tilewright::relax
