// bind: iterations of a loop run on the threads of a GPU.
#include <algorithm>
#include <map>

#include "tilewright/analysis/trip_count.h"
#include "tilewright/analysis/update.h"
#include "tilewright/ir/services.h"
#include "tilewright/schedule/core/loops.h"
#include "tilewright/schedule/core/primitive.h"
#include "tilewright/schedule/core/report.h"
#include "tilewright/schedule/legality/dependence.h"
#include "tilewright/schedule/transforms/loop_kind.h"
#include "tilewright/support/near.h"
#include "tilewright/tir/builder.h"
#include "tilewright/tir/uses.h"

namespace tilewright::schedule {
namespace {

struct Args {
  LoopRef loop;
  std::string thread_axis;
  static constexpr std::string_view kRequired[] = {"thread_axis"};
  static constexpr auto fields() {
    return std::tuple{
        field<&Args::loop>("loop", "a serial loop whose iterations are independent, or the terms of a sum"),
        field<&Args::thread_axis>("thread_axis", "\"blockIdx.x\", \"threadIdx.y\", \"vthread.z\", ...")};
  }
};

constexpr std::string_view kThreadAxes[] = {"blockIdx.x",  "blockIdx.y",  "blockIdx.z", "threadIdx.x",
                                            "threadIdx.y", "threadIdx.z", "vthread.x",  "vthread.y",
                                            "vthread.z",   "vthread"};

// True if the iterations of `loop` give the block terms of a sum.
bool adds_terms_of(const State& state, NodeId block, const ForNode* loop) {
  const BlockRealizeNode* realize = state.node(block).realize();
  for (size_t n = 0; n < realize->iter_values.size(); ++n) {
    if (realize->block->iter_vars[n]->iter_type == IterType::kReduce &&
        tir::uses(realize->iter_values[n], loop->loop_var.get()))
      return true;
  }
  return false;
}

// The threads of `outer` share the iterations of `inner` among them: each computes its part of what all use.
void require_same_threads(const State& state, NodeId inner, NodeId outer) {
  const ForNode *loop = state.node(inner).loop(), *around = state.node(outer).loop();
  const std::string &name = state.node(inner).name, &other = state.node(outer).name;
  if (tir::uses(loop->body, around->loop_var.get()))
    throw refuse(state, inner,
                 "what runs in loop {} depends on loop {}, which is bound to {} already: the threads could "
                 "not share it",
                 name, other, around->thread_tag);
  if (!ir::structural_equal(loop->extent, around->extent))
    throw refuse(state, inner, "loop {} has {} iterations, but loop {} around it is bound to {} and has {}",
                 name, text(loop->extent), other, around->thread_tag, text(around->extent))
        .help("split loop {} by {} first", name, text(around->extent));
  for (NodeId block : state.blocks_below(inner)) {
    if (adds_terms_of(state, block, loop)) continue;  // all threads get the sum
    for (const BufferRegion& write : state.node(block).block()->writes) {
      if (write->buffer->scope() == "local")
        throw refuse(state, block, "block {} writes {}, of which each thread of loop {} has its own",
                     state.node(block).name, write->buffer->name, other)
            .help("keep {} in scope \"shared\"", write->buffer->name);
    }
  }
}

bool is_kernel_axis(const std::string& tag) {
  return tag.starts_with("blockIdx.") || tag.starts_with("threadIdx.");
}

// The loops in `id` that are bound to blocks or threads.
void bound_loops(const State& state, NodeId id, std::vector<NodeId>* found) {
  const ForNode* loop = state.node(id).loop();
  if (loop && loop->for_kind == ForKind::kThreadBinding && is_kernel_axis(loop->thread_tag))
    found->push_back(id);
  for (NodeId child : state.node(id).children) bound_loops(state, child, found);
}

// All loops of a kernel over one axis run on the same threads.  `id` is about to be bound to `axis`.
void require_one_extent(const State& state, NodeId id, const std::string& axis) {
  if (!is_kernel_axis(axis)) return;
  NodeId kernel = id;  // the outermost bound loop around
  for (NodeId outer = state.node(id).parent; outer != kNoNode; outer = state.node(outer).parent) {
    const ForNode* loop = state.node(outer).loop();
    if (loop && loop->for_kind == ForKind::kThreadBinding && is_kernel_axis(loop->thread_tag)) kernel = outer;
  }
  std::vector<NodeId> loops;
  bound_loops(state, kernel, &loops);
  std::map<std::string, NodeId> first{{axis, id}};
  for (NodeId other : loops) {
    if (other == id) continue;
    const ForNode* loop = state.node(other).loop();
    const NodeId known = first.try_emplace(loop->thread_tag, other).first->second;
    const PrimExpr& extent = state.node(known).loop()->extent;
    if (analysis::are_equal_extents(loop->extent, extent)) continue;
    throw refuse(
        state, id, "loops {} and {} would be of one kernel, both over {}, but have {} and {} iterations",
        state.node(known).name, state.node(other).name, loop->thread_tag, text(extent), text(loop->extent))
        .help("split one of them so that both have as many iterations");
  }
}

// What keeps the first of equal terms needs them in order: threads then take consecutive ones.
void require_order_of_terms(const State& state, NodeId id) {
  for (NodeId block : state.blocks_below(id)) {
    if (!adds_terms_of(state, block, state.node(id).loop())) continue;
    const std::optional<analysis::Update> update = analysis::update_of(state.node(block).block());
    if (update && update->order == analysis::TermOrder::kKept && !is_outermost_of_sum(state, block, id))
      throw refuse(state, id,
                   "block {} keeps the first of equal terms, and the threads of loop {} would not have "
                   "consecutive ones",
                   state.node(block).name, state.node(id).name)
          .help("make loop {} the outermost of the loops of this sum", state.node(id).name);
  }
}

void apply(State& state, const Args& args) {
  const std::vector<std::string_view> known(std::begin(kThreadAxes), std::end(kThreadAxes));
  if (std::find(known.begin(), known.end(), args.thread_axis) == known.end())
    throw UserError("there is no thread axis \"{}\"", args.thread_axis)
        .help("{}", nearest_names_text(args.thread_axis, known));
  const NodeId id = state[args.loop];
  if (state.node(id).loop()->for_kind != ForKind::kThreadBinding) require_plain(state, id);
  if (const ForNode* loop = state.node(id).loop(); !is_zero(loop->min))
    throw refuse(state, id, "loop {} starts at {}, threads at 0", state.node(id).name, text(loop->min))
        .help("split it by 1 first: the outer loop starts at 0");
  for (NodeId outer = state.node(id).parent; outer != kNoNode; outer = state.node(outer).parent) {
    const ForNode* loop = state.node(outer).loop();
    if (loop && loop->for_kind == ForKind::kThreadBinding && loop->thread_tag == args.thread_axis &&
        !args.thread_axis.starts_with("vthread"))
      require_same_threads(state, id, outer);
  }
  require_one_extent(state, id, args.thread_axis);
  if (args.thread_axis.starts_with("threadIdx")) require_order_of_terms(state, id);
  require_independent_iterations(state, id, "bound to " + args.thread_axis, args.thread_axis);
  set_loop_kind(state, id, ForKind::kThreadBinding, args.thread_axis);
}

}  // namespace

extern constinit const PrimitiveInfo bind_info = primitive<apply>("bind", R"(
Runs the iterations of a loop on the blocks or threads of a GPU.

    for i in range(n):    ->    for i in T.thread_binding(n, thread="threadIdx.x"):

loop         serial and without annotations; stays valid. Inside of a loop that is bound to the same axis, with as many
             iterations, it runs on the same threads: each computes its part of what all of them use
thread_axis  "blockIdx.x", "threadIdx.x" (or .y, .z), "vthread.x". Over threadIdx the loop may have the terms of a sum,
             a product, a minimum or maximum (argmax too): the threads add their parts together, and all of them see
             the result when the block has ended
Raises       UserError if two iterations may touch the same element and one of them writes it, for an unknown axis, or
             if a loop around is bound to the same axis and has another number of iterations, or its variable is used inside.
)");
}  // namespace tilewright::schedule
