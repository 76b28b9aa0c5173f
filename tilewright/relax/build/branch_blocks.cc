#include "tilewright/relax/build/branch_blocks.h"

#include <unordered_map>
#include <unordered_set>

#include "tilewright/ir/rewrite.h"
#include "tilewright/ir/walk.h"

namespace tilewright::relax {
namespace {

// The bindings of `block` in dataflow blocks, each `if` outside of them.
std::vector<BindingBlock> split(const BindingBlock& block) {
  std::vector<BindingBlock> blocks;
  std::vector<Binding> open;
  const auto close = [&] {
    if (!open.empty()) blocks.push_back(DataflowBlockNode::make(std::move(open)));
    open.clear();
  };
  for (const Binding& binding : block->bindings) {
    if (is<IfNode>(binding->value)) {
      close();
      blocks.push_back(PlainBlockNode::make(std::vector<Binding>{binding}));
    } else {
      open.push_back(binding);
    }
  }
  close();
  return blocks;
}

// Plain blocks that follow each other are one, as the text of a program has them.
void add(const BindingBlock& block, std::vector<BindingBlock>* blocks) {
  if (blocks->empty() || !is<PlainBlockNode>(blocks->back()) || !is<PlainBlockNode>(block))
    return blocks->push_back(block);
  std::vector<Binding> bindings = blocks->back()->bindings;
  bindings.insert(bindings.end(), block->bindings.begin(), block->bindings.end());
  blocks->back() = PlainBlockNode::make(std::move(bindings));
}

Function split_blocks(const Function& func) {
  return rewrite(func, [&](auto& self, const SeqExprNode* node) -> SeqExpr {
    const SeqExpr seq = self.children(node);
    std::vector<BindingBlock> blocks;
    for (const BindingBlock& block : seq->blocks) {
      std::vector<BindingBlock> parts =
          is<DataflowBlockNode>(block) ? split(block) : std::vector<BindingBlock>{block};
      if (parts.size() == 1 && is<DataflowBlockNode>(parts[0])) parts = {block};
      for (const BindingBlock& part : parts) add(part, &blocks);
    }
    return blocks == seq->blocks
               ? seq
               : with(seq, [&](SeqExprNode& changed) { changed.blocks = std::move(blocks); });
  });
}

// The variables that are used outside of the dataflow block that binds them, or are bound outside of one.
std::unordered_set<const Object*> visible_outside(const Function& func) {
  std::unordered_map<const Object*, const Object*> home;
  std::unordered_set<const Object*> result;
  walk(
      func->body,
      [&](const DataflowBlockNode* block) {
        for (const Binding& binding : block->bindings) home[binding->var.get()] = block;
      },
      [&](const PlainBlockNode* block) {
        for (const Binding& binding : block->bindings) result.insert(binding->var.get());
      });
  const Object* here = nullptr;
  const auto use = [&](const Object* var) {
    const auto found = home.find(var);
    if (found != home.end() && found->second != here) result.insert(var);
  };
  walk(
      func->body,
      [&](const DataflowBlockNode* block) {
        here = block;
        walk(block, [&](const DataflowVarNode* var) { use(var); });
        here = nullptr;
        return false;
      },
      [&](const DataflowVarNode* var) { use(var); });
  return result;
}

Binding with_variable(const Binding& binding, const AnyVar& var) {
  if (const auto* cast = binding.as<MatchCastNode>())
    return with(cast, [&](MatchCastNode& node) { node.var = var; });
  return with(ref_as<VarBindingNode>(binding), [&](VarBindingNode& node) { node.var = var; });
}

class Widener {
 public:
  explicit Widener(std::unordered_set<const Object*> outside) : outside_(std::move(outside)) {}

  Function run(const Function& func) {
    return rewrite(
        func,
        [&](auto& self, const DataflowBlockNode* block) -> DataflowBlock {
          std::vector<Binding> bindings = widened(self, block->bindings);
          return bindings == block->bindings ? DataflowBlock(block)
                                             : DataflowBlockNode::make(std::move(bindings));
        },
        [&](auto& self, const PlainBlockNode* block) -> PlainBlock {
          std::vector<Binding> bindings = widened(self, block->bindings);
          return bindings == block->bindings ? PlainBlock(block) : PlainBlockNode::make(std::move(bindings));
        });
  }

 private:
  template <class Rewriter>
  std::vector<Binding> widened(Rewriter& self, const std::vector<Binding>& bindings) {
    std::vector<Binding> result;
    for (const Binding& old : bindings) {
      const Binding binding = self(old);
      const auto* inner = old->var.as<DataflowVarNode>();
      if (!inner || !outside_.contains(inner)) {
        result.push_back(binding);
        continue;
      }
      const Var var = VarNode::make(inner->name_hint, inner->type, inner->span);
      result.push_back(with_variable(binding, var));
      self.replace_uses(inner, var);
    }
    return result;
  }

  std::unordered_set<const Object*> outside_;
};

}  // namespace

Function with_branches_outside(const Function& func) {
  const Function split = split_blocks(func);
  return Widener(visible_outside(split)).run(split);
}

}  // namespace tilewright::relax
