#include "tilewright/records/record.h"

#include <algorithm>
#include <limits>

#include "tilewright/ir/services.h"
#include "tilewright/runtime/kernel_abi.h"
#include "tilewright/support/format.h"

namespace tilewright::records {

std::string machine_key(std::string_view kind, const target::Features& features) {
  Hasher hasher;
  hasher.add(kind).add(uint64_t{TILEWRIGHT_KERNEL_ABI_VERSION});
  for (const target::FeatureRow& row : features.rows()) {
    hasher.add(row.name);
    std::visit([&](auto value) { hasher.add(fmt::format("{}", value)); }, row.value);
  }
  return hasher.finish().hex();
}

Key key_of(const tir::PrimFunc& func, std::string machine) {
  const tir::PrimFunc nameless =
      ir::with(func, [](tir::PrimFuncNode& node) { node.attrs.erase("global_symbol"); });
  return {ir::structural_hash(nameless).hex(), std::move(machine)};
}

double Record::median() const {
  if (seconds.empty()) return std::numeric_limits<double>::infinity();
  std::vector<double> sorted = seconds;
  std::sort(sorted.begin(), sorted.end());
  const size_t middle = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

}  // namespace tilewright::records
