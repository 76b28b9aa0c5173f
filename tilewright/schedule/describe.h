// A schedule's view of its program, for people and tools: the tree of loops and blocks with the handles
// that point into it, which blocks depend on which, what is proved of a block.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "tilewright/schedule/core/state.h"

namespace tilewright::schedule {

/// The functions with their loops and blocks, one a line, indented; behind each the handles that point at it.
std::string tree_text(const State& state);

/// Block `to` must stay behind block `from`: it reads what that writes (RAW), writes what that reads (WAR) or
/// writes what that writes (WAW).
struct Dependence {
  std::string from, to, kind, buffer;
};
/// The dependences between the blocks directly inside of `scope`, by buffers as a whole, in program order.
std::vector<Dependence> dependences_of(const State& state, NodeId scope);

/// The conditions that steps check on a block, each with the reason why it does not hold, or nothing where it
/// does.
std::vector<std::pair<std::string, std::string>> properties_of(const State& state, NodeId block);

}  // namespace tilewright::schedule
