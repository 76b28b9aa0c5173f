// What passes that replace one statement by several give to rewrite(): the new statements join those around
// them.
#pragma once
#include "tilewright/ir/rewrite.h"
#include "tilewright/tir/builder.h"

namespace tilewright::lower {

inline constexpr auto join_sequences = [](auto& self, const tir::SeqStmtNode* node) -> tir::Stmt {
  std::vector<tir::Stmt> items = self(node->seq);
  return items == node->seq ? tir::Stmt(node) : tir::seq(std::move(items));
};

}  // namespace tilewright::lower
