// Damage to files, as transfers, disks and people do it.
#pragma once
#include <string>

#include "fuzz.h"

namespace tilewright::fuzz {

/// `bytes` with one to four changes: a byte or a bit, a piece removed, doubled, zeroed, or the end cut off.
inline std::string mutated(std::string bytes, Random& random) {
  for (int64_t left = random.between(1, 4); left > 0 && !bytes.empty(); --left) {
    const auto at = static_cast<size_t>(random.between(0, static_cast<int64_t>(bytes.size()) - 1));
    const auto size = static_cast<size_t>(random.between(1, 16));
    switch (random.between(0, 7)) {
      case 0: bytes.erase(at, size); break;
      case 1: bytes.insert(at, bytes.substr(at, size)); break;
      case 2: bytes.replace(at, std::min(size, bytes.size() - at), size, '\0'); break;
      case 3: bytes[at] ^= static_cast<char>(1 << random.between(0, 7)); break;
      case 4: bytes[at] = static_cast<char>(random.between(-128, 127)); break;
      case 5:
        if (random.chance(10)) bytes.resize(at);
        break;
      // small numbers get past more checks than random ones
      default: bytes[at] = static_cast<char>(random.between(0, 8)); break;
    }
  }
  return bytes;
}

}  // namespace tilewright::fuzz
