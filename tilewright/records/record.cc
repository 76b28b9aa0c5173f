#include "tilewright/records/record.h"

#include <algorithm>
#include <limits>

#include "tilewright/ir/services.h"
#include "tilewright/runtime/kernel_abi.h"
#include "tilewright/support/format.h"

namespace tilewright::records {

namespace {

std::string key_of_rows(std::string_view kind, const std::vector<target::FeatureRow>& rows) {
  Hasher hasher;
  hasher.add(kind).add(uint64_t{TILEWRIGHT_KERNEL_ABI_VERSION});
  for (const target::FeatureRow& row : rows) {
    hasher.add(row.name);
    std::visit([&](auto value) { hasher.add(fmt::format("{}", value)); }, row.value);
  }
  return hasher.finish().hex();
}

}  // namespace

std::string machine_key(std::string_view kind, const target::Features& features) {
  return key_of_rows(kind, features.rows());
}

std::string machine_key(std::string_view kind, const target::GpuFeatures& features) {
  return key_of_rows(kind, features.rows());
}

Key key_of(const tir::PrimFunc& func, std::string machine) {
  const tir::PrimFunc nameless =
      ir::with(func, [](tir::PrimFuncNode& node) { node.attrs.erase("global_symbol"); });
  return {ir::structural_hash(nameless).hex(), std::move(machine)};
}

namespace {

double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

}  // namespace

double Record::median() const {
  return seconds.empty() ? std::numeric_limits<double>::infinity() : median_of(seconds);
}

std::optional<double> Record::relative() const {
  if (seconds.empty()) return std::numeric_limits<double>::infinity();
  if (trace.empty()) return 1.0;
  std::vector<double> ratios;
  for (size_t n = 0; n < std::min(seconds.size(), baseline.size()); ++n)
    ratios.push_back(seconds[n] / baseline[n]);
  return ratios.empty() ? std::nullopt : std::optional(median_of(std::move(ratios)));
}

}  // namespace tilewright::records
