// Computes equal values once.
//   lv = R.exp(x); lv1 = R.exp(x); gv = R.add(lv, lv1)  ->  lv = R.exp(x); gv = R.add(lv, lv)
// Covers calls without side effects, tuples and their fields, in dataflow blocks and outside.  A branch
// reuses values computed before it, but values of a branch are not reused after it.  A function is left alone
// if it has call_tir_inplace, calls that return nothing and so write into their arguments, or calls that free
// values: values that are equal before such a call may differ after it, or be freed.
#include <unordered_map>

#include "tilewright/ir/rewrite.h"
#include "tilewright/ir/services.h"
#include "tilewright/ir/walk.h"
#include "tilewright/relax/infer/purity.h"
#include "tilewright/relax/memory/liveness.h"
#include "tilewright/relax/memory/memory_ops.h"
#include "tilewright/relax/pass.h"
#include "tilewright/support/hash.h"

namespace tilewright::relax {
namespace {

struct Options {
  bool call_only = false;
  static constexpr auto fields() {
    return std::tuple{field<&Options::call_only>("call_only", "tuples and their fields stay as they are")};
  }
};

// Leaves out the data of constants: structural_equal compares it, but only if all else is equal.
void add_to(Hasher& hasher, const Expr& expr) {
  if (VarBaseNode::classof(*expr)) {
    hasher.add(reinterpret_cast<uintptr_t>(expr.get()));
  } else if (const auto* constant = expr.as<ConstantNode>()) {
    hasher.add(structural_hash(type_of(expr))).add(static_cast<uint64_t>(constant->data.num_elements()));
  } else if (const auto* tuple = expr.as<TupleNode>()) {
    hasher.add("tuple");
    for (const Expr& element : tuple->elements) add_to(hasher, element);
  } else if (const auto* item = expr.as<TupleGetItemNode>()) {
    add_to(hasher, item->tuple);
    hasher.add(static_cast<uint64_t>(item->index));
  } else if (const auto* call = expr.as<CallNode>()) {
    add_to(hasher, call->op);
    for (const Expr& arg : call->args) add_to(hasher, arg);
  } else {
    hasher.add(structural_hash(expr));
  }
}

// Values that later bindings may reuse, in scopes.
class Known {
 public:
  /// The variable that already holds the value of `binding`; if there is none, adds the
  /// binding and returns null.
  AnyVar find_or_add(const VarBinding& binding) {
    Hasher hasher;
    add_to(hasher, binding->value);
    const uint64_t hash = hasher.finish().low;
    std::vector<VarBinding>& same = by_hash_[hash];
    for (const VarBinding& other : same) {
      if (structural_equal(other->value, binding->value) &&
          structural_equal(other->var->type, binding->var->type))
        return other->var;
    }
    same.push_back(binding);
    log_.emplace_back(hash, binding);
    return nullptr;
  }

  size_t mark() const { return log_.size(); }
  /// Forgets bindings added since `mark`; `only_dataflow`: only those not visible in other blocks.
  void forget(size_t mark, bool only_dataflow) {
    std::vector<std::pair<uint64_t, VarBinding>> kept;
    for (size_t n = mark; n < log_.size(); ++n) {
      if (only_dataflow && !is<DataflowVarNode>(log_[n].second->var))
        kept.push_back(log_[n]);
      else
        std::erase(by_hash_[log_[n].first], log_[n].second);
    }
    log_.resize(mark);
    log_.insert(log_.end(), kept.begin(), kept.end());
  }

 private:
  std::unordered_map<uint64_t, std::vector<VarBinding>> by_hash_;
  std::vector<std::pair<uint64_t, VarBinding>> log_;
};

class Eliminator {
 public:
  Eliminator(const IRModule& module, const Options& options) : module_(module), options_(options) {}

  Function run(const Function& func) {
    return rewrite(
        func,
        [&](auto& self, const FunctionNode* inner) -> Function {
          Known outside = std::exchange(known_, {});  // a closure must not capture more than is written
          const Function changed = self.children(inner);
          known_ = std::move(outside);
          return changed;
        },
        [&](auto& self, const SeqExprNode* seq) -> SeqExpr {
          const size_t mark = known_.mark();
          const SeqExpr changed = self.children(seq);
          known_.forget(mark, false);
          return changed;
        },
        [&](auto& self, const DataflowBlockNode* block) -> DataflowBlock {
          const size_t mark = known_.mark();
          std::vector<Binding> bindings = without_duplicates(self, block->bindings);
          known_.forget(mark, true);
          if (bindings == block->bindings) return DataflowBlock(block);
          return DataflowBlockNode::make(std::move(bindings));
        },
        [&](auto& self, const PlainBlockNode* block) -> PlainBlock {
          std::vector<Binding> bindings = without_duplicates(self, block->bindings);
          return bindings == block->bindings ? PlainBlock(block) : PlainBlockNode::make(std::move(bindings));
        });
  }

 private:
  template <class Rewriter>
  std::vector<Binding> without_duplicates(Rewriter& self, const std::vector<Binding>& bindings) {
    std::vector<Binding> kept;
    for (const Binding& old : bindings) {
      const Binding binding = self(old);
      const auto* bound = binding.as<VarBindingNode>();
      const AnyVar same =
          bound && is_sharable(bound->value) ? known_.find_or_add(VarBinding(bound)) : AnyVar();
      if (!same) {
        kept.push_back(binding);
      } else if (is<DataflowVarNode>(same) && !is<DataflowVarNode>(binding->var)) {
        // this variable is visible where the first one is not
        kept.push_back(with(VarBinding(bound), [&](VarBindingNode& node) { node.value = same; }));
      } else {
        self.replace_uses(old->var.get(), same);
        self.replace_uses(binding->var.get(), same);
      }
    }
    return kept;
  }

  bool is_sharable(const Expr& value) const {
    if (is<TupleNode>(value) || is<TupleGetItemNode>(value)) return !options_.call_only;
    const auto* call = value.as<CallNode>();
    return call && is_pure_call(call, module_.get());
  }

  const IRModule& module_;
  const Options& options_;
  Known known_;
};

bool writes_arguments(const Function& func) {
  bool found = false;
  walk(func->body, [&](const CallNode* call) {
    const bool is_done_for_effect = !is<OpNode>(call->op) && call->type && is_void(call->type);
    const std::string_view name = op_name(call);
    found |= is_done_for_effect || is_kill(name) || name == "relax.call_tir_inplace" ||
             name == "relax.call_inplace_packed";
  });
  return found;
}

IRModule run(const IRModule& module, const Options& options, PassContext&) {
  return map_functions<FunctionNode>(module, [&](const Function& func) {
    return writes_arguments(func) ? func : Eliminator(module, options).run(func);
  });
}

}  // namespace

extern constinit const PassInfo eliminate_common_subexpr_info =
    module_pass<run, Options>("eliminate_common_subexpr", "Computes equal values once.", 1);

}  // namespace tilewright::relax
