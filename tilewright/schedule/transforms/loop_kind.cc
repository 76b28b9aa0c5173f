#include "tilewright/schedule/transforms/loop_kind.h"

#include <algorithm>

#include "tilewright/schedule/core/access.h"
#include "tilewright/schedule/core/report.h"
#include "tilewright/schedule/legality/dependence.h"

namespace tilewright::schedule {

void require_independent_iterations(const State& state, NodeId loop, std::string_view how,
                                    std::string_view thread_tag) {
  const auto conflict = parallel_conflict(state, loop, thread_tag);
  if (!conflict) return;
  UserError error =
      refuse(state, loop, "loop {} cannot be {}: {}", state.node(loop).name, how, conflict->str(state));
  conflict->explain(error);
  throw error;
}

namespace {

bool runs_at_once(const TreeNode& node) {
  const ForNode* loop = node.loop();
  return loop && loop->for_kind != ForKind::kSerial && loop->for_kind != ForKind::kUnrolled;
}

bool writes_one_of(const State& state, NodeId id, const std::vector<Buffer>& buffers) {
  for (NodeId block : state.blocks_below(id)) {
    for (const BufferRegion& write : state.node(block).block()->writes) {
      if (std::find(buffers.begin(), buffers.end(), write->buffer) != buffers.end()) return true;
    }
  }
  return false;
}

}  // namespace

void require_still_independent(const State& state, NodeId scope, const std::vector<Buffer>& buffers) {
  if (!state.proves_steps) return;
  std::vector<NodeId> users;
  for (const Buffer& buffer : buffers) {
    for (NodeId user : state.users_of(buffer, scope)) {
      if (std::find(users.begin(), users.end(), user) == users.end()) users.push_back(user);
    }
  }
  for (NodeId id : with_ways_to(state, scope, users)) {
    if (!runs_at_once(state.node(id)) || !writes_one_of(state, id, buffers)) continue;
    if (const auto conflict = parallel_conflict(state, id, state.node(id).loop()->thread_tag)) {
      UserError error = refuse(state, id, "the iterations of loop {} could not run at once any more: {}",
                               state.node(id).name, conflict->str(state));
      conflict->explain(error);
      throw error;
    }
  }
}

void require_still_independent(const State& state, NodeId block) {
  if (!state.proves_steps) return;
  std::vector<Buffer> buffers;
  for (const Access& access : accesses_of(state, block)) buffers.push_back(access.buffer);
  require_still_independent(state, state.scope_of(block), buffers);
}

void set_loop_kind(State& state, NodeId id, ForKind kind, std::string thread_tag) {
  const ForNode* loop = state.node(id).loop();
  if (loop->for_kind == ForKind::kThreadBinding && kind != ForKind::kThreadBinding)
    throw refuse(state, id, "loop {} is bound to {}", state.node(id).name, loop->thread_tag);
  if (loop->for_kind == kind && loop->thread_tag == thread_tag) return;
  state.replace(id, with(loop, [&](ForNode& n) { n.for_kind = kind, n.thread_tag = std::move(thread_tag); }));
}

}  // namespace tilewright::schedule
