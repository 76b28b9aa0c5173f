#include "tilewright/lower/functions/require_cpu.h"

#include "tilewright/ir/walk.h"
#include "tilewright/support/error.h"

namespace tilewright::lower {
namespace {

void require_code(DataType dtype, const ir::ObjectRef& where) {
  if (dtype.is_scalable())
    throw Unsupported(where, "scalable vectors ({}) are not supported yet", dtype.str())
        .help("write a vectorized loop: it gets vectors of the machine's length");
}

// T.launch_thread: only virtual threads can be compiled for CPUs.
void require_no_thread(const tir::AttrStmtNode* attr) {
  const auto* axis = attr->node.as<tir::IterVarNode>();
  if (attr->attr_key == "thread_extent" && axis)
    throw UserError(attr, "{} is {}, which a CPU does not have", axis->var->name_hint, axis->thread_tag)
        .help("build for a GPU target, or write a loop");
}

}  // namespace

void require_code_for_cpu(const tir::PrimFunc& func) {
  ir::walk(
      func->body, [](const tir::AttrStmtNode* attr) { require_no_thread(attr); },
      [](const ir::PrimExprNode* expr) { require_code(expr->dtype, ir::ObjectRef(expr)); });
  for (size_t n = 0; n < func->params.size(); ++n) {
    require_code(func->params[n]->dtype, func->params[n]);
    if (func->buffers[n]) require_code(func->buffers[n]->dtype, func->params[n]);
  }
}

}  // namespace tilewright::lower
