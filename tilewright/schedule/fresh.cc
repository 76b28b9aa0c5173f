#include "tilewright/schedule/fresh.h"

#include "tilewright/ir/rewrite.h"
#include "tilewright/tir/builder.h"

namespace tilewright::schedule {
namespace {

// What is defined inside of a block: its axes, and the buffers that live during it.
Block fresh_definitions(const BlockNode* block, const std::string& suffix) {
  Substitution renamed;
  std::vector<IterVar> axes;
  for (const IterVar& axis : block->iter_vars) {
    const Var var = make_var(axis->var->name_hint, axis->var->dtype);
    renamed[axis->var.get()] = var;
    axes.push_back(with(axis, [&](IterVarNode& n) { n.var = var; }));
  }
  std::vector<Buffer> buffers;
  for (const Buffer& buffer : block->alloc_buffers) {
    const Var data = pointer_var(buffer->data->name_hint, buffer->dtype, buffer->scope());
    buffers.push_back(with(buffer, [&](BufferNode& n) { n.data = data; }));
    renamed[buffer.get()] = buffers.back();
    renamed[buffer->data.get()] = data;
  }
  const Block changed = substitute(Block(block), renamed);
  return with(changed, [&](BlockNode& n) {
    n.iter_vars = axes;
    n.alloc_buffers = buffers;
    n.name_hint += suffix;
  });
}

}  // namespace

Stmt fresh_copy(const Stmt& stmt, const std::string& suffix) {
  return rewrite(
      stmt,
      [&](auto& self, const ForNode* loop) -> Stmt {
        const For inner = self.children(loop);
        const Var var = make_var(loop->loop_var->name_hint, loop->loop_var->dtype);
        return with(inner, [&](ForNode& n) {
          n.loop_var = var;
          n.body = substitute(n.body, {{loop->loop_var.get(), var}});
        });
      },
      [&](auto& self, const BlockNode* block) -> Stmt {
        return fresh_definitions(self.children(block).get(), suffix);
      });
}

}  // namespace tilewright::schedule
