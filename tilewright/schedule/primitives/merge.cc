// merge: loops that run one after the other become one.
#include <algorithm>

#include "tilewright/ir/walk.h"
#include "tilewright/schedule/core/edit.h"
#include "tilewright/schedule/core/loops.h"
#include "tilewright/schedule/core/primitive.h"
#include "tilewright/schedule/core/report.h"
#include "tilewright/schedule/legality/dependence.h"
#include "tilewright/schedule/legality/witness.h"
#include "tilewright/tir/builder.h"

namespace tilewright::schedule {
namespace {

struct Args {
  std::vector<LoopRef> loops;
  static constexpr std::string_view kRequired[] = {"loops"};
  static constexpr bool kIsVariadic = true;
  static constexpr auto fields() {
    return std::tuple{
        field<&Args::loops>("loops", "at least two, in program order, of equal extents and equally deep")};
  }
};

using Nest = std::vector<NodeId>;  // from just inside of the common ancestor down to a loop that is merged

// The nests, and the node that has all of them inside.
std::vector<Nest> require_nests(const State& state, const std::vector<NodeId>& loops, NodeId* around) {
  for (size_t n = 1; n < loops.size(); ++n) {
    if (!is_before(state, loops[n - 1], loops[n]))
      throw refuse(state, loops[n], "loop {} does not come after loop {}", state.node(loops[n]).name,
                   state.node(loops[n - 1]).name);
    if (state.scope_of(loops[n]) != state.scope_of(loops[0]))
      throw refuse(state, loops[n], "loops {} and {} are not inside the same block",
                   state.node(loops[0]).name, state.node(loops[n]).name);
  }
  *around = loops[0];
  for (NodeId loop : loops) *around = common_ancestor(state, *around, loop);
  std::vector<Nest> nests;
  for (NodeId loop : loops) {
    Nest nest;
    for (NodeId id = loop; id != *around; id = state.node(id).parent) nest.insert(nest.begin(), id);
    for (NodeId id : nest) require_plain(state, id);
    require_chain(state, nest);
    nests.push_back(std::move(nest));
  }
  return nests;
}

void require_equal(const State& state, const Nest& a, const Nest& b) {
  const std::string &name = state.node(a.back()).name, &other = state.node(b.back()).name;
  if (a.size() != b.size())
    throw refuse(state, b.back(), "loop {} is {} deep, loop {} {}", name, a.size(), other, b.size());
  arith::Analyzer analyzer;
  for (size_t n = 0; n < a.size(); ++n) {
    const ForNode *first = state.node(a[n]).loop(), *second = state.node(b[n]).loop();
    if (!analyzer.can_prove_equal(first->extent, second->extent) ||
        !analyzer.can_prove_equal(first->min, second->min))
      throw refuse(state, b[n], "loop {} runs over [{}, {}), loop {} over [{}, {})", state.node(a[n]).name,
                   text(first->min), text(arith::simplify(first->min + first->extent)), state.node(b[n]).name,
                   text(second->min), text(arith::simplify(second->min + second->extent)));
  }
}

bool have_conflict(const Access& a, const Access& b) {
  return (a.is_write || b.is_write) && may_alias(a.buffer, b.buffer);
}

// No statement between the nests may depend on which of them runs first.
void require_nothing_between(const State& state, NodeId around, const std::vector<Nest>& nests) {
  for (NodeId child : state.node(around).children) {
    const bool is_merged =
        std::any_of(nests.begin(), nests.end(), [&](const Nest& nest) { return nest[0] == child; });
    if (is_merged || !is_before(state, nests[0][0], child)) continue;
    for (const Nest& nest : nests) {
      if (!is_before(state, child, nest[0])) continue;
      for (const Access& moved : accesses_below(state, nest[0])) {
        for (const Access& passed : accesses_below(state, child)) {
          if (have_conflict(moved, passed))
            throw refuse(
                state, passed.block, "block {} {} {}, which block {} {}: the two cannot change places",
                state.node(passed.block).name, passed.is_write ? "writes" : "reads", passed.buffer->name,
                state.node(moved.block).name, moved.is_write ? "writes" : "reads");
        }
      }
    }
  }
}

// A loop in which `one` and `other` may touch the same element in two different iterations; nullopt if there
// is none.
std::optional<NodeId> shared_between_iterations(const State& state, const Access& one, const Access& other,
                                                const Nest& merged, const Nest& chain) {
  const std::vector<NodeId> known = determined_loops(state, one, other, merged),
                            all = determined_loops(state, one, other, chain);
  for (NodeId loop : merged) {
    const bool is_known = std::find(known.begin(), known.end(), loop) != known.end() ||
                          std::find(all.begin(), all.end(), loop) != all.end();
    if (!is_known && !is_one(state.node(loop).loop()->extent)) return loop;
  }
  return std::nullopt;
}

// Two nests may run iteration by iteration if they touch each common element in the same iteration.
void require_same_iterations(const State& before, const State& after,
                             const std::vector<std::vector<Access>>& accesses, const Nest& merged) {
  Nest chain = after.loops_above(merged[0]);
  chain.insert(chain.end(), merged.begin(), merged.end());
  auto check = [&](const Access& one, const Access& other) {
    if (!have_conflict(one, other)) return;
    const std::optional<NodeId> loop = shared_between_iterations(after, one, other, merged, chain);
    if (!loop) return;
    UserError error =
        refuse(before, other.block, "block {} {} {}, which block {} {} in another iteration of loop {}",
               after.node(other.block).name, other.is_write ? "writes" : "reads", other.buffer->name,
               after.node(one.block).name, one.is_write ? "writes" : "reads", after.node(*loop).name);
    explain_read(error, after, other, one, merged.back(), true);
    throw error;
  };
  for (size_t a = 0; a < accesses.size(); ++a) {
    for (size_t b = a + 1; b < accesses.size(); ++b) {
      for (const Access& one : accesses[a]) {
        for (const Access& other : accesses[b]) check(one, other);
      }
    }
  }
}

// The accesses of the blocks of a body.
std::vector<Access> accesses_in(const State& state, const Stmt& body, NodeId near) {
  std::vector<Access> found;
  walk(body, [&](const BlockRealizeNode* realize) {
    for (const Access& access : accesses_of(state, state.find(realize->block.get(), near)))
      found.push_back(access);
    return false;
  });
  return found;
}

LoopRef apply(State& state, const Args& args) {
  Nest loops;
  for (LoopRef loop : args.loops) loops.push_back(state[loop]);
  if (loops.size() < 2) throw UserError("at least two loops are needed, but {} given", loops.size());
  NodeId around = kNoNode;
  const std::vector<Nest> nests = require_nests(state, loops, &around);
  for (const Nest& nest : nests) require_equal(state, nests[0], nest);
  require_nothing_between(state, around, nests);
  std::vector<Var> vars;
  for (NodeId id : nests[0])
    vars.push_back(make_var(state.node(id).name + "_m", state.node(id).loop()->loop_var->dtype));
  arith::Analyzer analyzer;
  bind_loops_above(state, loops[0], analyzer);
  std::vector<Stmt> bodies;
  for (const Nest& nest : nests) {
    Substitution values;
    for (size_t n = 0; n < nest.size(); ++n) {
      const Var& var = state.node(nest[n]).loop()->loop_var;
      values[var.get()] = cast(var->dtype, vars[n]);
    }
    bodies.push_back(substitute_loops(state.node(nest.back()).loop()->body, values, analyzer));
  }
  Stmt merged = seq(bodies);
  for (size_t n = vars.size(); n-- > 0;)
    merged = with(state.node(nests[0][n]).loop(),
                  [&](ForNode& loop) { loop.loop_var = vars[n], loop.body = merged; });
  Edit edit(state);
  edit.replace(nests[0][0], merged);
  for (size_t n = 1; n < nests.size(); ++n) edit.remove(nests[n][0]);
  State after = state;
  edit.commit(after, around);
  Nest merged_loops;
  std::vector<std::vector<Access>> accesses;
  for (const Stmt& body : bodies) accesses.push_back(accesses_in(after, body, around));
  for (const Var& var : vars) merged_loops.push_back(after.find(var.get(), around));
  require_same_iterations(state, after, accesses, merged_loops);
  state = std::move(after);
  return state.new_loop_ref(merged_loops.back());
}

}  // namespace

extern constinit const PrimitiveInfo merge_info = primitive<apply>("merge", R"(
Lets loops that run one after the other run as one.

    for i in range(n):                      for i_m in range(n):
        B[i] = A[i] * 2                         B[i_m] = A[i_m] * 2
    for i in range(n):              ->          C[i_m] = A[i_m] + 1
        C[i] = A[i] + 1                                                   merge(i, i)

loops    at least two loops of one block, in program order; with the loops around them, up to what has all of them inside, they
         must be of equal bounds, each the only statement of the one before, serial and without annotations
Returns  the new loop; all `loops`, and those around them up to there, become stale
Raises   UserError if the nests differ, or if an iteration touches what another iteration of another nest touches.
)");
}  // namespace tilewright::schedule
