// Groups calls of call_tir into functions with the attribute Primitive, which fuse_tir merges.
//   lv = call_tir(matmul, (x, w)); lv1 = call_tir(add, (lv, b)); gv = call_tir(relu, (lv1,))
//   ->  gv = fused_matmul_add_relu(x, w, b)
// relax/fusion/fusion.h decides the groups.  A group has one result, and its other values are used only
// inside, so that nothing is computed twice and no cycle can arise.  Constants become arguments, except for
// scalars; shape variables that no argument defines are passed in a last argument R.shape([...]).
#include <algorithm>
#include <unordered_map>

#include "tilewright/ir/rewrite.h"
#include "tilewright/ir/walk.h"
#include "tilewright/relax/build/block_builder.h"
#include "tilewright/relax/fusion/fusion.h"
#include "tilewright/relax/fusion/tir_pattern.h"
#include "tilewright/relax/graph/origin.h"
#include "tilewright/relax/infer/infer.h"
#include "tilewright/relax/memory/liveness.h"
#include "tilewright/relax/pass.h"
#include "tilewright/support/error.h"

namespace tilewright::relax {
namespace {

struct Options {
  int64_t max_size = 64;
  static constexpr auto fields() {
    return std::tuple{field<&Options::max_size>("max_size", "most calls in one group, at least 1")};
  }
};

// A call_tir of the block.
struct Member {
  size_t binding = 0;
  const CallNode* call = nullptr;
  std::string callee;
};

constexpr size_t kNone = SIZE_MAX;

// ---- the nodes of a block

class Nodes {
 public:
  /// num_uses  in the whole function
  Nodes(const IRModule& module, const DataflowBlock& block, NumUses num_uses) : module_(module) {
    std::unordered_map<const VarBaseNode*, size_t> node_of;
    for (size_t b = 0; b < block->bindings.size(); ++b) {
      const Binding& binding = block->bindings[b];
      const size_t user = add(b, binding);
      auto use = [&](const VarBaseNode* var) {
        --num_uses[var];
        auto found = node_of.find(var);
        if (found == node_of.end()) return;
        FusionNode& used = nodes[found->second];
        if (user == kNone)
          used.escapes = true;
        else if (used.users.empty() || used.users.back() != user)
          used.users.push_back(user);
      };
      walk(
          binding->value, [&](const VarNode* var) { use(var); },
          [&](const DataflowVarNode* var) { use(var); });
      if (user != kNone) node_of[binding->var.get()] = user;
    }
    for (const auto& [var, node] : node_of) nodes[node].escapes |= num_uses[var] > 0;  // used by other blocks
  }

  std::vector<FusionNode> nodes;
  std::vector<Member> members;  // `nodes` in the graph

 private:
  // Returns the number of the new node, or kNone if the binding cannot be fused.
  size_t add(size_t b, const Binding& binding) {
    const auto* bound = binding.as<VarBindingNode>();
    const auto* call = bound ? bound->value.as<CallNode>() : nullptr;
    if (!call || op_name(call) != "relax.call_tir" || call->type_args.size() != 1) return kNone;
    const auto* callee = call->args[0].as<GlobalVarNode>();
    const auto* tuple = call->args[1].as<TupleNode>();
    const Shape* shape = known_shape(call->type_args[0].as<TensorTypeNode>());
    const auto func = callee ? ref_as<tir::PrimFuncNode>(module_->find(callee->name_hint)) : tir::PrimFunc();
    if (!func || !shape || !tuple || !has_fixed_args(call)) return kNone;
    FusionNode node{.shape = shape, .users = {}};
    const Traits& traits = traits_of(func);
    node.pattern = traits.is_rows ? FusePattern::kReduction : traits.pattern;
    node.is_rows = traits.is_rows;
    node.reads_once = traits.reads_once;
    node.widens_bytes = widens_bytes(call, node.pattern);
    node.narrows_to_bytes =
        node.pattern <= FusePattern::kBroadcast && call->type_args[0].as<TensorTypeNode>()->dtype.bits == 8;
    if (node.pattern >= FusePattern::kTuple) return kNone;
    nodes.push_back(node);
    members.push_back({b, call, callee->name_hint});
    return nodes.size() - 1;
  }

  // True for tensors of known shape, and extra integers only as a literal shape.
  static bool has_fixed_args(const CallNode* call) {
    for (const Expr& arg : call->args[1].as<TupleNode>()->elements) {
      const Type type = type_of(arg);
      if (!known_shape(type.as<TensorTypeNode>())) return false;
    }
    return call->args.size() == 2 || is<ShapeExprNode>(call->args[2]);
  }

  // True if one argument is a tensor of bytes, the others are constants, and the result has wider elements.
  static bool widens_bytes(const CallNode* call, FusePattern pattern) {
    if (pattern > FusePattern::kBroadcast || call->type_args[0].as<TensorTypeNode>()->dtype.bits < 32)
      return false;
    int num_tensors = 0;
    for (const Expr& arg : call->args[1].as<TupleNode>()->elements) {
      if (is<ConstantNode>(arg)) continue;
      if (dtype_of(arg).bits != 8) return false;
      ++num_tensors;
    }
    return num_tensors == 1;
  }

  struct Traits {
    FusePattern pattern;
    bool reads_once, is_rows;
  };
  const Traits& traits_of(const tir::PrimFunc& func) {
    auto [found, is_new] = traits_.try_emplace(func.get());
    if (is_new) found->second = {pattern_of(func), reads_once(func), is_rows(func)};
    return found->second;
  }

  const IRModule& module_;
  std::unordered_map<const Object*, Traits> traits_;
};

// ---- bytes that several programs read

// `block` with what widens bytes computed in each program that reads it, if all of them can take it in: the tensor of
// wider elements is then nowhere.
BindingBlock with_own_widening(const DataflowBlock& block, const Nodes& graph) {
  std::vector<std::vector<Binding>> copies(
      block->bindings.size());  // of binding n, for users after the first
  std::vector<Substitution> renamed(block->bindings.size());
  bool is_changed = false;
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const FusionNode& node = graph.nodes[n];
    if (node.users.size() < 2 || !readers_may_widen(node, graph.nodes)) continue;
    is_changed = true;
    const size_t place = graph.members[n].binding;
    const auto bound = ref_as<VarBindingNode>(block->bindings[place]);
    for (size_t user = 1; user < node.users.size(); ++user) {
      const AnyVar copy = DataflowVarNode::make(bound->var->name_hint, bound->var->type);
      copies[place].push_back(VarBindingNode::make(copy, bound->value));
      renamed[graph.members[node.users[user]].binding][bound->var.get()] = copy;
    }
  }
  if (!is_changed) return block;
  std::vector<Binding> bindings;
  for (size_t n = 0; n < block->bindings.size(); ++n) {
    const Binding& binding = block->bindings[n];
    bindings.push_back(renamed[n].empty() ? binding : substitute(binding, renamed[n]));
    bindings.insert(bindings.end(), copies[n].begin(), copies[n].end());
  }
  return DataflowBlockNode::make(std::move(bindings));
}

// ---- one group as a function

// "conv2d" for conv2d, conv2d1, conv2d2, ...: the name that the first one has
std::string base_name(const IRModule& module, const std::string& name) {
  std::string base = name;
  while (!base.empty() && base.back() >= '0' && base.back() <= '9') base.pop_back();
  return base != name && module->find(base) ? base : name;
}

class GroupFunction {
 public:
  GroupFunction(const IRModule& module, const DataflowBlock& block) : module_(module), block_(block) {}

  void add(const Member& member, bool is_last) {
    std::vector<Expr> operands;
    for (const Expr& operand : member.call->args[1].as<TupleNode>()->elements)
      operands.push_back(inner_of(operand));
    const Call call =
        with(member.call, [&](CallNode& changed) { changed.args[1] = Tuple(TupleNode::make(operands)); });
    const AnyVar& old = block_->bindings[member.binding]->var;
    AnyVar var;
    if (is_last)
      var = Var(VarNode::make("gv", old->type));
    else
      var = DataflowVar(DataflowVarNode::make(old->name_hint, old->type));
    inner_[old.get()] = var;
    origin_ = joined_origins(origin_, member.call->span);
    bindings_.push_back(VarBindingNode::make(var, Expr(call)));
    if (name_.size() < 80) name_ += "_" + base_name(module_, member.callee);
  }

  // The call that replaces the last one of the group.
  Expr finish(BlockBuilder& functions) {
    add_shape_param();
    const AnyVar result = bindings_.back()->var;
    Substitution fresh;  // the function gets new dimensions
    for_each_dim([&](const tir::VarNode* var) {
      if (!fresh.count(var)) fresh[var] = tir::make_var(var->name_hint, var->dtype);
    });
    const BindingBlock block = DataflowBlockNode::make(std::move(bindings_));
    const SeqExpr body = SeqExprNode::make(std::vector<BindingBlock>{block}, Expr(result), result->type);
    Function func = FunctionNode::make(params_, Expr(body), result->type, true,
                                       AttrMap{{"Primitive", IntImmNode::make(kInt64, int64_t{1})}});
    func = substitute(func, fresh);
    func = with(func, [&](FunctionNode& node) { node.type = function_type(func.get()); });
    const Call call = CallNode::make(Expr(functions.add_func(func, name_)), args_);
    return with(call, [&](CallNode& node) {
      node.type = result->type;
      node.span = origin_;
    });
  }

 private:
  // The expression for `operand` inside the function: itself if it is a scalar, a value of
  // the group, or a parameter.
  Expr inner_of(const Expr& operand) {
    const auto* constant = operand.as<ConstantNode>();
    if (constant && literal_of(constant)) return operand;
    Expr& inner = inner_[operand.get()];
    if (!inner) {
      const Var param = VarNode::make(fmt::format("p{}", params_.size()), type_of(operand));
      params_.push_back(param);
      args_.push_back(operand);
      inner = param;
    }
    return inner;
  }

  // Adds a parameter for variables that types and extra integers use and that no parameter's shape defines.
  void add_shape_param() {
    std::vector<const tir::VarNode*> known;
    for (const Var& param : params_) collect_defined_dims(param->type, &known);
    Shape missing;
    for_each_dim([&](const tir::VarNode* var) {
      if (std::find(known.begin(), known.end(), var) != known.end()) return;
      known.push_back(var);
      missing.push_back(tir::Var(var));
    });
    if (missing.empty()) return;
    params_.push_back(VarNode::make("s", Type(shape_type(missing))));
    args_.push_back(shape_expr(missing));
  }

  template <class F>
  void for_each_dim(const F& visit) {
    for (const Var& param : params_) walk(param->type, visit);
    for (const Binding& binding : bindings_) {
      const auto* call = binding->value.as<CallNode>();
      walk(call->type_args[0], visit);
      for (size_t n = 2; n < call->args.size(); ++n) walk(call->args[n], visit);
    }
  }

  const IRModule& module_;
  const DataflowBlock& block_;
  std::vector<Var> params_;
  std::vector<Expr> args_;
  std::unordered_map<const Object*, Expr> inner_;
  std::vector<Binding> bindings_;
  std::string name_ = "fused";
  Span origin_;  // of all members
};

// ---- the block with groups

BindingBlock fuse_block(const IRModule& module, BlockBuilder& functions, const DataflowBlock& block,
                        const NumUses& num_uses, size_t max_size) {
  const Nodes graph(module, block, num_uses);
  const std::vector<size_t> group = fusion_groups(graph.nodes, max_size);
  std::vector<std::vector<size_t>> members(group.size());
  for (size_t n = 0; n < group.size(); ++n) members[group[n]].push_back(n);
  std::vector<size_t> node_at(block->bindings.size(), kNone);
  for (size_t n = 0; n < group.size(); ++n) node_at[graph.members[n].binding] = n;
  std::vector<Binding> bindings;
  for (size_t b = 0; b < block->bindings.size(); ++b) {
    const Binding& binding = block->bindings[b];
    const size_t n = node_at[b];
    if (n == kNone || members[group[n]].size() < 2) {
      bindings.push_back(binding);
      continue;
    }
    if (group[n] != n) continue;  // computed at the end of its group
    GroupFunction function(module, block);
    for (size_t member : members[n]) function.add(graph.members[member], member == n);
    const Expr call = function.finish(functions);
    bindings.push_back(
        with(ref_as<VarBindingNode>(binding), [&](VarBindingNode& node) { node.value = call; }));
  }
  if (bindings == block->bindings) return block;
  return DataflowBlockNode::make(std::move(bindings));
}

IRModule run(const IRModule& module, const Options& options, PassContext&) {
  BlockBuilder functions(module);
  if (options.max_size < 1) throw UserError("max_size is {}, expected at least 1", options.max_size);
  const auto max_size = static_cast<size_t>(options.max_size);
  std::vector<std::pair<std::string, Function>> changed;
  for (size_t n = 0; n < module->functions.size(); ++n) {
    const Function func = ref_as<FunctionNode>(module->functions[n]);
    if (!func || func->attrs.contains("Primitive")) continue;
    const NumUses old_uses = count_uses(func);
    Function fused = rewrite(func, [&](auto& self, const DataflowBlockNode* block) -> BindingBlock {
      return with_own_widening(DataflowBlock(block), Nodes(module, DataflowBlock(block), old_uses));
    });
    const NumUses num_uses = count_uses(fused);
    fused = rewrite(fused, [&](auto& self, const DataflowBlockNode* block) -> BindingBlock {
      return fuse_block(module, functions, DataflowBlock(block), num_uses, max_size);
    });
    if (fused != func) changed.emplace_back(module->global_vars[n]->name_hint, fused);
  }
  if (changed.empty()) return module;
  IRModule result = functions.get();
  for (auto& [name, func] : changed) result = with_function(result, name, std::move(func));
  return result;
}

}  // namespace

extern constinit const PassInfo fuse_ops_info = module_pass<run, Options>(
    "fuse_ops", "Groups cheap operators in one function with the operators they follow.", 2);

}  // namespace tilewright::relax
