// What error texts of primitives are made of: the place of a loop or block, and expressions as scripts write
// them.
#pragma once
#include "tilewright/schedule/state.h"

namespace tilewright::schedule {

/// `node` as the script printer writes it, on one line.
std::string text(const ObjectRef& node);
/// Where the loop or block was written by the user; if it was not, its line in the printed program.
Span locate(const State& state, NodeId id);

/// The refusal of a primitive that points at a loop or block: `throw refuse(state, loop, "loop {} ...",
/// name)`.
template <class... Args>
UserError refuse(const State& state, NodeId where, fmt::format_string<Args...> text, Args&&... args) {
  return UserError(locate(state, where), text, std::forward<Args>(args)...);
}

}  // namespace tilewright::schedule
