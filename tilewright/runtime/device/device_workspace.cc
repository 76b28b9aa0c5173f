#include "tilewright/runtime/device/device_workspace.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <tuple>
#include <vector>

#include "tilewright/support/error.h"

namespace tilewright::runtime {
namespace {

struct Block {
  void* data = nullptr;
  int64_t bytes = 0;
};
using Place = std::tuple<int32_t, int32_t, int64_t>;  // device type, id, slot

/// Blocks that no thread has.  They are kept: at the end of the process drivers may be gone.
class IdleBlocks {
 public:
  static IdleBlocks& get() {
    static auto* blocks = new IdleBlocks;
    return *blocks;
  }
  Block take(Device device, int64_t bytes) {
    {
      const std::lock_guard lock(mutex_);
      std::vector<Block>& all = idle_[{device.type, device.id}];
      const auto found =
          std::find_if(all.begin(), all.end(), [&](const Block& block) { return block.bytes >= bytes; });
      if (found != all.end()) {
        const Block block = *found;
        all.erase(found);
        return block;
      }
    }
    return {device_interface(device).allocate(device.id, static_cast<size_t>(bytes)), bytes};
  }
  void give(int32_t type, int32_t id, const Block& block) {
    if (!block.data) return;
    const std::lock_guard lock(mutex_);
    idle_[{type, id}].push_back(block);
  }

 private:
  std::mutex mutex_;
  std::map<std::pair<int32_t, int32_t>, std::vector<Block>> idle_;
};

/// The blocks of one thread.
class ThreadBlocks {
 public:
  ~ThreadBlocks() {
    for (const auto& [place, block] : blocks_)
      IdleBlocks::get().give(std::get<0>(place), std::get<1>(place), block);
  }
  void* at(Device device, int64_t slot, int64_t bytes) {
    Block& block = blocks_[{device.type, device.id, slot}];
    if (block.bytes >= bytes && block.data) return block.data;
    IdleBlocks::get().give(device.type, device.id, block);
    block = {};
    block = IdleBlocks::get().take(device, bytes);
    return block.data;
  }

 private:
  std::map<Place, Block> blocks_;
};

}  // namespace

void* device_workspace(Device device, int64_t slot, int64_t bytes) {
  if (bytes < 0) throw UserError("a kernel asks for {} bytes of memory on {}", bytes, device.str());
  thread_local ThreadBlocks blocks;
  return blocks.at(device, slot, std::max<int64_t>(bytes, 1));
}

}  // namespace tilewright::runtime
