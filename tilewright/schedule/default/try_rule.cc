#include "tilewright/schedule/default/try_rule.h"

namespace tilewright::schedule {

std::optional<Reason> try_rule(Schedule& sch, const Rule& rule) {
  Schedule copy = sch;
  try {
    if (std::optional<Reason> reason = rule(copy)) return reason;
  } catch (const Error& error) {
    if (error.kind() == Error::Kind::kInternal) throw;
    return Reason(Reason::kRefused, "{}", error.text());
  }
  sch = std::move(copy);
  return std::nullopt;
}

void note(std::vector<Attempt>* attempts, std::string_view name, const Block& block,
          std::optional<Reason> reason) {
  Attempt attempt{block->name_hint, std::string(name), std::move(reason)};
  // with and without an epilogue the reason is often the same
  const bool is_same = !attempts->empty() && attempts->back().block == attempt.block &&
                       attempts->back().rule == attempt.rule && attempts->back().reason == attempt.reason;
  if (!is_same) attempts->push_back(std::move(attempt));
}

}  // namespace tilewright::schedule
