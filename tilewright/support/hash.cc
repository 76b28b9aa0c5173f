#include "tilewright/support/hash.h"

#include <fmt/format.h>

namespace tilewright {
namespace {
uint64_t mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
  return x ^ (x >> 31);
}
uint64_t rotate(uint64_t x, int n) { return (x << n) | (x >> (64 - n)); }
}  // namespace

std::string Hash128::hex() const { return fmt::format("{:016x}{:016x}", high, low); }

Hasher& Hasher::add(uint64_t word) {
  ++count_;
  a_ = mix(a_ ^ word) + rotate(b_, 23);
  b_ = mix(b_ + word + count_ * 0x9E3779B97F4A7C15ull) ^ rotate(a_, 41);
  return *this;
}

Hasher& Hasher::add(std::string_view bytes) {
  add(static_cast<uint64_t>(bytes.size()));
  while (!bytes.empty()) {
    uint64_t word = 0;  // little-endian on every machine
    const size_t count = bytes.size() < 8 ? bytes.size() : 8;
    for (size_t n = 0; n < count; ++n)
      word |= static_cast<uint64_t>(static_cast<unsigned char>(bytes[n])) << (8 * n);
    add(word);
    bytes.remove_prefix(count);
  }
  return *this;
}

Hash128 Hasher::finish() const { return {mix(a_ + count_), mix(b_ ^ rotate(a_, 17))}; }

}  // namespace tilewright
