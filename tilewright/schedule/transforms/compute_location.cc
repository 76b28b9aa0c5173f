#include "tilewright/schedule/transforms/compute_location.h"

#include "tilewright/schedule/core/edit.h"
#include "tilewright/schedule/core/loops.h"
#include "tilewright/schedule/core/report.h"
#include "tilewright/tir/builder.h"

namespace tilewright::schedule {

bool moved_to_special_place(State& state, const MoveArgs& args, std::string_view inline_primitive) {
  const std::optional<Place> place = state.special_place(args.loop);
  if (!place) return false;
  std::vector<ArgValue> values{args.block};
  if (*place == Place::kInline) find_primitive(inline_primitive).run(state, &values);
  return true;
}

void require_same_scope(const State& state, NodeId block, NodeId loop) {
  const std::string &name = state.node(block).name, &var = state.node(loop).name;
  if (state.is_inside(block, loop))
    throw refuse(state, loop, "block {} is inside loop {} already", name, var);
  if (state.node(block).func != state.node(loop).func)
    throw refuse(state, loop, "block {} and loop {} are in different functions", name, var);
  if (state.scope_of(block) != state.scope_of(loop))
    throw refuse(state, loop, "block {} and loop {} are not inside the same block", name, var);
}

size_t insert_position(const State& state, NodeId loop, int64_t index, const std::vector<NodeId>& producers,
                       const std::vector<NodeId>& consumers) {
  const std::vector<Stmt> items = statements_of(state.node(loop).loop()->body);
  // the statement of the body that holds a node, or none
  auto position = [&](NodeId id) {
    if (!state.is_inside(id, loop)) return items.size();
    const Stmt& child = state.node(child_towards(state, loop, id)).stmt;
    for (size_t n = 0; n < items.size(); ++n) {
      bool found = false;
      for_each_scope_stmt(items[n], [&](const Stmt& inner) { found |= inner == child; });
      if (found) return n;
    }
    return items.size();
  };
  size_t first = 0, last = items.size();
  for (NodeId producer : producers) {
    const size_t n = position(producer);
    if (n < items.size()) first = std::max(first, n + 1);
  }
  for (NodeId consumer : consumers) last = std::min(last, position(consumer));
  // compute_at has all producers before the loop, reverse_compute_at all consumers behind it
  TILEWRIGHT_CHECK(first <= last, "no place in loop {} is after the producers and before the consumers",
                   state.node(loop).name);
  if (index == -1) return last;
  if (index == -2) return first;
  if (index < static_cast<int64_t>(first) || index > static_cast<int64_t>(last))
    throw refuse(state, loop, "position {} in loop {} is not possible", index, state.node(loop).name)
        .help("{} after what the block reads and before what reads it",
              first == last ? fmt::format("position {} comes", first)
                            : fmt::format("positions {} to {} come", first, last));
  return static_cast<size_t>(index);
}

Stmt with_inserted(const ForNode* loop, size_t position, const Stmt& stmt) {
  std::vector<Stmt> items = statements_of(loop->body);
  items.insert(items.begin() + static_cast<long>(position), stmt);
  return with(loop, [&](ForNode& n) { n.body = seq(std::move(items)); });
}

}  // namespace tilewright::schedule
