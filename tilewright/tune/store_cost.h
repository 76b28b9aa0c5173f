// What the loops around a store cost on a machine, in cycles: the parts of the analytic cost model.
//
// The instructions of the innermost iteration limit by the units that they need, by those that start in a
// cycle, and by sums that wait for each other; traffic limits by the bandwidth of each cache (the roofline
// model, level by level: Ilic, Pratas, Sousa, "Cache-aware Roofline model", 2014).
#pragma once
#include <vector>

#include "tilewright/tune/footprint.h"

namespace tilewright::tune {

/// What the innermost loops make of a store: copies of unrolled loops, vectors of vectorized ones.
struct Body {
  double lanes = 1;            // of vectorized loops
  double copies = 1;           // of unrolled loops
  size_t num_loops = 0;        // how many of the innermost loops are written out or vectorized
  size_t scheduled_loops = 0;  // of these, by the schedule; the others by the code generator
  double iterations = 1;       // how often it runs
  double trips = 1;            // of the loop around it
  double vector_use = 1;       // share of the lanes of the registers in use that hold values
  double accumulators = 0;     // vectors that stay in registers while the loop around it runs
  double operands = 0;         // vectors that stay in registers while the body runs
  double spills = 0;           // vectors for which there are no registers
};

/// The loads or stores of an access.
struct Moves {
  double stride = 0;                         // between lanes, in elements; 0: all lanes have the same
  double vectors = 0;                        // registers that the body fills or writes
  double load_cycles = 0, store_cycles = 0;  // of the units, in one iteration
  double instructions = 0;                   // in one iteration
  double kept = 1;                           // iterations in which the same values stay in registers
};

/// Cycles of all iterations, on one core, as if nothing else limited.
struct StoreCost {
  Body body;
  std::vector<Moves> moves;  // of each access
  double arithmetic = 0, loads = 0, stores = 0, issue = 0, latency = 0;
  double entries = 0;                 // entering and leaving loops
  double l2 = 0, l3 = 0, memory = 0;  // what comes from there
  double instructions = 0;            // of the body
  double compute() const;
  /// All of it: the largest, and what overlaps only in part.
  double cycles() const;
};

StoreCost cost_of(const Nest& nest, const Footprints& footprints, size_t store,
                  const target::Features& features);

/// The cycles of the whole program: loops over threads share what is in them.
struct ProgramCost {
  std::vector<StoreCost> stores;
  std::vector<double> cycles;  // of each store, by all threads
  double threads_cycles = 0;   // of starting threads
  double parallel_extent = 1;  // of the largest loop over threads
  double total() const;
  double seconds() const;
};

ProgramCost cost_of(const Nest& nest, const Footprints& footprints, const target::Features& features);

}  // namespace tilewright::tune
