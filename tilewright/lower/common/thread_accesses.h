// What the threads of a block access together, and whether two of them may touch one element.
#pragma once
#include <vector>

#include "tilewright/arith/analyzer.h"
#include "tilewright/arith/iter_map.h"
#include "tilewright/ir/rewrite.h"
#include "tilewright/tir/tir.h"

namespace tilewright::lower {
using namespace tir;

/// An access to memory that several threads can reach.
struct ThreadAccess {
  Buffer buffer;
  PrimExpr index;  // null: unknown
  bool is_write = false;
  arith::IterRanges loops;  // inside of the kernel, around it
  PrimExpr condition;       // holds when it happens; null: always
  bool is_async = false;    // a copy that ptx_cp_async begins here: it writes until it is waited for
  bool is_of_warp = false;  // by other threads of the warp too
};

/// How far an access lies behind another in the loops around both, outermost first.
struct Distance {
  size_t num_equal = 0;     // loops that are in the same iteration
  int64_t iterations = -1;  // of the loop inside of them; -1: unknown, as that of the loops inside
};

/// The threads of a block.
struct Threads {
  arith::IterRanges axes;
  arith::IterRanges blocks = {};  // of the grid; all threads are in one of them
};

/// The accesses of `stmt`, which is in loops `loops` and under `condition` (null: none), in the order in which they
/// happen.  Private memory (scope "local") is left out.
///
///   lets  values of variables that are defined around it
std::vector<ThreadAccess> thread_accesses(const Stmt& stmt, const arith::IterRanges& loops,
                                          const PrimExpr& condition, const Substitution& lets = {});
std::vector<ThreadAccess> thread_accesses(const PrimExpr& expr, const arith::IterRanges& loops,
                                          const PrimExpr& condition, const Substitution& lets = {});

/// True unless it is proved that no element is touched by both in different threads, or that none is written.  `a` lies
/// `distance` behind `b`.
bool may_meet(const ThreadAccess& a, const ThreadAccess& b, const Threads& threads,
              const Distance& distance = {});

}  // namespace tilewright::lower
