#include "tilewright/driver/target.h"

#include <fmt/ranges.h>

#include "tilewright/script/print.h"
#include "tilewright/support/error.h"

namespace tilewright::driver {
namespace {

// Lowered programs, the input of all code generators, as script.
std::string lowered_text(std::span<const ir::IRModule> lowered) {
  std::string text;
  for (const ir::IRModule& module : lowered) text += script::print(module, {.show_header = false}) + "\n";
  return text;
}

}  // namespace

std::span<const TargetInfo* const> all_targets() { return {k_targets, k_targets_count}; }

Generator make_generator(const ir::Target& target) {
  std::vector<std::string_view> names;
  for (const TargetInfo* info : all_targets()) {
    if (info->name == target->kind_name) {
      Generator generator = info->make(target);
      generator.sources.push_back({"lowered", ".tir", lowered_text});
      return generator;
    }
    names.push_back(info->name);
  }
  throw Unsupported("there is no code generator for target {} yet", target->kind_name)
      .help("code can be made for {}", fmt::join(names, ", "));
}

}  // namespace tilewright::driver
