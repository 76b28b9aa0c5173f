// Loops of one iteration are that iteration.
//   for i in range(1):
//       S[i + tx] = A[i]     ->    S[0 + tx] = A[0]
// Loops over blocks and threads stay, and those with annotations or that something in them leaves.
#include "tilewright/arith/analyzer.h"
#include "tilewright/ir/rewrite.h"
#include "tilewright/ir/walk.h"
#include "tilewright/lower/common/join_sequences.h"
#include "tilewright/lower/step.h"
#include "tilewright/tir/builder.h"
#include "tilewright/tir/op.h"

namespace tilewright::lower {
namespace {

bool is_left(const Stmt& body) {
  bool found = false;
  ir::walk(body, [&](const CallNode* call) {
    found |= is_call_of(call, "tir.break_loop") || is_call_of(call, "tir.continue_loop");
  });
  return found;
}

PrimFunc remove_unit_loops(const PrimFunc& func) {
  arith::Analyzer analyzer;
  return rewrite(func, join_sequences, [&](auto& self, const ForNode* loop) -> Stmt {
    const bool is_plain = loop->for_kind != ForKind::kThreadBinding && loop->annotations.empty();
    if (!is_plain || !is_one(analyzer.simplify(loop->extent)) || is_left(loop->body))
      return self.children(loop);
    self.replace_uses(loop->loop_var.get(), loop->min);
    return self(loop->body);
  });
}

}  // namespace

extern constinit const StepInfo remove_unit_loops_info = {
    .name = "remove_unit_loops",
    .doc = "loops of one iteration are that iteration",
    .run = without_options<remove_unit_loops>,
};

}  // namespace tilewright::lower
