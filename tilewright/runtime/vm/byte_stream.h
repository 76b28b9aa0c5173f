// Writes and reads numbers and strings as little-endian bytes.  The reader does not trust its input: reading
// past the end raises.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tilewright/support/error.h"

namespace tilewright::runtime::vm {

class ByteWriter {
 public:
  template <class Int>
  void number(Int value) {
    for (size_t n = 0; n < sizeof(Int); ++n)
      bytes.push_back(static_cast<std::byte>(static_cast<uint64_t>(value) >> (8 * n) & 0xFF));
  }
  void text(std::string_view text) {
    number(static_cast<uint32_t>(text.size()));
    raw(text.data(), text.size());
  }
  void raw(const void* data, size_t size) {
    const auto* begin = static_cast<const std::byte*>(data);
    bytes.insert(bytes.end(), begin, begin + size);
  }
  void align(size_t alignment) { bytes.resize((bytes.size() + alignment - 1) / alignment * alignment); }

  std::vector<std::byte> bytes;
};

class ByteReader {
 public:
  ByteReader(std::span<const std::byte> bytes, const std::string& name) : bytes_(bytes), name_(name) {}

  template <class Int>
  Int number() {
    uint64_t value = 0;
    const std::span<const std::byte> read = raw(sizeof(Int));
    for (size_t n = 0; n < sizeof(Int); ++n) value |= std::to_integer<uint64_t>(read[n]) << (8 * n);
    return static_cast<Int>(value);
  }
  std::string text() {
    const std::span<const std::byte> read = raw(number<uint32_t>());
    return std::string(reinterpret_cast<const char*>(read.data()), read.size());
  }
  std::span<const std::byte> raw(size_t size) {
    if (size > bytes_.size() - position_) throw UserError("{} is damaged: it ends too early", name_);
    position_ += size;
    return bytes_.subspan(position_ - size, size);
  }
  /// Reads a number of entries of at least `least_bytes` each; raises if they cannot fit in the remaining
  /// bytes.
  size_t count(size_t least_bytes) {
    const uint32_t count = number<uint32_t>();
    if (count > (bytes_.size() - position_) / least_bytes)
      throw UserError("{} is damaged: it ends too early", name_);
    return count;
  }
  bool is_at_end() const { return position_ == bytes_.size(); }

 private:
  std::span<const std::byte> bytes_;
  const std::string& name_;
  size_t position_ = 0;
};

}  // namespace tilewright::runtime::vm
