// What kernels of CUDA C take, as NVIDIA's assembler reports it; no GPU is needed.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace tilewright::driver {

struct PtxasUsage {
  int64_t registers = 0;      // of a thread
  int64_t shared_bytes = 0;   // of a block, without what a launch asks for
  int64_t spilled_bytes = 0;  // of registers, stored to and loaded from memory

  friend bool operator==(const PtxasUsage&, const PtxasUsage&) = default;
};

/// The usage of each kernel by its name, from what `nvcc -Xptxas -v` prints.
std::map<std::string, PtxasUsage> parse_ptxas(std::string_view messages);

/// The usage of each kernel of `source`, compiled by nvcc (cuda_compiler.h) for `arch`.  It takes about a second, and is
/// kept on disk.  Raises UserError with the compiler's messages; there must be a compiler.
std::map<std::string, PtxasUsage> ptxas_usage(const std::string& source, const std::string& arch);

}  // namespace tilewright::driver
