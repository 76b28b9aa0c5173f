// Gives every value one name, visible no further than it is used.
//   b = a                                         =>  a everywhere
//   t = (a, b); t[0]                              =>  a; the tuple itself if a is one
//   m = R.match_cast(x, the type x has)           =>  x
//   m = R.match_cast(x, R.Tensor((k,))), x: [n]   =>  x, with n for k
//   with R.dataflow(): lv = ...; gv = lv          =>  gv = ...
//   a plain variable of a dataflow block that is not used outside of it becomes a DataflowVar
#include <unordered_map>
#include <unordered_set>

#include "tilewright/ir/rewrite.h"
#include "tilewright/ir/walk.h"
#include "tilewright/relax/build/block_builder.h"
#include "tilewright/relax/graph/type_util.h"
#include "tilewright/relax/pass.h"

namespace tilewright::relax {
namespace {

bool is_variable(const Expr& expr) { return VarBaseNode::classof(*expr); }

// ---- one name per value

class Renamer {
 public:
  Function run(const Function& func) {
    return rewrite(
        func,
        [&](auto& self, const FunctionNode* inner) -> Function {
          for (const Var& param : inner->params) define_dims(param->type);
          return self.children(inner);
        },
        [&](auto& self, const DataflowBlockNode* block) -> DataflowBlock {
          std::vector<Binding> bindings = renamed(self, block->bindings);
          return bindings == block->bindings ? DataflowBlock(block)
                                             : DataflowBlockNode::make(std::move(bindings));
        },
        [&](auto& self, const PlainBlockNode* block) -> PlainBlock {
          std::vector<Binding> bindings = renamed(self, block->bindings);
          return bindings == block->bindings ? PlainBlock(block) : PlainBlockNode::make(std::move(bindings));
        });
  }

 private:
  template <class Rewriter>
  std::vector<Binding> renamed(Rewriter& self, const std::vector<Binding>& bindings) {
    std::vector<Binding> kept;
    for (const Binding& old : bindings) {
      Binding binding = self(old);
      const Expr other = other_name(self, binding);
      const bool is_seen = other && (!is<DataflowVarNode>(other) || is<DataflowVarNode>(binding->var));
      if (other && is_seen) {
        self.replace_uses(old->var.get(), other);
        self.replace_uses(binding->var.get(), other);
        continue;
      }
      if (other && is<VarBindingNode>(binding))
        binding = with(ref_as<VarBindingNode>(binding), [&](VarBindingNode& node) { node.value = other; });
      if (const Expr inner = element_of(binding->value); inner && is<TupleNode>(inner))
        binding = with(ref_as<VarBindingNode>(binding), [&](VarBindingNode& node) { node.value = inner; });
      if (const auto* tuple = binding->value.as<TupleNode>()) tuples_[binding->var.get()] = Tuple(tuple);
      kept.push_back(binding);
    }
    return kept;
  }

  // The variable that already holds the value of `binding`, or null.
  template <class Rewriter>
  Expr other_name(Rewriter& self, const Binding& binding) {
    if (const auto* cast = binding.as<MatchCastNode>()) {
      Substitution dims;
      const bool is_hidden = is<DataflowVarNode>(cast->value) && !is<DataflowVarNode>(cast->var);
      if (!is_variable(cast->value) || is_hidden || !is_known(cast, &dims)) {
        define_dims(cast->pattern);
        return nullptr;
      }
      for (const auto& [dim, extent] : dims) self.replace_uses(dim, extent);
      return cast->value;
    }
    if (is_variable(binding->value)) return binding->value;
    const Expr element = element_of(binding->value);
    return element && is_variable(element) ? element : Expr();
  }

  // The field that `value` takes of a known tuple, or null.
  Expr element_of(const Expr& value) const {
    const auto* item = value.as<TupleGetItemNode>();
    const auto found = item ? tuples_.find(item->tuple.get()) : tuples_.end();
    if (found == tuples_.end()) return nullptr;
    const Expr& element = found->second->elements.at(static_cast<size_t>(item->index));
    bool is_hidden = false;  // a variable of an earlier dataflow block, not visible any more
    walk(element, [&](const DataflowVarNode*) { is_hidden = !is<DataflowVarNode>(item->tuple); });
    return is_hidden ? Expr() : element;
  }

  // True if `cast` checks nothing; adds its new dimensions to *dims.
  bool is_known(const MatchCastNode* cast, Substitution* dims) const {
    const Type given = type_of(cast->value);
    const Shape* known = known_shape(given.as<TensorTypeNode>());
    const Shape* wanted = known_shape(cast->pattern.as<TensorTypeNode>());
    if (known && wanted && known->size() == wanted->size()) {
      for (size_t axis = 0; axis < known->size(); ++axis) {
        const auto* dim = (*wanted)[axis].as<tir::VarNode>();
        if (dim && !dims_.contains(dim)) dims->try_emplace(dim, (*known)[axis]);
      }
    }
    return is_subtype(given, substitute(cast->pattern, *dims)) == Answer::kYes;
  }

  void define_dims(const Type& type) {
    std::vector<const tir::VarNode*> dims;
    collect_defined_dims(type, &dims);
    dims_.insert(dims.begin(), dims.end());
  }

  std::unordered_map<const Object*, Tuple> tuples_;  // by variable
  std::unordered_set<const Object*> dims_;           // defined so far
};

// ---- scopes

// The variables that are used outside of the dataflow block that binds them.
std::unordered_set<const Object*> used_outside(const Function& func) {
  std::unordered_map<const Object*, const Object*> home;
  walk(func->body, [&](const DataflowBlockNode* block) {
    for (const Binding& binding : block->bindings) home[binding->var.get()] = block;
  });
  std::unordered_set<const Object*> result;
  const Object* here = nullptr;
  auto use = [&](const Object* var) {
    auto found = home.find(var);
    if (found != home.end() && found->second != here) result.insert(var);
  };
  walk(
      func->body,
      [&](const DataflowBlockNode* block) {
        here = block;
        walk(block, [&](const VarNode* var) { use(var); }, [&](const DataflowVarNode* var) { use(var); });
        here = nullptr;
        return false;
      },
      [&](const VarNode* var) { use(var); }, [&](const DataflowVarNode* var) { use(var); });
  return result;
}

Binding with_variable(const Binding& binding, const AnyVar& var) {
  if (const auto* cast = binding.as<MatchCastNode>())
    return with(cast, [&](MatchCastNode& node) { node.var = var; });
  return with(ref_as<VarBindingNode>(binding), [&](VarBindingNode& node) { node.var = var; });
}

// The outputs of `block` that are only other names of a variable of the block, one for each such variable.
std::unordered_map<const Object*, Var> outputs_of(const DataflowBlockNode* block,
                                                  const std::unordered_set<const Object*>& outside) {
  std::unordered_map<const Object*, Var> outputs;
  for (const Binding& binding : block->bindings) {
    const auto* bound = binding.as<VarBindingNode>();
    if (bound && is<VarNode>(bound->var) && is<DataflowVarNode>(bound->value) &&
        outside.contains(bound->var.get()))
      outputs.try_emplace(bound->value.get(), ref_as<VarNode>(bound->var));
  }
  return outputs;
}

Function narrowed(const Function& func) {
  const auto outside = used_outside(func);
  return rewrite(func, [&](auto& self, const DataflowBlockNode* block) -> DataflowBlock {
    const auto outputs = outputs_of(block, outside);
    std::vector<Binding> bindings;
    for (const Binding& old : block->bindings) {
      const Object* var = old->var.get();
      const auto output = outputs.find(var);
      if (output != outputs.end()) {
        bindings.push_back(with_variable(self(old), output->second));
        self.replace_uses(var, output->second);
      } else if (const Expr value = self(old->value); is<VarBindingNode>(old) && is<VarNode>(old->var) &&
                                                      is<VarNode>(value) && value != old->value) {
        if (value != Expr(old->var)) self.replace_uses(var, value);  // a second output of the same value
      } else if (is<VarNode>(old->var) && !outside.contains(var)) {
        const DataflowVar inner = DataflowVarNode::make(old->var->name_hint, old->var->type, old->var->span);
        bindings.push_back(with_variable(self(old), inner));
        self.replace_uses(var, inner);
      } else {
        bindings.push_back(self(old));
      }
    }
    return bindings == block->bindings ? DataflowBlock(block) : DataflowBlockNode::make(std::move(bindings));
  });
}

IRModule run(const IRModule& module, const NoOptions&, PassContext&) {
  return map_functions<FunctionNode>(module, [&](const Function& func) {
    Function changed = func;
    for (Function before; before != changed;) {  // a name that was dropped may have been the only use outside
      before = changed;
      changed = narrowed(Renamer().run(changed));
    }
    return changed == func ? func : BlockBuilder(module).normalize_function(changed);
  });
}

}  // namespace

extern constinit const PassInfo canonicalize_bindings_info = module_pass<run>(
    "canonicalize_bindings", "Gives every value one name, visible no further than it is used.");

}  // namespace tilewright::relax
