#include "tilewright/runtime/device/address_ranges.h"

#include <sys/mman.h>
#include <unistd.h>

#include <mutex>

namespace tilewright::runtime {

void* AddressRanges::add(void* object, size_t bytes, int32_t device_id) {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const size_t reserved_bytes = (bytes + page - 1) / page * page;
  void* address =
      mmap(nullptr, reserved_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (address == MAP_FAILED) return nullptr;
  std::lock_guard lock(mutex_);
  ranges_[reinterpret_cast<uintptr_t>(address)] = {object, bytes, reserved_bytes, device_id};
  return address;
}

std::optional<AddressRanges::Place> AddressRanges::find(const void* address) const {
  const auto wanted = reinterpret_cast<uintptr_t>(address);
  std::shared_lock lock(mutex_);
  auto after = ranges_.upper_bound(wanted);
  if (after == ranges_.begin()) return std::nullopt;
  const auto& [first, range] = *--after;
  if (wanted - first > range.bytes) return std::nullopt;  // an empty part may begin at the end
  return Place{range.object, wanted - first, range.bytes, range.device_id};
}

void* AddressRanges::remove(void* address) {
  std::lock_guard lock(mutex_);
  auto found = ranges_.find(reinterpret_cast<uintptr_t>(address));
  if (found == ranges_.end()) return nullptr;
  void* object = found->second.object;
  munmap(address, found->second.reserved_bytes);
  ranges_.erase(found);
  return object;
}

}  // namespace tilewright::runtime
