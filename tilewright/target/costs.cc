#include "tilewright/target/costs.h"

namespace tilewright::target {
namespace {

template <class Costs>
void append(const Costs& costs, std::vector<CostRow>* rows) {
  std::apply(
      [&](const auto&... field) {
        (rows->push_back({field.name, costs.*field.member, field.unit, field.doc, field.source}), ...);
      },
      Costs::fields());
}

}  // namespace

std::vector<CostRow> cost_rows() {
  std::vector<CostRow> rows;
  append(kTileCosts, &rows);
  append(kLoopCosts, &rows);
  append(kGraphCosts, &rows);
  return rows;
}

}  // namespace tilewright::target
