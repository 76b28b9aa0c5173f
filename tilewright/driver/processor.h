// The processor that code is for, without LLVM: what schedules and the check before loading need to know of
// it.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace tilewright::driver {

struct Processor {
  std::string triple;  // begins with the architecture: "x86_64-linux-gnu"
  int vector_bits = 128;
  bool is_host = true;                // this machine
  std::vector<std::string> features;  // by LLVM's names, sorted: "avx2", "sse4.1"
  bool has(std::string_view feature) const;
};

/// This machine as the system describes it.  Features that no compiled code uses by itself are left out.
Processor this_processor();

/// What the C compiler makes code of with -march=`cpu`.  Raises UserError for a CPU that it does not know.
Processor processor_of_compiler(const std::string& cpu);

}  // namespace tilewright::driver
