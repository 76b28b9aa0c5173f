// The memory of the emulated GPU: the host cannot read or write it but while a copy or a kernel runs, new memory is
// full of NaN, and what a kernel writes behind the end of a block is found.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>

namespace tilewright::emulation {

class DeviceMemory {
 public:
  static constexpr size_t kTotalBytes = size_t{16} << 30;

  /// `bytes` > 0 bytes; null if that is more than is left. Opens the memory for itself.
  void* allocate(size_t bytes);
  /// False if no block begins there.
  bool release(void* data);
  /// Whether the range lies in one block.
  bool contains(const void* data, size_t bytes) const;
  /// Whether all bytes behind blocks are as allocate() left them; the memory must be open.
  bool is_sound() const;
  size_t used_bytes() const { return used_bytes_; }

  /// Lets the host and kernels access the memory while it exists; may be nested.
  class Access {
   public:
    explicit Access(DeviceMemory& memory);
    ~Access();
    Access(const Access&) = delete;
    Access& operator=(const Access&) = delete;

   private:
    DeviceMemory& memory_;
  };

 private:
  struct Block {
    size_t bytes, reserved_bytes;
  };
  bool reserve();
  void protect(int protection) const;

  char* base_ = nullptr;
  size_t high_bytes_ = 0;  // from base_ on, what a block has been in
  size_t used_bytes_ = 0;
  int num_accesses_ = 0;
  std::map<size_t, Block> blocks_;  // by offset
};

}  // namespace tilewright::emulation
