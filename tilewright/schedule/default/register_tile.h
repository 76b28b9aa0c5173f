// How many rows and vectors of results one pass over the reduction keeps in registers.
#pragma once
#include "tilewright/schedule/default/machine.h"

namespace tilewright::schedule {

struct RegisterTile {
  int64_t rows = 1;     // values of the axis along which vectors are reused
  int64_t vectors = 1;  // vectors of the contiguous axis
  int64_t lanes = 1;    // elements of one vector
};

/// What one step of a sum loads.
struct TileLoads {
  int64_t vectors = 0;  // for each vector of columns
  int64_t rows = 0;     // scalars for each row
  bool is_far = false;  // vectors come from far memory for each row of tiles
};

/// The tile of a sum over rows x columns results with the least estimated time: the processor starts
/// fma_per_cycle multiply-adds and two loads in a cycle, a sum waits fma_latency cycles for itself, and a
/// tile that reaches over the edge does all of its work; but if vectors come from far, fewer rows of tiles
/// are better, even if the last one is a part.
///
/// num_rows, num_columns  results along both axes, >= 1
/// element_bytes          of one result
/// is_whole               the last vectors may not reach over the edge
/// row_step               the number of rows is a multiple of it
RegisterTile choose_register_tile(int64_t num_rows, int64_t num_columns, int64_t element_bytes,
                                  const TileLoads& loads, const Machine& machine, bool is_whole = false,
                                  int64_t row_step = 1);

}  // namespace tilewright::schedule
