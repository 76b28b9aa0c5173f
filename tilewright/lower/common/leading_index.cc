#include "tilewright/lower/common/leading_index.h"

#include "tilewright/ir/rewrite.h"

namespace tilewright::lower {

Stmt with_leading_index(const Stmt& stmt, const Buffer& buffer, const Buffer& copies, const PrimExpr& index) {
  auto moved = [&](std::vector<PrimExpr> indices) {
    indices.insert(indices.begin(), index);
    return indices;
  };
  return rewrite(
      stmt,
      [&](auto& self, const BufferLoadNode* node) -> PrimExpr {
        BufferLoad load = self.children(node);
        return node->buffer != buffer
                   ? load
                   : BufferLoad(BufferLoadNode::make(copies, moved(load->indices), load->predicate));
      },
      [&](auto& self, const BufferStoreNode* node) -> Stmt {
        BufferStore store = self.children(node);
        return node->buffer != buffer ? store
                                      : BufferStore(BufferStoreNode::make(
                                            copies, store->value, moved(store->indices), store->predicate));
      });
}

}  // namespace tilewright::lower
