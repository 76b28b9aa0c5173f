// Each rule is tried on a schedule of its own, and what came of it is noted.
#pragma once
#include <functional>

#include "tilewright/schedule/default/default.h"

namespace tilewright::schedule {

/// Changes a schedule; why it does not apply, or nothing if it was applied.
using Rule = std::function<std::optional<Reason>(Schedule&)>;
/// Runs `rule` on a copy of `sch`, which takes the place of `sch` if the rule applies.
///
/// Returns  the reason that the rule gives, or kRefused with the text of a UserError or Unsupported that it
///          raises; an InternalError comes through: it is a bug
std::optional<Reason> try_rule(Schedule& sch, const Rule& rule);

/// Adds to `attempts` that rule `name` was tried on `block`, unless the last one says the same.
void note(std::vector<Attempt>* attempts, std::string_view name, const Block& block,
          std::optional<Reason> reason);

}  // namespace tilewright::schedule
