#include "tilewright/lower/common/num_nodes.h"

#include "tilewright/ir/walk.h"

namespace tilewright::lower {

int64_t num_nodes(const Stmt& stmt) {
  int64_t count = 0;
  walk(stmt, [&](const StmtNode*) { ++count; }, [&](const PrimExprNode*) { ++count; });
  return count;
}

}  // namespace tilewright::lower
