#include "tilewright/schedule/default/cpu/register_tile.h"

#include <algorithm>

#include "tilewright/target/costs.h"

namespace tilewright::schedule {
namespace {

using target::kTileCosts;

int64_t ceil_div(int64_t a, int64_t b) { return (a - 1) / b + 1; }

double loads_time(int64_t rows, int64_t vectors, const TileLoads& loads, const Features& features) {
  const double more_lines = static_cast<double>(features.vector_bytes) /
                            static_cast<double>(features.line_bytes);  // of a misaligned one
  const double of_vectors = static_cast<double>(loads.vectors + (rows - 1) * loads.own_vectors) +
                            static_cast<double>(loads.misaligned) * more_lines;
  return (static_cast<double>(vectors) * of_vectors + static_cast<double>(rows * loads.rows)) /
         (kTileCosts.load_share * features.rates.loads_per_cycle);
}

// Conversions start beside multiply-adds, but every second one where a multiply-add could.
double sums_time(int64_t rows, int64_t vectors, const TileLoads& loads, const Features& features) {
  const double conversions = static_cast<double>(vectors * loads.conversions) / 2;
  return (static_cast<double>(rows * vectors) + conversions) / features.rates.fma_per_cycle;
}

// True if the panel of a tile is more than L1 keeps beside rows and sums.
bool passes_by(int64_t vectors, const TileLoads& loads, const Features& features) {
  const int64_t row_bytes = vectors * loads.vectors * features.vector_bytes;
  return loads.steps > features.l1_bytes / 2 / std::max<int64_t>(1, row_bytes);
}

// The part of the time of one step's loads that arithmetic does not hide, in cycles.
double waiting_time(int64_t rows, int64_t vectors, const TileLoads& loads, const Features& features) {
  constexpr int64_t kLeastVectors =
      2;  // a one-vector tile must not look cheap only because its panel is narrow
  const int64_t num_vectors = vectors * loads.vectors;
  const double time = static_cast<double>(num_vectors * features.vector_bytes) /
                      static_cast<double>(features.l2_bytes_per_cycle),
               far_time = loads.is_far ? kTileCosts.far_share * time : 0;
  if (!passes_by(std::max(kLeastVectors, vectors), loads, features)) return far_time;
  // each vector is also fetched ahead
  return std::max(far_time, kTileCosts.near_share * time) +
         kTileCosts.load_cycles * static_cast<double>(2 * num_vectors + rows * loads.rows);
}

// Time until all instructions of one step have started: multiply-adds, loads, and those of the loop.
double issue_time(int64_t rows, int64_t vectors, const TileLoads& loads, const Features& features) {
  constexpr int64_t kLoopInstructions = 2;  // a step, and a comparison with its jump
  const int64_t count = rows * vectors * features.rates.fma_instructions +
                        vectors * (loads.vectors + (rows - 1) * loads.own_vectors) +
                        vectors * loads.conversions + rows * loads.rows + kLoopInstructions;
  return static_cast<double>(count) / static_cast<double>(features.rates.issue_width);
}

// The time of the pieces of far rows that one step of the first tile of rows reads.
double pieces_time(int64_t vectors, const TileLoads& loads, const Features& features) {
  const double piece =
      static_cast<double>(vectors * features.vector_bytes) / static_cast<double>(features.l2_bytes_per_cycle);
  return static_cast<double>(loads.far_pieces) * (kTileCosts.piece_cycles + piece);
}

// One step of one tile; none of an edge that is not there.
double step_time(int64_t rows, int64_t vectors, const TileLoads& loads, const Features& features) {
  if (rows == 0 || vectors == 0) return 0;
  return std::max({sums_time(rows, vectors, loads, features), loads_time(rows, vectors, loads, features),
                   issue_time(rows, vectors, loads, features),
                   static_cast<double>(features.rates.fma_latency)}) +
         waiting_time(rows, vectors, loads, features);
}

// One step of all tiles.
double all_time(int64_t num_rows, int64_t num_vectors, int64_t rows, int64_t vectors, const TileLoads& loads,
                const Features& features) {
  const double step = step_time(rows, vectors, loads, features);
  const auto num_across = static_cast<double>(ceil_div(num_vectors, vectors));
  // beside the arithmetic of the first tile of rows; others find the pieces near
  const double waiting = num_across * std::max(0.0, pieces_time(vectors, loads, features) - step);
  if (!loads.is_far) return waiting + step * static_cast<double>(ceil_div(num_rows, rows)) * num_across;
  const int64_t last_rows = num_rows % rows, last_vectors = num_vectors % vectors;
  const auto down = static_cast<double>(num_rows / rows), across = static_cast<double>(num_vectors / vectors);
  return waiting + down * across * step + across * step_time(last_rows, vectors, loads, features) +
         down * step_time(rows, last_vectors, loads, features) +
         step_time(last_rows, last_vectors, loads, features);
}

}  // namespace

RegisterTile choose_register_tile(int64_t num_rows, int64_t num_columns, int64_t element_bytes,
                                  const TileLoads& loads, const Features& features, bool is_whole,
                                  int64_t row_step) {
  RegisterTile best;
  best.rows = row_step;
  best.lanes = std::max<int64_t>(1, features.vector_bytes / element_bytes);
  while (best.lanes > 1 && best.lanes / 2 >= num_columns) best.lanes /= 2;
  const int64_t num_vectors = ceil_div(num_columns, best.lanes);
  double best_time = 0;
  for (int64_t vectors = 1; vectors <= std::min<int64_t>(num_vectors, 8); ++vectors) {
    if ((is_whole && num_vectors % vectors != 0) || vectors < std::min(loads.least_vectors, num_vectors))
      continue;
    for (int64_t rows = row_step; rows <= std::min<int64_t>(num_rows, 16); rows += row_step) {
      // sums, the vectors of steps that are taken together, and one scalar spread over a vector, or two with
      // lanes
      const int64_t steps = std::max(loads.window, features.steps_in_registers);
      const int64_t registers = rows * vectors + vectors * loads.vectors * steps +
                                std::min<int64_t>(2, features.steps_in_registers);
      if (registers > features.num_vector_registers && rows * vectors > row_step) continue;
      TileLoads own = loads;
      if (rows >= num_rows) own.is_far = false;
      if (rows >= num_rows && !loads.is_read_again) own.steps = 1;
      if (vectors >= num_vectors) own.far_pieces = 0;
      if (rows > std::max(row_step, own.kept_rows) && passes_by(vectors, own, features)) continue;
      // starting and storing a tile costs about as much as a few steps
      const double time = all_time(num_rows, num_vectors, rows, vectors, own, features);
      // of equal times a tile without a smaller one at the edge, which is a second body and a branch to it;
      // then the tile with the fewest instructions for each multiply-add
      const bool has_edge = num_rows % rows != 0 || num_vectors % vectors != 0;
      const double tie =
          issue_time(rows, vectors, loads, features) / sums_time(rows, vectors, loads, features) * 1e-3 +
          (has_edge ? 2e-3 : 0);
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
