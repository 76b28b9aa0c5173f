// Functions that the runtime provides for graph operators that are not loop nests (sorting, scattering,
// results whose shape depends on data).  Each takes its inputs, its options, and, if the shape of the result
// is known beforehand, the tensors to write.
#pragma once
#include <string_view>

#include "tilewright/runtime/function.h"

namespace tilewright::runtime::builtin {

struct Entry {
  std::string_view name;
  Value (*body)(Args args);
  size_t num_args;  // minimum number of arguments
};
/// Raises UserError if there are fewer arguments than `least`.
void require_arguments(std::string_view name, Args args, size_t least);

std::span<const Entry> sort_entries();
std::span<const Entry> topk_entries();
std::span<const Entry> scatter_entries();
std::span<const Entry> search_entries();
std::span<const Entry> box_entries();
std::span<const Entry> region_entries();
std::span<const Entry> describe_entries();
std::span<const Entry> list_entries();
std::span<const Entry> random_entries();
std::span<const Entry> determinant_entries();
std::span<const Entry> string_entries();
std::span<const Entry> string_text_entries();

}  // namespace tilewright::runtime::builtin
