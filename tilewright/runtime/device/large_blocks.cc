#include "tilewright/runtime/device/large_blocks.h"

#include <pthread.h>
#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstdint>

namespace tilewright::runtime {
namespace {

// The size rounded up by at most an eighth; pages that are never touched take no memory.
size_t size_class(size_t bytes) {
  const size_t step = std::bit_floor(bytes) / 8;
  return (bytes + step - 1) / step * step;
}

// Maps a block that begins on a huge page boundary, so that the system can use huge pages: 512 times fewer
// page faults when memory is touched first.
void* map_block(size_t bytes) {
  const size_t reserved = bytes + LargeBlocks::kAlignment;
  if (reserved < bytes) return nullptr;
  void* mapped = mmap(nullptr, reserved, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  auto* begin = static_cast<char*>(mapped);
  const size_t before =
      (LargeBlocks::kAlignment - reinterpret_cast<uintptr_t>(begin) % LargeBlocks::kAlignment) %
      LargeBlocks::kAlignment;
  if (before > 0) munmap(begin, before);
  munmap(begin + before + bytes, LargeBlocks::kAlignment - before);
#ifdef MADV_HUGEPAGE
  if (bytes >= 2 * LargeBlocks::kAlignment)
    madvise(begin + before, bytes / LargeBlocks::kAlignment * LargeBlocks::kAlignment,
            MADV_HUGEPAGE);  // only a hint: small pages work as well
#endif
  return begin + before;
}

}  // namespace

LargeBlocks& LargeBlocks::of_process() {
  static auto* blocks = [] {
    // holds the lock during a fork: otherwise another thread could hold it, which does not exist in the child
    pthread_atfork([] { of_process().mutex_.lock(); }, [] { of_process().mutex_.unlock(); },
                   [] {
                     // scopes of other threads never end in the child
                     of_process().num_scopes_ = 0;
                     of_process().mutex_.unlock();
                   });
    return new LargeBlocks;
  }();
  return *blocks;
}

void LargeBlocks::drop_kept() {
  for (const Block& block : kept_) munmap(block.data, block.bytes);
  kept_.clear();
  num_kept_bytes_ = 0;
}

size_t LargeBlocks::most_kept() const { return std::max(kMostKeptBytes, most_used_bytes_ - num_used_bytes_); }

void LargeBlocks::drop_oldest() {
  while (num_kept_bytes_ > most_kept()) {
    munmap(kept_.front().data, kept_.front().bytes);
    num_kept_bytes_ -= kept_.front().bytes;
    kept_.erase(kept_.begin());
  }
}

void LargeBlocks::use(Block block) {
  used_.emplace(block.data, block.bytes);
  num_used_bytes_ += block.bytes;
  most_used_bytes_ = std::max(most_used_bytes_, num_used_bytes_);
}

void* LargeBlocks::allocate(size_t bytes) {
  const size_t size = size_class(bytes);
  std::lock_guard lock(mutex_);
  size_t best = kept_.size();
  for (size_t n = kept_.size(); n-- > 0;) {
    if (kept_[n].bytes < size || kept_[n].bytes / kMostWaste > size) continue;
    if (best == kept_.size() || kept_[n].bytes < kept_[best].bytes) best = n;
  }
  if (best < kept_.size()) {
    const Block block = kept_[best];
    use(block);
    kept_.erase(kept_.begin() + static_cast<std::ptrdiff_t>(best));
    num_kept_bytes_ -= block.bytes;
    return block.data;
  }
  void* data = map_block(size);
  if (!data && !kept_.empty()) {
    drop_kept();
    data = map_block(size);
  }
  if (!data) return nullptr;
  use({data, size});
  drop_oldest();
  kept_.reserve(kept_.size() + used_.size());  // so that release cannot fail
  return data;
}

bool LargeBlocks::release(void* data) noexcept {
  std::lock_guard lock(mutex_);
  const auto found = used_.find(data);
  if (found == used_.end()) return false;
  const Block block{data, found->second};
  used_.erase(found);
  num_used_bytes_ -= block.bytes;
  if (num_scopes_ > 0 || block.bytes > most_kept()) {
    munmap(block.data, block.bytes);
    return true;
  }
  kept_.push_back(block);
  num_kept_bytes_ += block.bytes;
  drop_oldest();
  return true;
}

LargeBlocks::NoneKept::NoneKept(LargeBlocks& blocks) : blocks_(blocks) {
  std::lock_guard lock(blocks.mutex_);
  ++blocks.num_scopes_;
  blocks.drop_kept();
}

LargeBlocks::NoneKept::~NoneKept() {
  std::lock_guard lock(blocks_.mutex_);
  if (blocks_.num_scopes_ > 0) --blocks_.num_scopes_;  // 0: the scope began before a fork
}

size_t LargeBlocks::num_kept_bytes() const {
  std::lock_guard lock(mutex_);
  return num_kept_bytes_;
}

}  // namespace tilewright::runtime
