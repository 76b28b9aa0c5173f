// What the zero-tuning rules know of a processor.
#pragma once
#include <cstdint>

namespace tilewright::schedule {

/// Instructions that add the products of groups of 32 bits, by what they multiply.
struct DotInstructions {
  bool mixed_bytes = false;  // uint8 and int8
  bool signed_bytes = false, unsigned_bytes = false, bfloats = false;
  bool byte_tiles = false, bfloat_tiles = false;  // that multiply tile registers (AMX)
};

struct Machine {
  int64_t vector_bytes = 16;                          // of one vector register
  int64_t num_vector_registers = 16;                  // that code may name
  int64_t fma_per_cycle = 2;                          // vector multiply-adds that start in one cycle
  int64_t fma_latency = 4;                            // cycles until the sum of one can be used by the next
  int64_t l1_bytes = 32 << 10, l2_bytes = 512 << 10;  // data caches of one core
  DotInstructions dots = {};
  bool can_shuffle = true;  // code that permutes the lanes of vectors is compiled to instructions that do so
  bool has_masks = true;    // loads and stores of some lanes of a vector are instructions
  bool fetches_writes = true;  // stores gain if their lines are fetched before (kPrefetchWrites)
  int64_t num_cores = 1;       // threads that a parallel loop may use
};

}  // namespace tilewright::schedule
