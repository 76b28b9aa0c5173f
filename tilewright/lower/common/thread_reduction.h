// How threads of a block put their partial results together.
#pragma once
#include <optional>

#include "tilewright/analysis/update.h"
#include "tilewright/tir/tir.h"

namespace tilewright::lower {
using namespace tir;

/// The threads that have parts of one result, and the others of their block.
struct Sharers {
  std::vector<std::pair<Var, int64_t>> parts,
      others;                  // variable and extent of each axis, z before y before x
  bool is_fastest = false;     // the parts are those of threadIdx.x alone
  bool has_neighbours = true;  // neighbouring threads have parts of one result

  int64_t num_parts() const;
  int64_t num_others() const;
};

/// Statements after which `place` in `partial` has the whole result: in the first of the sharers, or in each of them.
struct Combination {
  int64_t warp_size = 0;            // threads that can exchange registers; 0 if none can
  bool is_for_all = false;          // each of the sharers needs the result
  std::vector<Buffer> shared = {};  // gets the buffers that the statements need
};
Stmt combine_parts(const analysis::Update& update, const std::vector<Buffer>& partial,
                   const std::vector<PrimExpr>& place, const Sharers& sharers, Combination* how);

}  // namespace tilewright::lower
