// Reorders the bindings of dataflow blocks without changing the result.
//   depth-first    a value right before its first use: few values are live at once
//   breadth-first  values with the same number of steps next to each other
// A block with call_tir_inplace is not changed.  from-inputs places a binding as early as possible,
// from-outputs as late as possible.
#include <algorithm>
#include <unordered_map>

#include "tilewright/ir/rewrite.h"
#include "tilewright/ir/walk.h"
#include "tilewright/relax/memory/liveness.h"
#include "tilewright/relax/pass.h"
#include "tilewright/support/error.h"

namespace tilewright::relax {
namespace {

struct Options {
  std::string order = "depth-first", direction = "from-inputs";
  static constexpr auto fields() {
    return std::tuple{field<&Options::order>("order", "\"depth-first\" or \"breadth-first\""),
                      field<&Options::direction>("direction", "\"from-inputs\" or \"from-outputs\"")};
  }
};

// The dependencies between the bindings of a block, by position.
struct Graph {
  explicit Graph(const std::vector<Binding>& bindings) : needs(bindings.size()), users(bindings.size()) {
    std::unordered_map<const Object*, size_t> defined_at;  // variables and dimensions
    for (size_t n = 0; n < bindings.size(); ++n) {
      const auto use = [&](const Object* var) {
        const auto found = defined_at.find(var);
        if (found == defined_at.end() || found->second == n) return;
        if (std::find(needs[n].begin(), needs[n].end(), found->second) != needs[n].end()) return;
        needs[n].push_back(found->second);
        users[found->second].push_back(n);
      };
      walk(
          bindings[n], [&](const VarNode* var) { use(var); }, [&](const DataflowVarNode* var) { use(var); },
          [&](const tir::VarNode* dim) { use(dim); });
      defined_at[bindings[n]->var.get()] = n;
      if (const auto* cast = bindings[n].as<MatchCastNode>())
        walk(cast->pattern, [&](const tir::VarNode* dim) { defined_at.try_emplace(dim, n); });
    }
  }
  std::vector<std::vector<size_t>> needs, users;
};

using Lists = std::vector<std::vector<size_t>>;

// An order of positions in which all positions in `wait` of one come before it.  Of those that are ready,
// depth first takes one that the last position has made ready; otherwise the one that has been ready longest.
std::vector<size_t> sorted(const Lists& wait, const Lists& follow, bool depth_first) {
  std::vector<size_t> num_missing, open, result;
  for (size_t n = 0; n < wait.size(); ++n) {
    num_missing.push_back(wait[n].size());
    if (wait[n].empty()) open.push_back(n);
  }
  if (depth_first) std::reverse(open.begin(), open.end());  // the next one is at the end
  for (size_t next = 0; depth_first ? !open.empty() : next < open.size(); ++next) {
    const size_t n = depth_first ? open.back() : open[next];
    if (depth_first) open.pop_back();
    result.push_back(n);
    std::vector<size_t> ready;
    for (size_t user : follow[n]) {
      if (--num_missing[user] == 0) ready.push_back(user);
    }
    if (depth_first) std::reverse(ready.begin(), ready.end());
    open.insert(open.end(), ready.begin(), ready.end());
  }
  return result;
}

// The same graph with positions counted from the end.
Lists mirrored(const Lists& lists) {
  const size_t last = lists.size() - 1;
  Lists result(lists.size());
  for (size_t n = 0; n < lists.size(); ++n) {
    for (size_t other : lists[n]) result[last - n].push_back(last - other);
    std::sort(result[last - n].begin(), result[last - n].end());
  }
  return result;
}

std::vector<size_t> order_of(const Graph& graph, bool forward, bool depth_first) {
  if (forward) return sorted(graph.needs, graph.users, depth_first);
  std::vector<size_t> order = sorted(mirrored(graph.users), mirrored(graph.needs), depth_first);
  std::reverse(order.begin(), order.end());
  for (size_t& n : order) n = graph.needs.size() - 1 - n;
  return order;
}

Function run(const Function& func, const Options& options) {
  const bool depth_first = options.order == "depth-first", forward = options.direction == "from-inputs";
  if (!depth_first && options.order != "breadth-first")
    throw UserError("order is \"{}\", expected \"depth-first\" or \"breadth-first\"", options.order);
  if (!forward && options.direction != "from-outputs")
    throw UserError("direction is \"{}\", expected \"from-inputs\" or \"from-outputs\"", options.direction);
  return rewrite(func, [&](auto& self, const DataflowBlockNode* node) -> DataflowBlock {
    const DataflowBlock block = self.children(node);
    bool writes_arguments = false;  // calls that read them must not move behind it
    walk(block, [&](const CallNode* call) { writes_arguments |= op_name(call) == "relax.call_tir_inplace"; });
    if (writes_arguments) return block;
    std::vector<Binding> bindings;
    for (size_t n : order_of(Graph(block->bindings), forward, depth_first))
      bindings.push_back(block->bindings[n]);
    return bindings == block->bindings ? block : DataflowBlockNode::make(std::move(bindings));
  });
}

}  // namespace

extern constinit const PassInfo topological_sort_info = function_pass<FunctionNode, run, Options>(
    "topological_sort", "Reorders the bindings of dataflow blocks.");

}  // namespace tilewright::relax
