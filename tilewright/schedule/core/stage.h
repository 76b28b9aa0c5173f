// Blocks and loops that steps make.  They say where the user wrote what they are made for, so that errors of
// later steps and of the compiler can point there.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "tilewright/tir/tir.h"

namespace tilewright::schedule {
using namespace tir;

/// A block and the loops around it.
struct Stage {
  Block block;
  Stmt stmt;
};

/// A block whose regions are those found in `init` and `body`; `written` is for it and for the statements in
/// it that have no place yet.
Block new_block(std::string name, std::vector<IterVar> axes, Stmt init, Stmt body, const Span& written,
                AttrMap annotations = {});

/// for loops[0], loops[1], ... in T.grid(...): body
Stmt new_loops(const std::vector<std::pair<Var, PrimExpr>>& loops, Stmt body, const Span& written);

/// The block at its place, inside of new loops.
Stage new_stage(Block block, std::vector<PrimExpr> values, PrimExpr predicate,
                const std::vector<std::pair<Var, PrimExpr>>& loops);

}  // namespace tilewright::schedule
