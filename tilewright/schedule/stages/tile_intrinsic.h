// A tile of a stage that a tensor intrinsic computes: s[C].tensorize(yi, gemv).
//   for yo, ko:                        C[yo * 16 ..] = 0 by the reset of the intrinsic, before ko begins
//       for yi, ki: C[...] += ...  ->  for ko: its update adds what the tile adds
#pragma once
#include <vector>

#include "tilewright/schedule/schedule.h"
#include "tilewright/schedule/stages/tensor_stage.h"

namespace tilewright::schedule {

struct StageTile {
  const TensorStage& stage;
  BlockRef block;
  std::vector<IterVar> leaves;  // of the stage, outermost first
  std::vector<LoopRef> loops;   // theirs
  size_t first;                 // the leaf whose loop and all inside are the tile
  TileIntrinsic intrinsic;
};

/// Lets the intrinsic compute the tile.  Loops of it that are not in the order of the operation's axes are reordered
/// first.  Raises UserError if the program does not compute what the intrinsic describes, or if it lacks the part
/// that the loops around the tile ask for.
void tensorize_tile(Schedule& sch, const StageTile& tile);

}  // namespace tilewright::schedule
