#include "tilewright/tir/storage_scope.h"

#include <algorithm>
#include <vector>

#include "tilewright/support/error.h"
#include "tilewright/support/near.h"

namespace tilewright::tir {
namespace {

constexpr std::string_view kScopes[] = {"global",
                                        "shared",
                                        "shared.dyn",
                                        "local",
                                        "warp",
                                        "texture",
                                        "wmma.matrix_a",
                                        "wmma.matrix_b",
                                        "wmma.accumulator",
                                        "m16n8k8.matrixA",
                                        "m16n8k8.matrixB",
                                        "m16n8k8.matrixC",
                                        "metal.simdgroup"};

// Prefixes of memories that a target may divide, or name regions of.
constexpr std::string_view kPrefixes[] = {"global.", "texture."};

bool is_word(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
  });
}

}  // namespace

void check_storage_scope(std::string_view scope) {
  if (scope.empty() || std::find(std::begin(kScopes), std::end(kScopes), scope) != std::end(kScopes)) return;
  for (std::string_view prefix : kPrefixes) {
    if (scope.starts_with(prefix) && is_word(scope.substr(prefix.size()))) return;
  }
  throw UserError("there is no storage scope \"{}\"", scope)
      .help("{}", nearest_names_text(scope, {std::begin(kScopes), std::end(kScopes)}));
}

}  // namespace tilewright::tir
