#include "tilewright/emulation/device_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>

namespace tilewright::emulation {
namespace {

constexpr size_t kReservedBytes = size_t{64} << 30;
constexpr size_t kAlignment = 512;
constexpr size_t kGuardBytes = 256;
constexpr unsigned char kGuard = 0xEE;
constexpr unsigned char kUnset = 0xFF;  // NaN in each format of floats

size_t round_up(size_t bytes, size_t to) { return (bytes + to - 1) / to * to; }

}  // namespace

bool DeviceMemory::reserve() {
  if (base_) return true;
  void* base = mmap(nullptr, kReservedBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base != MAP_FAILED) base_ = static_cast<char*>(base);
  return base_ != nullptr;
}

void DeviceMemory::protect(int protection) const {
  if (high_bytes_ > 0) mprotect(base_, round_up(high_bytes_, 4096), protection);
}

void* DeviceMemory::allocate(size_t bytes) {
  if (bytes > kTotalBytes || used_bytes_ + bytes > kTotalBytes || !reserve()) return nullptr;
  const size_t reserved_bytes = round_up(bytes + kGuardBytes, kAlignment);
  size_t offset = 0;  // of the first gap that is large enough
  for (const auto& [begin, block] : blocks_) {
    if (begin - offset >= reserved_bytes) break;
    offset = begin + block.reserved_bytes;
  }
  if (offset + reserved_bytes > kReservedBytes) return nullptr;
  blocks_[offset] = {bytes, reserved_bytes};
  used_bytes_ += bytes;
  high_bytes_ = std::max(high_bytes_, offset + reserved_bytes);
  if (num_accesses_ > 0) protect(PROT_READ | PROT_WRITE);
  const Access access(*this);
  std::memset(base_ + offset, kUnset, bytes);
  std::memset(base_ + offset + bytes, kGuard, reserved_bytes - bytes);
  return base_ + offset;
}

bool DeviceMemory::release(void* data) {
  auto found = base_ ? blocks_.find(static_cast<size_t>(static_cast<char*>(data) - base_)) : blocks_.end();
  if (found == blocks_.end()) return false;
  {
    const Access access(*this);
    std::memset(data, kUnset, found->second.bytes);
  }
  constexpr size_t kPage = 4096;
  const size_t begin = round_up(found->first, kPage),
               end = (found->first + found->second.bytes) / kPage * kPage;
  if (end > begin) madvise(base_ + begin, end - begin, MADV_DONTNEED);
  used_bytes_ -= found->second.bytes;
  blocks_.erase(found);
  return true;
}

bool DeviceMemory::contains(const void* data, size_t bytes) const {
  const auto* first = static_cast<const char*>(data);
  if (!base_ || first < base_ || first >= base_ + high_bytes_) return false;
  const auto offset = static_cast<size_t>(first - base_);
  auto after = blocks_.upper_bound(offset);
  if (after == blocks_.begin()) return false;
  const auto& [begin, block] = *--after;
  return offset - begin <= block.bytes && bytes <= block.bytes - (offset - begin);
}

bool DeviceMemory::is_sound() const {
  return std::all_of(blocks_.begin(), blocks_.end(), [this](const auto& entry) {
    const auto& [begin, block] = entry;
    const auto* guard = reinterpret_cast<const unsigned char*>(base_ + begin + block.bytes);
    return std::all_of(guard, guard + (block.reserved_bytes - block.bytes),
                       [](unsigned char byte) { return byte == kGuard; });
  });
}

DeviceMemory::Access::Access(DeviceMemory& memory) : memory_(memory) {
  if (memory_.num_accesses_++ == 0) memory_.protect(PROT_READ | PROT_WRITE);
}

DeviceMemory::Access::~Access() {
  if (--memory_.num_accesses_ == 0) memory_.protect(PROT_NONE);
}

}  // namespace tilewright::emulation
