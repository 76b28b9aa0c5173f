// A kernel of a GPU: its blocks run one after the other, and so do the threads of a block from one barrier to the next.
#pragma once
#include <map>

#include "tilewright/analysis/interpreter/async_copies.h"
#include "tilewright/analysis/interpreter/code.h"
#include "tilewright/analysis/interpreter/fibers.h"

namespace tilewright::analysis {

/// The axes of a kernel's blocks, or of a block's threads, with their extents; the first is the fastest.
struct Grid {
  std::vector<std::pair<std::string, int64_t>> axes;

  int64_t size() const;
  /// The value of axis `n` in block or thread `linear`.
  int64_t value(size_t n, int64_t linear) const;
  /// "threadIdx.x = 3, threadIdx.y = 0"; with bit 0 of `summed_axes`, "the sum over threadIdx.x at threadIdx.y = 0".
  std::string text(int64_t linear, uint32_t summed_axes = 0) const;
};

/// "threadIdx.x = 3": the block or thread of an access, in the grid of which two accesses part.
std::string runner_text(const Strand* access, const Grid* grid);

/// A buffer from outside of the kernel of which each thread has its own, or each warp.
struct OwnBuffer {
  size_t view, data;  // its view, and the slot of its pointer
  bool of_warp = false;
};

constexpr int64_t kWarpSize = 32;

/// What a thread waits for: other threads of its warp.
struct WarpCall {
  const Site* site = nullptr;  // null: it does not wait for them
  uint32_t mask = 0;           // the lanes that have to come here
  int64_t warp_size = kWarpSize;
  bool takes_who_comes = false;  // waits until no more can come, instead
  bool is_barrier = false;       // what was written before can be read afterwards
  std::vector<Scalar> values;    // what it brings
};

/// The threads of a warp that have met.
struct WarpMeeting {
  uint32_t lanes = 0;                       // that are here
  std::vector<std::vector<Scalar>> values;  // what each lane brought
};

/// The threads of the block that runs now.
class ThreadGroup {
 public:
  ThreadGroup(Program& program, Grid threads);

  /// Runs `body` for each thread, with a copy of `frame` that has memory of its own for `own`.
  void run(const Frame& frame, const Strand* block, const std::vector<OwnBuffer>& own,
           const std::function<void(Frame&)>& body);
  const Grid& threads() const { return threads_; }

  /// Waits until each thread waits or has ended.  With a `site`, a barrier of the program, UserError is raised there if one
  /// of them is elsewhere.
  void meet(Frame& frame, const Site* site);
  /// The memory that all threads, or with `of_warp` those of one warp, get from allocation `n`, and whether this one is the
  /// first to ask for it.
  std::pair<std::shared_ptr<Memory>, bool> shared(const Frame& frame, size_t n, bool of_warp);

  // Warps (warps.cc): consecutive threads, x first.
  AsyncCopies& copies() { return copies_; }
  /// Waits for the other threads of the warp.
  std::shared_ptr<const WarpMeeting> meet(Frame& frame, WarpCall call);
  /// True if there is a thread that is lane `lane` of the warp of `frame`.
  bool has_lane(const Frame& frame, int64_t lane, int64_t warp_size) const;
  /// "threadIdx.x = 3".
  std::string text(const Frame& frame) const { return threads_.text(static_cast<int64_t>(frame.thread)); }

  // Sums of threads (thread_sums.cc).  `axes`: bit n is axis n of the threads, over which they add.
  /// The strand under which all threads of one sum touch it until the next barrier.
  const Strand* sum_strand(const Frame& frame, uint32_t axes);
  /// The memory to which all threads of one sum add until the next barrier in place of `view`, which gets what is there
  /// then; with `is_own`, each of the threads has a view of its own, and all of them get it.
  std::shared_ptr<Memory> sum_memory(const Frame& frame, size_t view, uint32_t axes, bool is_own,
                                     const Site& where);

 private:
  bool begin_epoch(const Strand* block);
  void begin_strand(size_t thread, const Strand* parent, uint64_t run);
  void resume(size_t thread);
  bool finish_warp_calls(bool takes_who_comes);
  std::vector<size_t> threads_at(const WarpCall& call, size_t thread) const;
  bool is_complete(const WarpCall& call, size_t thread, const std::vector<size_t>& here) const;
  void finish(const WarpCall& call, const std::vector<size_t>& here);
  void require_no_warp_waits() const;
  size_t first_of_sum(size_t thread, uint32_t axes) const;
  void hand_out_sums();
  void require_all_at_one_barrier() const;

  struct Shared {
    std::shared_ptr<Memory> memory;
    std::vector<int64_t> times;  // how often each thread asked
    int64_t made = 0;
  };
  Program& program_;
  Grid threads_;
  std::vector<Frame> frames_;
  std::vector<const Site*> waiting_;                    // the barrier at which each thread waits, or null
  std::map<std::pair<size_t, size_t>, Shared> shared_;  // by allocation, and 0 or 1 + the warp
  AsyncCopies copies_;
  std::vector<WarpCall> warp_calls_;  // of each thread
  std::vector<std::shared_ptr<const WarpMeeting>> meetings_;
  struct Sum {
    size_t first, view;  // the first thread of those that add
    uint32_t axes;
    std::shared_ptr<Memory> memory, common;  // to which they add; which gets it, null if each has its own
    const Strand* strand;
    const Site* where;
    std::string at;
  };
  void hand_out(const Sum& sum);
  std::vector<Sum> sums_;                                                  // since the last barrier
  std::map<std::pair<size_t, uint32_t>, const Strand*> sum_strands_ = {};  // by first thread and axes
  Fibers fibers_;  // last: those that wait use all the others until they have ended
};

}  // namespace tilewright::analysis
