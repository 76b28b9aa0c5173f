// reorder: loops of one nest change their order.
#include <algorithm>

#include "tilewright/ir/walk.h"
#include "tilewright/schedule/core/loops.h"
#include "tilewright/schedule/core/primitive.h"
#include "tilewright/schedule/core/report.h"
#include "tilewright/schedule/legality/dependence.h"

namespace tilewright::schedule {
namespace {

struct Args {
  std::vector<LoopRef> loops;
  static constexpr std::string_view kRequired[] = {"loops"};
  static constexpr bool kIsVariadic = true;
  static constexpr auto fields() {
    return std::tuple{field<&Args::loops>("loops", "loops of one nest in their new order, outermost first")};
  }
};

// From the outermost of `loops` to the innermost, all loops on the way.
std::vector<NodeId> chain_of(const State& state, const std::vector<NodeId>& loops) {
  NodeId innermost = loops[0];
  for (NodeId loop : loops) {
    if (state.is_inside(loop, innermost))
      innermost = loop;
    else if (!state.is_inside(innermost, loop))
      throw refuse(state, loop, "loops {} and {} are not in one nest", state.node(innermost).name,
                   state.node(loop).name)
          .note(locate(state, innermost), "this is loop {}", state.node(innermost).name);
  }
  std::vector<NodeId> chain;
  size_t found = 0;
  for (NodeId id = innermost; found < loops.size(); id = state.node(id).parent) {
    if (!state.node(id).is_loop())
      throw refuse(state, innermost, "loop {} is inside of block {}, other loops are around it",
                   state.node(innermost).name, state.node(id).name)
          .help("reorder takes loops of one nest");
    chain.insert(chain.begin(), id);
    if (std::find(loops.begin(), loops.end(), id) != loops.end()) ++found;
  }
  require_chain(state, chain);
  return chain;
}

void require_bounds_defined(const State& state, const std::vector<NodeId>& order) {
  for (size_t outer = 0; outer < order.size(); ++outer) {
    const ForNode* loop = state.node(order[outer]).loop();
    for (const PrimExpr& bound : {loop->min, loop->extent}) {
      walk(bound, [&](const VarNode* var) {
        for (size_t inner = outer + 1; inner < order.size(); ++inner) {
          if (state.node(order[inner]).loop()->loop_var.get() == var)
            throw refuse(state, order[outer],
                         "the bounds of loop {} depend on loop {}, which would be inside of it",
                         loop->loop_var->name_hint, var->name_hint);
        }
      });
    }
  }
}

void apply(State& state, const Args& args) {
  std::vector<NodeId> loops;
  for (LoopRef loop : args.loops) {
    const NodeId id = state[loop];
    if (std::find(loops.begin(), loops.end(), id) != loops.end())
      throw refuse(state, id, "loop {} is given twice", state.node(id).name);
    loops.push_back(id);
  }
  if (loops.empty()) throw UserError("no loops are given");
  const std::vector<NodeId> chain = chain_of(state, loops);
  std::vector<NodeId> order = chain;
  size_t next = 0;
  for (NodeId& id : order) {
    if (std::find(loops.begin(), loops.end(), id) != loops.end()) id = loops[next++];
  }
  if (order == chain) return;
  require_bounds_defined(state, order);
  if (const auto conflict = order_conflict(state, chain, order)) {
    UserError error =
        refuse(state, conflict->first.block, "the order of the iterations counts: {}", conflict->str(state));
    conflict->explain(error);
    throw error;
  }
  Stmt body = state.node(chain.back()).loop()->body;
  for (size_t n = order.size(); n-- > 0;)
    body = with(state.node(order[n]).loop(), [&](ForNode& loop) { loop.body = body; });
  State after = state;
  after.replace(chain[0], body);
  for (NodeId id : order) {
    const ForKind kind = after.node(id).loop()->for_kind;
    if (kind == ForKind::kSerial || kind == ForKind::kUnrolled) continue;
    if (const auto conflict = private_conflict(after, id)) {
      UserError error = refuse(state, id, "the iterations of loop {} could not run at once any more: {}",
                               after.node(id).name, conflict->str(after));
      conflict->explain(error);
      throw error;
    }
  }
  state = std::move(after);
}

}  // namespace

extern constinit const PrimitiveInfo reorder_info = primitive<apply>("reorder", R"(
Puts loops of one nest into another order.  Loops in between that are not named keep their places.

    for i in range(n):              for k in range(l):
        for j in range(m):              for j in range(m):
            for k in range(l):  ->          for i in range(n):
                body(i, j, k)                   body(i, j, k)            reorder(k, i): j stays in the middle

loops   loops of one nest in their new order, outermost first; each the only statement of the one around it
Raises  UserError if the loops are not one nest, if bounds would use loops further inside, or if the body could see the
        difference: elements that several iterations touch must keep their order, but a reduction by + * min max
        and or may take its terms in any order (sums of floats are then rounded differently).
)");
}  // namespace tilewright::schedule
