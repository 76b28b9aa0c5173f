// Memory that knows which of its elements were written, and by which iterations of parallel loops they were
// touched.
#pragma once
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "tilewright/analysis/interpreter/scalar.h"

namespace tilewright::analysis {

/// One iteration of a loop whose iterations may run at the same time, inside another such iteration or none.
/// Two accesses may happen together if their strands part at one run of a loop.
struct Strand {
  const Strand* parent;
  uint64_t run;       // which execution of the loop
  int64_t iteration;  // the loop variable
  int depth;
  const std::string* loop;  // name of the loop variable
};

/// Where the strands of two accesses part, or null.
struct Parting {
  const Strand *first = nullptr, *second = nullptr;
  explicit operator bool() const { return first != nullptr; }
};
Parting parting(const Strand* a, const Strand* b);

struct Memory {
  std::string name;
  char* data = nullptr;
  int64_t num_bytes = 0;
  int64_t unit = 8;  // bits that are followed together: the size of the smallest element seen in it
  bool read_only = false;
  std::vector<char> own;              // when allocated here
  std::vector<uint8_t> written;       // by unit; empty: everything is there
  std::shared_ptr<const void> keeps;  // the argument behind it

  int64_t num_units() const { return (num_bytes * 8 + unit - 1) / unit; }

  /// Fresh memory of `size` bytes, nothing written.
  void reset(int64_t size);
  /// Whether all of [begin, begin + size) bits were written.
  bool is_written(int64_t begin, int64_t size) const;
  void mark_written(int64_t begin, int64_t size, bool is_there = true);

  /// Notes an access to some bits; the conflicting earlier one, if any.  `was_write` says what that one did.
  Parting touch(int64_t begin, int64_t size, const Strand* strand, bool is_write, bool* was_write);
  void forget_touches() { touches_.clear(); }
  /// Nothing is there any more: another iteration begins, which has memory of its own.
  void forget_contents() {
    std::fill(written.begin(), written.end(), uint8_t{0});
    forget_touches();
  }

 private:
  struct Touch {
    const Strand* writer = nullptr;
    std::vector<const Strand*> readers;  // at most one that parts at each run above the last reader, and it
  };
  Parting touch_unit(Touch* touch, const Strand* strand, bool is_write, bool* was_write);
  std::vector<Touch> touches_;  // by unit; empty while no parallel loop has run
};

}  // namespace tilewright::analysis
