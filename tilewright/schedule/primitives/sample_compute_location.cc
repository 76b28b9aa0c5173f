// sample_compute_location: where a block is computed, drawn from the places where it may be.
#include "tilewright/schedule/core/access.h"
#include "tilewright/schedule/core/primitive.h"
#include "tilewright/schedule/core/report.h"

namespace tilewright::schedule {
namespace {

struct Args {
  BlockRef block;
  std::optional<int64_t> decision;
  static constexpr auto fields() {
    return std::tuple{field<&Args::block>("block", "what is to be moved"),
                      field<&Args::decision>("decision", "which place, when it is already decided")};
  }
};

constexpr int64_t kInline = -2, kRoot = -1;

// True if a primitive accepts the arguments, tried on a copy.
bool is_legal(const State& state, std::string_view primitive, std::vector<ArgValue> values) {
  State copy = state;
  copy.proves_steps = true;
  try {
    find_primitive(primitive).run(copy, &values);
    return true;
  } catch (const UserError&) {
    return false;
  } catch (const Unsupported&) {
    return false;
  }
}

// The loops of the first consumer: places are counted from the outermost.
std::vector<NodeId> loops_of_consumer(const State& state, NodeId block) {
  const std::vector<NodeId> consumers = consumers_of(state, block);
  return consumers.empty() ? std::vector<NodeId>() : state.loops_above(consumers[0]);
}

LoopRef apply(State& state, Args& args) {
  const NodeId block = state[args.block];
  const std::vector<NodeId> loops = loops_of_consumer(state, block);
  if (!args.decision) {
    std::vector<int64_t> places = {kRoot};
    if (is_legal(state, "compute_inline", {args.block})) places.push_back(kInline);
    for (size_t n = 0; n < loops.size(); ++n) {
      State copy = state;
      const LoopRef loop = copy.new_loop_ref(loops[n]);
      if (is_legal(copy, "compute_at", {args.block, loop, true, -1}))
        places.push_back(static_cast<int64_t>(n));
    }
    args.decision = places[state.random()() % places.size()];
  }
  if (*args.decision == kInline) return state.new_place_ref(Place::kInline);
  if (*args.decision == kRoot) return state.new_place_ref(Place::kRoot);
  if (*args.decision < kInline || *args.decision >= static_cast<int64_t>(loops.size()))
    throw refuse(state, block, "decision {} is none of the {} loops around what reads block {}",
                 *args.decision, loops.size(), state.node(block).name)
        .help("-1 leaves the block where it is, -2 inlines it");
  return state.new_loop_ref(loops[static_cast<size_t>(*args.decision)]);
}

}  // namespace

extern constinit const PrimitiveInfo sample_compute_location_info =
    query<apply>("sample_compute_location", R"(
Draws a place for `block` among those where compute_at accepts it.

block     a block that others read
decision  the place, when it is already decided: -2 inlined, -1 where it is, else the number of a loop around the first
          block that reads it, 0 the outermost; a trace records what was drawn here
Returns   what compute_at takes as its loop
)");
}  // namespace tilewright::schedule
