// Memory for large tensors, directly from the system.  Freed blocks are kept for a while: a model whose
// results are dropped after each call gets the same, still cached memory again, where malloc would return
// cold pages or have the system clear new ones.
#pragma once
#include <cstddef>
#include <map>
#include <mutex>
#include <vector>

namespace tilewright::runtime {

class LargeBlocks {
 public:
  /// malloc serves smaller sizes.
  static constexpr size_t kLeastBytes = size_t{1} << 20;
  /// A kept block that is larger by more than this waits for a larger tensor.
  static constexpr size_t kMostWaste = 4;
  /// The alignment of each block.
  static constexpr size_t kAlignment = size_t{2} << 20;
  /// The limit on the bytes of all blocks that are kept for reuse; more are kept as long as they and blocks in
  /// use are no more than were in use at some time.
  static constexpr size_t kMostKeptBytes = size_t{64} << 20;

  /// The blocks of this process.  The object outlives all threads and static objects, and stays usable in a
  /// child process forked while threads use it.
  static LargeBlocks& of_process();

  /// Returns at least `bytes` >= kLeastBytes; null if the system lacks the memory even after it got all kept
  /// blocks back.  Takes the smallest kept block that has at most kMostWaste times the bytes; of several the one
  /// that was released last.
  void* allocate(size_t bytes);
  /// Takes back a block that allocate returned; returns false for any other address.
  bool release(void* data) noexcept;
  /// The bytes that are kept for reuse.
  size_t num_kept_bytes() const;

  /// While one exists, released blocks go back to the system, together with those kept before: for work that
  /// replaces blocks by others.
  class NoneKept {
   public:
    explicit NoneKept(LargeBlocks& blocks);
    ~NoneKept();
    NoneKept(const NoneKept&) = delete;
    NoneKept& operator=(const NoneKept&) = delete;

   private:
    LargeBlocks& blocks_;
  };

 private:
  struct Block {
    void* data;
    size_t bytes;
  };
  // the caller holds the lock
  void drop_kept();
  void drop_oldest();
  size_t most_kept() const;
  void use(Block block);

  mutable std::mutex mutex_;  // guards the members below
  std::map<void*, size_t> used_;
  std::vector<Block> kept_;  // in order of release, the latest last
  size_t num_kept_bytes_ = 0, num_used_bytes_ = 0, most_used_bytes_ = 0;
  int num_scopes_ = 0;  // number of NoneKept objects
};

}  // namespace tilewright::runtime
