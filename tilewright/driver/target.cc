#include "tilewright/driver/target.h"

#include <fmt/ranges.h>

#include "tilewright/support/error.h"

namespace tilewright::driver {

std::span<const TargetInfo* const> all_targets() { return {k_targets, k_targets_count}; }

Generator make_generator(const ir::Target& target) {
  std::vector<std::string_view> names;
  for (const TargetInfo* info : all_targets()) {
    if (info->name == target->kind_name) return info->make(target);
    names.push_back(info->name);
  }
  throw Unsupported("there is no code generator for target {} yet", target->kind_name)
      .help("code can be made for {}", fmt::join(names, ", "));
}

}  // namespace tilewright::driver
