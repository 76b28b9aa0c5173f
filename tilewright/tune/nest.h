// The loops, stores and indices of a scheduled program as flat arrays, which features and cost models read.
// Works on TIR with blocks, before lowering.  Everything is an upper bound: conditions are taken to hold, both
// branches run, an open extent counts as a likely one, and an index that is no sum of loops spans its dimension.
#pragma once
#include <string>
#include <vector>

#include "tilewright/ir/module.h"
#include "tilewright/tir/tir.h"

namespace tilewright::tune {

/// coef * t, where t takes `extent` values, 0, 1, ..., while `loop` runs: of `4 * (i // 8)` coef 4 and an eighth
/// of the extent of i.
struct Term {
  int32_t loop = 0;
  double coef = 0, extent = 1;
  int64_t divisor = 1;
  friend bool operator==(const Term&, const Term&) = default;
};

/// base + the sum of its terms.
struct Index {
  double base = 0;
  std::vector<Term> terms;
  bool is_known = true;  // false: it may be anywhere in its dimension as its terms' loops run

  /// How far it moves while all of its loops run.
  double span() const;
  bool depends_on(int32_t loop) const;
};

struct NestLoop {
  int32_t parent = -1;  // the place of the loop around it; -1: none
  int32_t depth = 0;    // how many loops are around it
  tir::ForKind kind = tir::ForKind::kSerial;
  double extent = 1;
  bool stays = false;     // code generators do not write it out
  std::string axis = {};  // of threads of a GPU: "blockIdx.x", ...
};

struct NestBuffer {
  double element_bytes = 4;
  std::vector<double> extents, strides;  // in elements; of a local one of what is kept
  bool is_local = false;                 // it lives during an iteration of `home`
  int32_t home = -1;                     // the innermost loop around all of its accesses; -1: none
  std::string scope = {};                // of memory, as buffers name it
};

/// Loads and stores of one buffer at indices that differ by constants at most.
struct Access {
  int32_t buffer = 0;
  int32_t loads = 0, stores = 0;
  std::vector<Index> indices;
  std::vector<double> spread;  // of their constants in each dimension
  bool depends_on(int32_t loop) const;
};

/// Operations on elements, by what they cost; a vector counts its lanes.
struct Operations {
  double float_add = 0, float_mul = 0, float_fma = 0, float_div = 0, float_other = 0, math = 0;
  double int_add = 0, int_mul = 0, int_div = 0, dots = 0, casts = 0, choices = 0;
  /// All of them; a multiply-add counts as two, a dot product as eight.
  double total() const;
};

/// A store with what it computes.
struct NestStore {
  int32_t loop = -1;  // the innermost loop around it; -1: none
  double share = 1;   // of the iterations in which it runs
  bool is_guarded = false;
  double element_bytes = 4;
  Operations operations;
  std::vector<Access> accesses;  // the first has the store
};

struct Nest {
  std::vector<NestLoop> loops;  // outer ones first
  std::vector<NestBuffer> buffers;
  std::vector<NestStore> stores;
  bool has_vectors = false;  // else code generators vectorize loops

  /// The loops around the store, the innermost first.
  std::vector<int32_t> chain_of(const NestStore& store) const;
};

/// The nest of all loop programs of `module`, one after the other.
Nest nest_of(const ir::IRModule& module);

}  // namespace tilewright::tune
