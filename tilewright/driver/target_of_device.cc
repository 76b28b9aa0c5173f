#include "tilewright/driver/target_of_device.h"

#include <algorithm>
#include <string>

#include "tilewright/runtime/device/accelerator.h"
#include "tilewright/support/format.h"
#include "tilewright/target/target.h"

namespace tilewright::driver {

ir::Target target_of_device(runtime::Device device, std::string_view what) {
  using Properties = runtime::DeviceProperties;
  struct Attribute {
    std::string_view name;
    int64_t Properties::* member;
  };
  constexpr Attribute kAttributes[] = {
      {"max_threads_per_block", &Properties::max_threads_per_block},
      {"max_shared_memory_per_block", &Properties::max_shared_memory_per_block},
      {"registers_per_block", &Properties::max_registers_per_block},
      {"thread_warp_size", &Properties::warp_size},
      {"max_threads_per_multiprocessor", &Properties::max_threads_per_multi_processor},
      {"max_shared_memory_per_multiprocessor", &Properties::max_shared_memory_per_multi_processor},
      {"l2_cache_size_bytes", &Properties::l2_cache_size_bytes},
      {"num-cores", &Properties::multi_processor_count},
  };
  if (device.is_cpu()) return target::parse_target("llvm");
  const Properties& properties = runtime::accelerator(device, what).properties(device.id);
  const std::string name = device.str();
  std::string text = name.substr(0, name.find(':'));
  if (device.type == kDLCUDA) {
    std::string version = properties.compute_version;
    std::erase(version, '.');
    text += " -arch=sm_" + version;
  }
  for (const Attribute& each : kAttributes) {
    // 0: the driver does not tell
    if (const int64_t value = properties.*each.member; value != 0)
      text += fmt::format(" -{}={}", each.name, value);
  }
  return target::parse_target(text);
}

}  // namespace tilewright::driver
