// How much memory the loops of a program touch, and what comes from each level of caches.
//
// Each dimension of an access spans an interval while some of the loops around it run; their product is its
// footprint.  A cache keeps what one iteration of a loop touches if all of it fits: then the loop brings each
// line once, and the loops around it bring them again.
#pragma once
#include <vector>

#include "tilewright/target/features.h"
#include "tilewright/tune/nest.h"

namespace tilewright::tune {

/// What an access touches while some of the innermost loops run.
struct Box {
  double elements = 1;  // different ones
  double pieces = 1;    // runs of neighbours
  double lines = 1;     // of the cache
  double crowded = 1;   // lines that L1 would need to keep them: more than `lines` where many share a set
};

/// The footprints of an access.
struct Footprint {
  std::vector<Box> boxes;  // [n]: while the n innermost loops run
};

class Footprints {
 public:
  Footprints(const Nest& nest, const target::Features& features);

  const Footprint& of(size_t store, size_t access) const { return footprints_[first_[store] + access]; }
  /// The bytes that one iteration of `loop` touches; -1: the whole program.
  double bytes_inside(int32_t loop) const { return inside_[static_cast<size_t>(loop + 1)].bytes; }

  struct Traffic {
    double lines = 0, pieces = 0;
  };
  /// What comes from beyond a cache of `num_bytes` in all iterations; nothing if it keeps the whole program.
  ///
  /// is_l1  its sets count
  Traffic traffic(size_t store, size_t access, double num_bytes, bool is_l1) const;

 private:
  struct Inside {
    double bytes = 0, crowded_bytes = 0;
  };
  void add(const NestStore& store);
  void add_up();

  const Nest& nest_;
  const target::Features& features_;
  std::vector<size_t> first_;  // footprint of the first access of each store
  std::vector<Footprint> footprints_;
  std::vector<std::vector<int32_t>> chains_;
  std::vector<Inside> inside_;  // of each loop, after the whole program
};

}  // namespace tilewright::tune
