// What manuals say of the data caches of processor cores, by the names that LLVM gives them.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>

namespace tilewright::target {

struct Core {
  std::string_view name;  // LLVM's -mcpu
  int64_t l1_bytes = 32 << 10;
  int64_t l1_ways = 8;
  int64_t l2_bytes = 512 << 10;  // divided by the cores that share it
  std::string_view source = "";
};

/// All cores that are known.
std::span<const Core> all_cores();
/// Null if the name is none of them.
const Core* find_core(std::string_view name);

}  // namespace tilewright::target
