// The numbers of estimates for GPUs that no manual gives, each with what it is good for.
#pragma once
#include <cstdint>

namespace tilewright::target {

struct GpuCosts {
  // Threads of a block whose threads work apart: enough warps to hide waiting, few enough that the last blocks of a
  // grid leave no multiprocessor idle for long.
  int64_t block_threads = 256;
  // Terms that a thread adds by itself before threads share a sum: below, combining costs more than it gains.
  int64_t terms_per_thread = 4;
  // Warps of each multiprocessor that keep memory busy: where there are more results, a thread has one each.
  int64_t warps_per_sm = 8;
  // Rows of a product of matrices below which threads along its sum, not tiles, keep memory busy.
  int64_t least_tile_rows = 8;
  // Warps of a multiprocessor that hide the latency of multiply-adds: two for each of its four schedulers.
  int64_t busy_warps = 8;
  // The part of the shorter of two kinds of work that does not run at the same time as the longest.
  double not_hidden = 0.25;
  // Registers of a thread besides its tile: addresses, loop variables, what is on its way from memory.
  int64_t other_registers = 40;
  // Sectors of memory that a row of a tile of an operand takes, so that it is read whole.
  int64_t sectors_of_row = 2;
  // A barrier, as instructions of each warp: they wait for the last one.
  double barrier_instructions = 20;
  // A division, or a call of exp and the like, as instructions.
  double slow_instructions = 8;
};
inline constexpr GpuCosts kGpuCosts{};

}  // namespace tilewright::target
