// The parts of error texts of primitives: the place of a loop or block, and expressions as scripts write
// them.
#pragma once
#include "tilewright/schedule/core/state.h"

namespace tilewright::schedule {

/// `node` as the script printer writes it, on one line.
std::string text(const ObjectRef& node);

/// Where a loop or block is to be seen: in the line of the user that says what it is, or, if a step has made
/// it, in the program as it is now; then `made_from` is the user's line for which it was made.
struct Location {
  Span span, made_from;
};
Location location_of(const State& state, NodeId id);
/// Its first half.
Span locate(const State& state, NodeId id);

/// The refusal of a primitive that points at a loop or block: `throw refuse(state, loop, "loop {} ...",
/// name)`.
template <class... Args>
UserError refuse(const State& state, NodeId where, fmt::format_string<Args...> text, Args&&... args) {
  const Location location = location_of(state, where);
  UserError error(location.span, text, std::forward<Args>(args)...);
  if (location.made_from)
    error.note(location.made_from, "{} was made from this line", state.node(where).name);
  return error;
}

}  // namespace tilewright::schedule
