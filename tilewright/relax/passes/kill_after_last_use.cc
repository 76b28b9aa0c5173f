// Frees values that own memory after their last use.
//   y = f(lv)   ->  y = f(lv)
//                   R.memory.kill_tensor(lv)
// Allocated tensors are freed by R.memory.kill_tensor, storages by R.memory.kill_storage, results of calls
// and other names of them by R.vm.kill_object.  A tensor is live as long as any value that may be or hold it:
// other names, tuples, views.  Parameters, constants and the results of the function are left alone.
#include <algorithm>
#include <unordered_set>

#include "tilewright/ir/walk.h"
#include "tilewright/relax/memory/liveness.h"
#include "tilewright/relax/memory/memory_ops.h"
#include "tilewright/relax/pass.h"

namespace tilewright::relax {
namespace {

class Killer {
 public:
  Killer(const Function& func, const Liveness& liveness) : liveness_(liveness) {
    for (size_t id = 0; id < liveness.owners.size(); ++id) owner_of_[liveness.owners[id].var] = id;
    walk(func, [&](const CallNode* call) {
      if (is_kill(op_name(call))) killed_.insert(call->args[0].get());
    });
  }

  SeqExpr sequence(const SeqExpr& seq) const {
    std::vector<Binding> bindings;
    for (const BindingBlock& block : seq->blocks)
      bindings.insert(bindings.end(), block->bindings.begin(), block->bindings.end());
    const std::vector<std::vector<Binding>> kills = kills_after(bindings);
    std::vector<BindingBlock> blocks;
    size_t position = 0;
    for (const BindingBlock& block : seq->blocks) {
      std::vector<Binding> changed;
      for (const Binding& binding : block->bindings) {
        changed.push_back(with_branches(binding));
        changed.insert(changed.end(), kills[position].begin(), kills[position].end());
        ++position;
      }
      const bool is_same = changed == block->bindings;
      blocks.push_back(is_same ? block : BindingBlock(PlainBlockNode::make(std::move(changed))));
    }
    return blocks == seq->blocks ? seq
                                 : with(seq, [&](SeqExprNode& node) { node.blocks = std::move(blocks); });
  }

 private:
  // For each of `bindings`, which are all of one scope: the calls that free the values it uses last.
  std::vector<std::vector<Binding>> kills_after(const std::vector<Binding>& bindings) const {
    std::vector<int64_t> ends;
    for (const Binding& binding : bindings) ends.push_back(liveness_.end_of.at(binding.get()));
    std::vector<std::vector<Binding>> kills(bindings.size());
    // the last allocation is freed first: tensors before their storage
    for (size_t n = bindings.size(); n-- > 0;) {
      const std::string_view how = kill_of(bindings[n]);
      if (how.empty()) continue;
      const int64_t last = std::max(last_use(bindings[n]->var.get()), ends[n]);
      const auto at = std::lower_bound(ends.begin(), ends.end(), last);
      if (at == ends.end()) continue;  // it is the result
      const Call call = memory_call(how, {bindings[n]->var}, bindings[n]->span);
      kills[static_cast<size_t>(at - ends.begin())].push_back(effect(call));
    }
    return kills;
  }

  int64_t last_use(const VarBaseNode* var) const {
    const auto own = liveness_.last_use.find(var);
    const int64_t last = own == liveness_.last_use.end() ? 0 : own->second;
    const auto owner = owner_of_.find(var);
    return owner == owner_of_.end() ? last : std::max(last, liveness_.owners[owner->second].last);
  }

  // The operator that frees the variable of `binding`; empty if it owns nothing, or is only another name,
  // tuple or view of a value, which the virtual machine drops together with its owner.
  std::string_view kill_of(const Binding& binding) const {
    const VarBaseNode* var = binding->var.get();
    if (killed_.count(var)) return {};
    if (const auto owner = owner_of_.find(var); owner != owner_of_.end()) {
      const std::string_view name = op_name(liveness_.owners[owner->second].call);
      if (is_alloc_storage(name)) return kMemoryKillStorage;
      return is_alloc_in_storage(name) || name == kBuiltinAllocTensor ? kMemoryKillTensor : kVmKillObject;
    }
    if (!is<IfNode>(binding->value)) return {};
    const std::set<size_t>& held = liveness_.held.at(var);
    const bool is_unplaced = std::any_of(held.begin(), held.end(), [&](size_t id) {
      const std::string_view name = op_name(liveness_.owners[id].call);
      return !is_alloc_storage(name) && !is_alloc_in_storage(name);
    });
    return is_unplaced ? kVmKillObject : std::string_view();
  }

  Binding with_branches(const Binding& binding) const {
    const auto* branch = binding->value.as<IfNode>();
    if (!branch) return binding;
    const SeqExpr then = sequence(ref_as<SeqExprNode>(branch->true_branch));
    const SeqExpr otherwise = sequence(ref_as<SeqExprNode>(branch->false_branch));
    if (then == branch->true_branch && otherwise == branch->false_branch) return binding;
    const If changed = with(If(branch), [&](IfNode& node) {
      node.true_branch = then;
      node.false_branch = otherwise;
    });
    return with(ref_as<VarBindingNode>(binding), [&](VarBindingNode& node) { node.value = changed; });
  }

  const Liveness& liveness_;
  std::unordered_map<const VarBaseNode*, size_t> owner_of_;
  std::unordered_set<const Object*> killed_;  // values that the function itself frees
};

IRModule run(const IRModule& module, const NoOptions&, PassContext&) {
  return map_functions<FunctionNode>(module, [&](const Function& func) -> Function {
    const Function plain = to_non_dataflow(func);  // freeing is an effect
    const Liveness liveness = analyze_liveness(plain, module);
    const auto body = ref_as<SeqExprNode>(plain->body);
    const SeqExpr changed = Killer(plain, liveness).sequence(body);
    return changed == body ? func : with(plain, [&](FunctionNode& node) { node.body = changed; });
  });
}

}  // namespace

extern constinit const PassInfo kill_after_last_use_info =
    module_pass<run>("kill_after_last_use", "Frees values that own memory after their last use.");

}  // namespace tilewright::relax
