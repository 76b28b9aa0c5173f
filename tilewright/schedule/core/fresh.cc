#include "tilewright/schedule/core/fresh.h"

#include "tilewright/ir/rewrite.h"
#include "tilewright/tir/fresh.h"

namespace tilewright::schedule {

Stmt fresh_copy(const Stmt& stmt, const std::string& suffix) {
  return rewrite(tir::fresh_copy(stmt), [&](auto& self, const BlockNode* block) -> Stmt {
    return with(self.children(block), [&](BlockNode& n) { n.name_hint += suffix; });
  });
}

}  // namespace tilewright::schedule
