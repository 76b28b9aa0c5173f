#include "tilewright/relax/fusion/fusion.h"

#include <algorithm>
#include <set>

namespace tilewright::relax {
namespace {

bool is_simple(const FusionNode& node) { return node.pattern <= FusePattern::kBroadcast; }
bool is_heavy(const FusionNode& node) { return node.pattern >= FusePattern::kReduction; }

// True if `node` may be computed in the program of `user`, which reads it.
bool may_flow_into(const FusionNode& node, const FusionNode& user) {
  if (user.pattern == FusePattern::kOutFusable) return false;
  if (user.is_rows) return node.widens_bytes;
  if (user.pattern == FusePattern::kReduction) return user.reads_once || node.widens_bytes;
  if (user.pattern == FusePattern::kInjective) return true;
  return equal_shapes(*node.shape, *user.shape) == Answer::kYes;
}

class Grouping {
 public:
  Grouping(const std::vector<FusionNode>& nodes, size_t max_size)
      : nodes_(nodes), max_size_(max_size), group_(nodes.size()), members_(nodes.size()) {
    for (size_t n = 0; n < nodes.size(); ++n) {
      group_[n] = n;
      members_[n] = {n};
    }
  }

  std::vector<size_t> run() {
    for (size_t n = 0; n < nodes_.size(); ++n) {
      if (is_heavy(nodes_[n])) take_epilogue(n);
    }
    for (size_t n = nodes_.size(); n-- > 0;) {
      if (!is_heavy(nodes_[n]) && members_[n].size() == 1 && group_[n] == n) join_users(n);
    }
    return group_;
  }

 private:
  void take_epilogue(size_t head) {
    size_t before = group_[head];
    for (;;) {
      const std::vector<size_t> next = up_to_post_dominator(head);
      if (next.empty()) return leave_widening(before, group_[head]);
      before = group_[head];
      std::vector<size_t> members = members_[group_[head]];
      members.insert(members.end(), next.begin(), next.end());
      for (size_t member : members) group_[member] = next.back();
      members_[next.back()] = std::move(members);
    }
  }

  // Takes `last`, which was added to the group that ended with `before`, out of it, if it widens bytes and all that read
  // it can do so: bytes are stored then.
  void leave_widening(size_t before, size_t last) {
    if (members_[last].size() != members_[before].size() + 1 || !readers_may_widen(nodes_[last], nodes_))
      return;
    for (size_t member : members_[before]) group_[member] = before;
    group_[last] = last;
    members_[last] = {last};
  }

  // The nodes from the group of `head` (exclusive) to its nearest post-dominator (inclusive); empty if one of
  // them does not fit.
  std::vector<size_t> up_to_post_dominator(size_t head) const {
    const size_t last = group_[head];
    if (nodes_[last].escapes) return {};
    std::set<size_t> pending(nodes_[last].users.begin(), nodes_[last].users.end());
    std::vector<size_t> taken;
    while (!pending.empty()) {
      const size_t node = *pending.begin();
      pending.erase(pending.begin());
      if (!fits_after(head, node, members_[last].size() + taken.size())) return {};
      taken.push_back(node);
      if (pending.empty()) return taken;
      // a value that only some paths use, or that is needed outside
      if (nodes_[node].escapes || nodes_[node].users.empty()) return {};
      pending.insert(nodes_[node].users.begin(), nodes_[node].users.end());
    }
    return {};
  }

  bool fits_after(size_t head, size_t node, size_t size) const {
    return size < max_size_ && is_simple(nodes_[node]) && group_[node] == node &&
           members_[node].size() == 1 && (!nodes_[head].is_rows || nodes_[node].narrows_to_bytes) &&
           equal_shapes(*nodes_[head].shape, *nodes_[node].shape) == Answer::kYes;
  }

  void join_users(size_t n) {
    const FusionNode& node = nodes_[n];
    if (node.escapes || node.users.empty()) return;
    const size_t target = group_[node.users[0]];
    for (size_t user : node.users) {
      if (group_[user] != target || !may_flow_into(node, nodes_[user])) return;
    }
    const bool has_heavy = std::any_of(members_[target].begin(), members_[target].end(),
                                       [&](size_t member) { return is_heavy(nodes_[member]); });
    if (members_[target].size() >= max_size_ || (has_heavy && !is_simple(node))) return;
    group_[n] = target;
    members_[target].push_back(n);
  }

  const std::vector<FusionNode>& nodes_;
  const size_t max_size_;
  std::vector<size_t> group_;                 // the last node of each one's group
  std::vector<std::vector<size_t>> members_;  // by last node
};

}  // namespace

bool readers_may_widen(const FusionNode& node, const std::vector<FusionNode>& nodes) {
  const auto takes_in = [&](size_t user) { return may_flow_into(node, nodes[user]); };
  return node.widens_bytes && !node.escapes && !node.users.empty() &&
         std::all_of(node.users.begin(), node.users.end(), takes_in);
}

std::vector<size_t> fusion_groups(const std::vector<FusionNode>& nodes, size_t max_size) {
  return Grouping(nodes, max_size).run();
}

}  // namespace tilewright::relax
