// How threads of a block put their partial results together.
#pragma once
#include <optional>

#include "tilewright/analysis/update.h"
#include "tilewright/tir/tir.h"

namespace tilewright::lower {
using namespace tir;

/// The threads that have parts of one result, and the others of their block.
struct Sharers {
  std::vector<std::pair<Var, int64_t>> parts, others;  // variable and extent of each axis, outermost first
  bool is_fastest = false;                             // the parts are those of threadIdx.x alone

  int64_t num_parts() const;
  int64_t num_others() const;
};

/// Statements after which `place` in `partial` has the whole result in each of the sharers.  `warp_size`: threads
/// that can exchange registers; 0 if none can.  `shared` gets the buffers that they need.
Stmt combine_parts(const analysis::Update& update, const std::vector<Buffer>& partial,
                   const std::vector<PrimExpr>& place, const Sharers& sharers, int64_t warp_size,
                   std::vector<Buffer>* shared);

}  // namespace tilewright::lower
