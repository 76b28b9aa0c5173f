#include "tilewright/runtime/workspace.h"

#include <memory>
#include <vector>

#include "tilewright/runtime/device.h"
#include "tilewright/runtime/device/cpu.h"
#include "tilewright/runtime/error_state.h"
#include "tilewright/support/error.h"

namespace tilewright::runtime {
namespace {

struct FreeCpu {
  void operator()(void* data) const { kCpuDevice.free(0, data); }
};

// Blocks below num_used_ are lent, in order of allocation; the others are free.  A kernel allocates the same
// sizes in every call, so each depth of the stack soon has a block that fits.
class Workspace {
 public:
  void* alloc(uint64_t bytes, uint64_t alignment) {
    constexpr uint64_t kMaxBytes = uint64_t{1} << 62;
    if (alignment > 4096 || (alignment & (alignment - 1)) != 0)
      throw InternalError("workspace of {} bytes aligned to {}", bytes, alignment);
    // the program computes the extents from the sizes of a call
    if (bytes > kMaxBytes)
      throw UserError(
          "cannot allocate a buffer of {} bytes: an extent is negative, or the product of all is too large",
          static_cast<int64_t>(bytes))
          .help("guard the allocation with T.max(extent, 0), or call with other values");
    const uint64_t needed = bytes + (alignment > kTensorAlignment ? alignment : 0);
    if (num_used_ == blocks_.size()) blocks_.emplace_back();
    Block& block = blocks_[num_used_];
    if (block.bytes < needed || !block.data) {
      block.data.reset();
      total_ -= block.bytes;
      block.bytes = 0;
      block.data.reset(kCpuDevice.allocate(0, needed ? needed : 1));
      block.bytes = needed;
      total_ += needed;
    }
    ++num_used_;
    const uint64_t align = alignment > kTensorAlignment ? alignment : kTensorAlignment;
    block.lent =
        reinterpret_cast<void*>((reinterpret_cast<uintptr_t>(block.data.get()) + align - 1) / align * align);
    return block.lent;
  }

  void free(void* pointer) {
    // the block lent last, by contract; a kernel that frees in another order only keeps more memory
    for (size_t n = num_used_; n-- > 0;) {
      if (blocks_[n].lent != pointer) continue;
      blocks_[n].lent = nullptr;
      break;
    }
    while (num_used_ > 0 && !blocks_[num_used_ - 1].lent) --num_used_;
    if (num_used_ == 0 && total_ > kKeptBytes) {
      blocks_.clear();
      total_ = 0;
    }
  }

 private:
  static constexpr uint64_t kKeptBytes = uint64_t{256} << 20;
  struct Block {
    std::unique_ptr<void, FreeCpu> data;
    uint64_t bytes = 0;
    void* lent = nullptr;
  };
  std::vector<Block> blocks_;
  size_t num_used_ = 0;
  uint64_t total_ = 0;
};

thread_local Workspace workspace;  // per thread by contract, so that no lock is needed

}  // namespace

void* workspace_alloc(uint64_t bytes, uint64_t alignment) noexcept {
  try {
    return workspace.alloc(bytes, alignment);
  } catch (...) {
    set_current_error(std::current_exception());
    return nullptr;
  }
}

void workspace_free(void* pointer) noexcept {
  if (pointer) workspace.free(pointer);
}

}  // namespace tilewright::runtime
