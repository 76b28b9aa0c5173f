// Lambdas for rewrite() in passes that replace one statement by several: the new statements are joined with
// those around them.
#pragma once
#include "tilewright/ir/rewrite.h"
#include "tilewright/tir/builder.h"

namespace tilewright::lower {

inline constexpr auto join_sequences = [](auto& self, const tir::SeqStmtNode* node) -> tir::Stmt {
  std::vector<tir::Stmt> items = self(node->seq);
  return items == node->seq ? tir::Stmt(node) : tir::seq(std::move(items));
};

}  // namespace tilewright::lower
