// The cost model of register tiles: how many rows and vectors of results a pass over a reduction keeps in
// registers.  It knows numbers of loads, no program.
#pragma once
#include <limits>

#include "tilewright/target/features.h"

namespace tilewright::schedule {
using target::Features;

struct RegisterTile {
  int64_t rows = 1;     // values of the axis along which vectors are reused
  int64_t vectors = 1;  // vectors of the contiguous axis
  int64_t lanes = 1;    // elements of one vector
};

/// The loads of one step of a sum.
struct TileLoads {
  int64_t vectors = 0;           // for each vector of columns
  int64_t own_vectors = 0;       // of them: each row has others
  int64_t window = 1;            // steps that are written out, whose vectors are in registers together
  int64_t misaligned = 0;        // of them: rows lie so that many vectors reach over two lines
  int64_t conversions = 0;       // instructions that make factors of the vectors of a column: numbers of bits
  int64_t rows = 0;              // scalars for each row
  bool is_far = false;           // vectors come from far memory for each row of tiles
  int64_t steps = 1;             // of a sum, each of which reads other vectors: together a panel
  int64_t kept_rows = kAllRows;  // whose lines L1 keeps while a larger panel passes by
  int64_t far_pieces = 0;        // of rows that lie in far memory, where a tile takes a part of them
  bool is_read_again = false;    // even if a tile takes all rows: by those of other axes
  int64_t least_vectors = 1;     // of a tile, if there are as many columns
  static constexpr int64_t kAllRows = std::numeric_limits<int64_t>::max();
};

/// The tile of a sum over rows x columns results with the least estimated time by features.rates: that of
/// multiply-adds, of loads, of instructions of any kind, or until a sum can take the next term, whichever is
/// longest; a tile that reaches over the edge does all of its work.  But if vectors come from far, fewer
/// rows of tiles are better, even if the last one is a part.  Where L1 does not keep a panel for the next
/// tile, each load takes some time that arithmetic does not hide, and rows are at most loads.kept_rows.
///
/// num_rows, num_columns  results along both axes, >= 1
/// element_bytes          of one result
/// is_whole               the last vectors may not reach over the edge
/// row_step               the number of rows is a multiple of it
RegisterTile choose_register_tile(int64_t num_rows, int64_t num_columns, int64_t element_bytes,
                                  const TileLoads& loads, const Features& features, bool is_whole = false,
                                  int64_t row_step = 1);

}  // namespace tilewright::schedule
