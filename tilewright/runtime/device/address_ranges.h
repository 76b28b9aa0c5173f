// Addresses for memory that has none on the host: ranges that nobody may read or write, each of which stands for
// an object of a driver. An address within one tells object and offset, so that tensors on such a device have
// pointers, and parts of them too.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <shared_mutex>

namespace tilewright::runtime {

class AddressRanges {
 public:
  struct Place {
    void* object;
    size_t offset, bytes;  // of the address in the object; of the whole object
    int32_t device_id;
  };
  /// The first address of a range of `bytes` > 0 bytes for `object`; null if the system has no addresses left.
  /// A process that reads or writes there gets a segmentation fault.
  void* add(void* object, size_t bytes, int32_t device_id);
  /// The object in whose range `address` is, if there is one.
  std::optional<Place> find(const void* address) const;
  /// Gives the range that begins at `address` back, and returns its object; null if there is none.
  void* remove(void* address);

 private:
  struct Range {
    void* object;
    size_t bytes, reserved_bytes;
    int32_t device_id;
  };
  mutable std::shared_mutex mutex_;
  std::map<uintptr_t, Range> ranges_;  // by first address
};

}  // namespace tilewright::runtime
