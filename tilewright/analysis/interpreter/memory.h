// Memory that records which of its elements were written, and which iterations of parallel loops touched
// them.
#pragma once
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "tilewright/analysis/interpreter/scalar.h"

namespace tilewright::analysis {

struct Grid;

/// One iteration of a concurrent loop, nested in another such iteration or in none.  Two accesses may happen
/// at the same time if their strands part at one run of a loop.
struct Strand {
  const Strand* parent;
  uint64_t run;       // identifies one execution of the loop
  int64_t iteration;  // value of the loop variable
  int depth;
  const std::string* loop;     // name of the loop variable; null for blocks and threads of a kernel
  const Grid* grid = nullptr;  // their axes
  // bit n: not one thread, but all that differ from thread `iteration` only in axis n, which add to one sum
  uint32_t summed_axes = 0;
};

/// The strands of two accesses at the level where they part, or null.
struct Parting {
  const Strand *first = nullptr, *second = nullptr;
  const Strand *first_access = nullptr, *second_access = nullptr;  // the strands themselves
  explicit operator bool() const { return first != nullptr; }
};
Parting parting(const Strand* a, const Strand* b);

struct Memory {
  std::string name;
  char* data = nullptr;
  int64_t num_bytes = 0;
  int64_t unit = 8;  // bits that are tracked together: the size of the smallest element seen in it
  bool read_only = false;
  std::vector<char> own;         // the memory if it was allocated here
  std::vector<uint8_t> written;  // one flag per unit; empty: everything was written
  std::vector<uint8_t> changed;  // one flag per unit: it was written; empty: that is not recorded
  std::vector<uint8_t> pending;  // one flag per unit: an asynchronous copy to it has not ended; empty: none
  std::shared_ptr<const void> keeps;  // keeps the argument's memory alive

  int64_t num_units() const { return (num_bytes * 8 + unit - 1) / unit; }

  /// Allocates `size` bytes, nothing written.
  void reset(int64_t size);
  /// Memory of the same size and name, nothing written.
  std::shared_ptr<Memory> empty_copy() const;
  /// Takes over what `other`, of the same size, holds.
  void take_contents(const Memory& other);
  /// True if all of the bits [begin, begin + size) were written.
  bool is_written(int64_t begin, int64_t size) const;
  void mark_written(int64_t begin, int64_t size, bool is_there = true);
  /// True if an asynchronous copy to some of the bits has not ended.
  bool is_pending(int64_t begin, int64_t size) const;
  void mark_pending(int64_t begin, int64_t size, bool is_running);

  /// Records an access to some bits; returns the conflicting earlier access, if any.  `was_write` tells
  /// whether that one was a write.
  Parting touch(int64_t begin, int64_t size, const Strand* strand, bool is_write, bool* was_write);
  void forget_touches() { touches_.clear(); }
  /// Marks everything as not written: another iteration begins, with memory of its own.
  void forget_contents() {
    std::fill(written.begin(), written.end(), uint8_t{0});
    pending.clear();
    forget_touches();
  }

 private:
  struct Touch {
    const Strand* writer = nullptr;
    // at most one that parts at each run above the last reader, and the last reader
    std::vector<const Strand*> readers;
  };
  Parting touch_unit(Touch* touch, const Strand* strand, bool is_write, bool* was_write);
  std::vector<Touch> touches_;  // one per unit; empty until a parallel loop runs
};

}  // namespace tilewright::analysis
