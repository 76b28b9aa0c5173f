// How wide the vectors are that loops are made for.
#pragma once

namespace tilewright::codegen {

/// The widest vectors that are fast on a processor: `has(feature)` by LLVM's names.
template <class Has>
int vector_bits_of(bool is_x86, const Has& has) {
  if (!is_x86) return 128;
  if (has("avx512f") && has("avx512vl") && has("avx512bw") && has("avx512dq")) return 512;
  return has("avx") ? 256 : 128;
}

}  // namespace tilewright::codegen
