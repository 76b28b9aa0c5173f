// Memory for large tensors, straight from the system.  Blocks that are given back are kept for a while: a
// model whose results are dropped after each call gets the same memory again, in place and near the core,
// where malloc would hand out cold pages or have the system clear new ones.
#pragma once
#include <cstddef>
#include <map>
#include <mutex>
#include <vector>

namespace tilewright::runtime {

class LargeBlocks {
 public:
  /// Smaller ones are malloc's.
  static constexpr size_t kLeastBytes = size_t{1} << 20;
  /// Each begins at a multiple of it.
  static constexpr size_t kAlignment = size_t{2} << 20;
  /// Of all blocks that wait for their next use.
  static constexpr size_t kMostKeptBytes = size_t{64} << 20;

  /// The blocks of this process: one, as malloc is one.  They outlive all threads and static objects, and a
  /// child that a process forks while threads use them may use them, too.
  static LargeBlocks& of_process();

  /// At least `bytes` >= kLeastBytes; null if the system has no such amount, even after it got back what is
  /// kept.  The last one given back of the same size class comes first.
  void* allocate(size_t bytes);
  /// Takes back what allocate gave; false for any other address.
  bool release(void* data) noexcept;
  /// The bytes that wait for their next use.
  size_t num_kept_bytes() const;

  /// While one lives, what is given back goes to the system, together with what was kept: for work that
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
  void drop_kept();  // the caller has the lock

  mutable std::mutex mutex_;  // of what follows
  std::map<void*, size_t> used_;
  std::vector<Block> kept_;  // the latest last
  size_t num_kept_bytes_ = 0;
  int num_scopes_ = 0;  // that let none be kept
};

}  // namespace tilewright::runtime
