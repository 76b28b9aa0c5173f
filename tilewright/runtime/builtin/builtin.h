// Functions that the runtime brings along: what graph operators call whose work is no loop nest (sorting,
// scattering, results whose shape depends on data).  Each takes its inputs, its options, and, when the shape
// of the result is known before, the tensors to write.
#pragma once
#include <string_view>

#include "tilewright/runtime/function.h"

namespace tilewright::runtime::builtin {

struct Entry {
  std::string_view name;
  Value (*body)(Args args);
  size_t num_args;  // at least so many
};
/// Raises UserError if there are fewer arguments than `least`.
void require_arguments(std::string_view name, Args args, size_t least);

std::span<const Entry> sort_entries();
std::span<const Entry> scatter_entries();
std::span<const Entry> search_entries();
std::span<const Entry> box_entries();
std::span<const Entry> region_entries();
std::span<const Entry> describe_entries();

}  // namespace tilewright::runtime::builtin
