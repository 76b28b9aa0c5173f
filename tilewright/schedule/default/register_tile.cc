#include "tilewright/schedule/default/register_tile.h"

#include <algorithm>

namespace tilewright::schedule {
namespace {

int64_t ceil_div(int64_t a, int64_t b) { return (a - 1) / b + 1; }

}  // namespace

RegisterTile choose_register_tile(int64_t num_rows, int64_t num_columns, int64_t element_bytes,
                                  int64_t vector_loads, int64_t row_loads, const Machine& machine,
                                  bool is_whole, int64_t row_step) {
  RegisterTile best;
  best.rows = row_step;
  best.lanes = std::max<int64_t>(1, machine.vector_bytes / element_bytes);
  while (best.lanes > 1 && best.lanes / 2 >= num_columns) best.lanes /= 2;
  const int64_t num_vectors = ceil_div(num_columns, best.lanes);
  double best_time = 0;
  for (int64_t vectors = 1; vectors <= std::min<int64_t>(num_vectors, 8); ++vectors) {
    if (is_whole && num_vectors % vectors != 0) continue;
    for (int64_t rows = row_step; rows <= std::min<int64_t>(num_rows, 16); rows += row_step) {
      // sums, the vectors of one step, and one scalar spread over a vector
      const int64_t registers = rows * vectors + vectors * vector_loads + 1;
      if (registers > machine.num_vector_registers && rows * vectors > row_step) continue;
      const double sums = static_cast<double>(rows * vectors) / static_cast<double>(machine.fma_per_cycle);
      // two in one cycle, if none waits for a line
      const double loads = static_cast<double>(vectors * vector_loads + rows * row_loads) / 1.75;
      const double step = std::max({sums, loads, static_cast<double>(machine.fma_latency)});
      // starting and storing a tile costs about as much as a few steps
      const double time = step * static_cast<double>(ceil_div(num_rows, rows)) *
                          static_cast<double>(ceil_div(num_vectors, vectors));
      // of equal times the tile with the least loads per sum
      const double tie = loads / (sums + 1) * 1e-3;
      if (best_time == 0 || time * (1 + tie) < best_time) {
        best_time = time * (1 + tie);
        best.rows = rows;
        best.vectors = vectors;
      }
    }
  }
  return best;
}

}  // namespace tilewright::schedule
