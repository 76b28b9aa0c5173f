// Memory that the threads of a block share is allocated at the top of its kernel, as device languages require.
//   for bx in blocks: for tx in threads:                 for bx in blocks: for tx in threads:
//       for k in range(8):                                   S = T.alloc_buffer((64,), scope="shared")
//           S = T.alloc_buffer((64,), scope="shared")  ->    for k in range(8):
//           ...                                                  ...
#include "tilewright/ir/rewrite.h"
#include "tilewright/lower/common/join_sequences.h"
#include "tilewright/lower/common/thread_axes.h"
#include "tilewright/lower/step.h"
#include "tilewright/support/error.h"
#include "tilewright/tir/builder.h"
#include "tilewright/tir/text.h"

namespace tilewright::lower {
namespace {

void require_known_size(const AllocBufferNode* node) {
  for (const PrimExpr& extent : node->buffer->shape) {
    if (!is<IntImmNode>(extent))
      throw UserError(node,
                      "shared buffer {} has {} elements, a number that is known only when the kernel runs",
                      node->buffer->name, expr_text(extent))
          .help("split the loops so that a block copies a tile of constant size");
  }
}

// True if the first statements allocate `count` shared buffers.
bool are_at_the_top(const Stmt& body, size_t count) {
  const Stmt* stmt = &body;
  for (size_t n = 0; n < count; ++n) {
    const auto* alloc = stmt->as<AllocBufferNode>();
    if (!alloc || !is_shared(alloc->buffer)) return false;
    stmt = &alloc->body;
  }
  return true;
}

// `body` is in all loops of the kernel over blocks and threads.
Stmt lifted(const Stmt& body) {
  std::vector<const AllocBufferNode*> found;
  Stmt rest = rewrite(body, join_sequences, [&](auto& self, const AllocBufferNode* node) -> Stmt {
    if (!is_shared(node->buffer)) return self.children(node);
    require_known_size(node);
    found.push_back(node);
    return self(node->body);
  });
  if (are_at_the_top(body, found.size())) return body;
  for (size_t n = found.size(); n-- > 0;)
    rest = AllocBufferNode::make(found[n]->buffer, found[n]->annotations, rest, found[n]->span);
  return rest;
}

PrimFunc lift_shared_memory(const PrimFunc& func) {
  return rewrite(func, [](auto& self, const ForNode* loop) -> Stmt {
    if (!kernel_axis(loop)) return self.children(loop);
    const auto* inner = loop->body.as<ForNode>();
    const bool is_innermost = !inner || !kernel_axis(inner);
    const Stmt body = is_innermost ? lifted(loop->body) : self(loop->body);
    return body == loop->body ? For(loop) : with(loop, [&](ForNode& changed) { changed.body = body; });
  });
}

}  // namespace

extern constinit const StepInfo lift_shared_memory_info = {
    .name = "lift_shared_memory",
    .doc = "memory that threads share is allocated at the top of its kernel",
    .without = kManyDimensions,
    .run = without_options<lift_shared_memory>,
};

}  // namespace tilewright::lower
