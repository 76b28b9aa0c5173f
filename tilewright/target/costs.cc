#include "tilewright/target/costs.h"

namespace tilewright::target {
namespace {

template <class Costs>
void append(const Costs& costs, std::vector<FeatureRow>* rows) {
  std::apply(
      [&](const auto&... field) {
        (rows->push_back({field.name, costs.*field.member, field.unit, field.doc, std::string(field.source)}),
         ...);
      },
      Costs::fields());
}

}  // namespace

std::vector<FeatureRow> cost_rows() {
  std::vector<FeatureRow> rows;
  append(kTileCosts, &rows);
  append(kLoopCosts, &rows);
  append(kGraphCosts, &rows);
  return rows;
}

}  // namespace tilewright::target
