// Properties of blocks and buffers that schedules, lowering and checks need.
#pragma once
#include <unordered_map>
#include <vector>

#include "tilewright/ir/module.h"
#include "tilewright/tir/tir.h"

namespace tilewright::analysis {
using namespace tir;

/// The buffers that lowering gives each iteration of a concurrent loop (parallel, vectorized, threads)
/// separately: a block outside of the loop allocates the buffer, but all accesses (T.reads and T.writes do
/// not count) are inside. Maps the loop (or T.launch_thread statement) to its buffers, each under the
/// innermost such loop.  Threads of a block share buffers of a shared scope; a buffer whose address is taken
/// is never private.
std::unordered_map<const StmtNode*, std::vector<Buffer>> private_buffers(const PrimFunc& func);

/// True if something in `stmt` does not run each time that `stmt` does, or not as often as its loops say: behind a
/// condition, in a while loop, in a block with a predicate.
bool has_conditional_statements(const Stmt& stmt);
/// True if an expression in it has a part that is not computed each time: Select, T.if_then_else.
bool has_conditional_values(const Stmt& stmt);

}  // namespace tilewright::analysis
