// A fast 64-bit checksum against accidental damage (not forgery): four multiplying lanes, about memory speed.
#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace tilewright::runtime::vm {

inline uint64_t checksum(std::span<const std::byte> bytes) {
  // an odd constant with well-spread bits; any would do
  constexpr uint64_t kPrime = 0x9E3779B97F4A7C15ull;
  uint64_t lanes[4] = {0x243F6A8885A308D3ull, 0x13198A2E03707344ull, 0xA4093822299F31D0ull,
                       0x082EFA98EC4E6C89ull};
  auto word_at = [](const std::byte* from, size_t size) {
    uint64_t word = 0;
    if constexpr (std::endian::native == std::endian::little) {
      std::memcpy(&word, from, size);
    } else {
      for (size_t n = 0; n < size; ++n) word |= std::to_integer<uint64_t>(from[n]) << (8 * n);
    }
    return word;
  };
  const std::byte* data = bytes.data();
  size_t left = bytes.size();
  for (; left >= 32; left -= 32, data += 32) {
    for (int lane = 0; lane < 4; ++lane)
      lanes[lane] = std::rotl((lanes[lane] ^ word_at(data + 8 * lane, 8)) * kPrime, 29);
  }
  uint64_t sum = bytes.size() * kPrime;
  for (uint64_t lane : lanes) sum = std::rotl((sum ^ lane) * kPrime, 31);
  for (; left > 0; data += left < 8 ? left : 8, left -= left < 8 ? left : 8) {
    sum = std::rotl((sum ^ word_at(data, left < 8 ? left : 8)) * kPrime, 29);
  }
  return (sum ^ sum >> 32) * kPrime;
}

}  // namespace tilewright::runtime::vm
