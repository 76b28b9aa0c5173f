// Groups of call_tir become functions of their own with the attribute Primitive, for fuse_tir to merge.
//   lv = call_tir(matmul, (x, w)); lv1 = call_tir(add, (lv, b)); gv = call_tir(relu, (lv1,))
//   ->  gv = fused_matmul_add_relu(x, w, b)
// A group has one result; what it computes inside is used only inside, so nothing is computed twice and no
// cycle can arise.  It holds at most one expensive computation (matmul, conv, reduction), and what follows
// that one is elementwise.
#include <algorithm>
#include <unordered_map>

#include "tilewright/ir/rewrite.h"
#include "tilewright/ir/walk.h"
#include "tilewright/relax/block_builder.h"
#include "tilewright/relax/infer.h"
#include "tilewright/relax/liveness.h"
#include "tilewright/relax/pass.h"
#include "tilewright/relax/tir_pattern.h"

namespace tilewright::relax {
namespace {

struct Options {
  int64_t max_size = 64;
  static constexpr auto fields() {
    return std::tuple{field<&Options::max_size>("max_size", "most calls in one group")};
  }
};

// A call_tir that may be fused.
struct Node {
  size_t binding = 0;
  const CallNode* call = nullptr;
  std::string callee;
  FusePattern pattern = FusePattern::kOpaque;
  const Shape* shape = nullptr;
  size_t group = 0;  // number of the group's last node
};

struct Group {
  size_t size = 1;
  bool is_simple = true;  // only elementwise and broadcast so far
  bool has_heavy = false;
};

constexpr size_t kNone = SIZE_MAX;

class BlockFuser {
 public:
  BlockFuser(const IRModule& module, BlockBuilder& functions, const DataflowBlock& block,
             const Options& options)
      : module_(module), functions_(functions), block_(block), options_(options) {}

  BindingBlock run() {
    find_nodes();
    for (size_t n = nodes_.size(); n-- > 0;) join(n);
    return rebuild();
  }

 private:
  void find_nodes() {
    std::unordered_map<const Object*, size_t> node_of;
    for (size_t b = 0; b < block_->bindings.size(); ++b) {
      const Binding& binding = block_->bindings[b];
      const size_t user = add_node(b);
      auto use = [&](const Object* var) {
        auto found = node_of.find(var);
        if (found != node_of.end()) users_[found->second].push_back(user);
      };
      walk(
          binding->value, [&](const VarNode* var) { use(var); },
          [&](const DataflowVarNode* var) { use(var); });
      if (user != kNone) node_of[binding->var.get()] = user;
    }
  }

  // The number of the new node, or kNone if the binding cannot be fused.
  size_t add_node(size_t b) {
    const auto* binding = block_->bindings[b].as<VarBindingNode>();
    const auto* call = binding ? binding->value.as<CallNode>() : nullptr;
    if (!call || op_name(call) != "relax.call_tir" || call->type_args.size() != 1 ||
        !is<TupleNode>(call->args[1]))
      return kNone;
    const auto* callee = call->args[0].as<GlobalVarNode>();
    const auto func = callee ? ref_as<tir::PrimFuncNode>(module_->find(callee->name_hint)) : tir::PrimFunc();
    const Shape* shape = known_shape(call->type_args[0].as<TensorTypeNode>());
    if (!func || !shape) return kNone;
    Node node{b, call, callee->name_hint, pattern_of(func), shape, nodes_.size()};
    if (node.pattern >= FusePattern::kTuple) return kNone;
    nodes_.push_back(node);
    groups_.push_back({1, node.pattern <= FusePattern::kBroadcast, is_heavy(node)});
    users_.emplace_back();
    return nodes_.size() - 1;
  }

  static bool is_heavy(const Node& node) { return node.pattern >= FusePattern::kReduction; }

  // Puts node `n` into the group of its users if that is allowed.
  void join(size_t n) {
    if (!is<DataflowVarNode>(block_->bindings[nodes_[n].binding]->var) || users_[n].empty() ||
        users_[n][0] == kNone)
      return;
    const size_t target = nodes_[users_[n][0]].group;
    for (size_t user : users_[n]) {
      if (user == kNone || nodes_[user].group != target) return;  // its value is needed outside as well
    }
    if (!can_join(nodes_[n], users_[n], target)) return;
    Group& group = groups_[target];
    nodes_[n].group = target;
    group.size += 1;
    group.is_simple &= nodes_[n].pattern <= FusePattern::kBroadcast;
    group.has_heavy |= is_heavy(nodes_[n]);
  }

  bool can_join(const Node& node, const std::vector<size_t>& users, size_t target) const {
    const Group& group = groups_[target];
    if (static_cast<int64_t>(group.size) >= options_.max_size) return false;
    if (is_heavy(node)) {
      if (group.has_heavy || !group.is_simple)
        return false;  // one expensive computation, elementwise work after it
      if (equal_shapes(*node.shape, *nodes_[target].shape) != Answer::kYes) return false;
      return std::all_of(users.begin(), users.end(), [&](size_t user) {
        return equal_shapes(*node.shape, *nodes_[user].shape) == Answer::kYes;
      });
    }
    for (size_t user : users) {
      if (nodes_[user].pattern == FusePattern::kOutFusable)
        return false;  // would be computed again for each use
    }
    return true;
  }

  // ---- the new block

  BindingBlock rebuild() {
    std::vector<std::vector<size_t>> members(nodes_.size());
    std::vector<size_t> node_at(block_->bindings.size(), kNone);
    for (size_t n = 0; n < nodes_.size(); ++n) {
      members[nodes_[n].group].push_back(n);
      node_at[nodes_[n].binding] = n;
    }
    std::vector<Binding> bindings;
    bool changed = false;
    std::vector<bool> dropped(nodes_.size(), false);
    std::unordered_map<size_t, Expr> fused;
    for (size_t n = 0; n < nodes_.size(); ++n) {
      if (members[n].size() < 2) continue;
      Expr call = make_call(members[n]);
      if (!call) continue;
      fused[n] = call;
      for (size_t member : members[n]) dropped[member] = member != n;
    }
    for (size_t b = 0; b < block_->bindings.size(); ++b) {
      const size_t n = node_at[b];
      if (n != kNone && dropped[n]) continue;
      auto found = n == kNone ? fused.end() : fused.find(n);
      if (found == fused.end()) {
        bindings.push_back(block_->bindings[b]);
        continue;
      }
      changed = true;
      bindings.push_back(with(ref_as<VarBindingNode>(block_->bindings[b]),
                              [&](VarBindingNode& node) { node.value = found->second; }));
    }
    if (!changed) return block_;
    return DataflowBlockNode::make(std::move(bindings));
  }

  // The call of a function that holds `members`; null when a dimension would be unknown in it.
  Expr make_call(const std::vector<size_t>& members) {
    std::vector<Var> params;
    std::vector<Expr> args;
    std::unordered_map<const Object*, Expr> inner;
    std::vector<Binding> bindings;
    std::string name = "fused";
    for (size_t n : members) {
      const Node& node = nodes_[n];
      std::vector<Expr> operands;
      for (const Expr& operand : node.call->args[1].as<TupleNode>()->elements) {
        Expr& mapped = inner[operand.get()];
        if (!mapped) {
          if (!is<TensorTypeNode>(type_of(operand))) return nullptr;
          Var param = VarNode::make(fmt::format("p{}", params.size()), type_of(operand));
          params.push_back(param);
          args.push_back(operand);
          mapped = param;
        }
        operands.push_back(mapped);
      }
      Call call =
          with(node.call, [&](CallNode& changed) { changed.args[1] = Tuple(TupleNode::make(operands)); });
      const AnyVar& old = block_->bindings[node.binding]->var;
      AnyVar var;
      if (n == members.back())
        var = Var(VarNode::make("gv", old->type));
      else
        var = DataflowVar(DataflowVarNode::make(old->name_hint, old->type));
      inner[old.get()] = var;
      bindings.push_back(VarBindingNode::make(Expr(call), var));
      if (name.size() < 80) name += "_" + node.callee;
    }
    return finish(params, args, std::move(bindings), name);
  }

  Expr finish(const std::vector<Var>& params, const std::vector<Expr>& args, std::vector<Binding> bindings,
              const std::string& name) {
    const AnyVar result = bindings.back()->var;
    std::vector<const tir::VarNode*> known;
    for (const Var& param : params) collect_defined_dims(param->type, &known);
    Substitution fresh;
    bool all_known = true;
    auto use = [&](const tir::VarNode* var) {
      all_known &= std::find(known.begin(), known.end(), var) != known.end();
      if (!fresh.count(var)) fresh[var] = tir::make_var(var->name_hint, var->dtype);
    };
    for (const Binding& binding : bindings) {
      const auto* call = binding->value.as<CallNode>();
      walk(call->type_args[0], use);
      for (size_t n = 2; n < call->args.size(); ++n) walk(call->args[n], use);
    }
    for (const Var& param : params) walk(param->type, use);
    if (!all_known) return nullptr;
    BindingBlock block = DataflowBlockNode::make(std::move(bindings));
    SeqExpr body = SeqExprNode::make(std::vector<BindingBlock>{block}, Expr(result), result->type);
    Function func = FunctionNode::make(params, Expr(body), result->type, true,
                                       AttrMap{{"Primitive", IntImmNode::make(kInt64, int64_t{1})}});
    func = substitute(func, fresh);
    func = with(func, [&](FunctionNode& node) { node.type = function_type(func.get()); });
    const GlobalVar global = functions_.add_func(func, name);
    Call call = CallNode::make(Expr(global), args);
    return with(call, [&](CallNode& node) { node.type = result->type; });
  }

  const IRModule& module_;
  BlockBuilder& functions_;
  const DataflowBlock& block_;
  const Options& options_;
  std::vector<Node> nodes_;
  std::vector<Group> groups_;  // by number of their last node
  std::vector<std::vector<size_t>> users_;
};

IRModule run(const IRModule& module, const Options& options, PassContext&) {
  BlockBuilder functions(module);
  std::vector<std::pair<std::string, Function>> changed;
  for (size_t n = 0; n < module->functions.size(); ++n) {
    const Function func = ref_as<FunctionNode>(module->functions[n]);
    if (!func || func->attrs.contains("Primitive")) continue;
    Function fused = rewrite(func, [&](auto& self, const DataflowBlockNode* block) -> DataflowBlock {
      return ref_as<DataflowBlockNode>(BlockFuser(module, functions, DataflowBlock(block), options).run());
    });
    if (fused != func) changed.emplace_back(module->global_vars[n]->name_hint, fused);
  }
  if (changed.empty()) return module;
  IRModule result = functions.get();
  for (auto& [name, func] : changed) result = with_function(result, name, std::move(func));
  return result;
}

}  // namespace

extern constinit const PassInfo fuse_ops_info =
    module_pass<run, Options>("fuse_ops", "Cheap operators stand in one function with what they follow.", 2);

}  // namespace tilewright::relax
