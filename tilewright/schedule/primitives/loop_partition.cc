// loop_partition: one loop becomes several, one after the other.
#include "tilewright/ir/rewrite.h"
#include "tilewright/schedule/core/access.h"
#include "tilewright/schedule/core/fresh.h"
#include "tilewright/schedule/core/loops.h"
#include "tilewright/schedule/core/primitive.h"
#include "tilewright/schedule/core/report.h"
#include "tilewright/schedule/transforms/loop_kind.h"
#include "tilewright/tir/builder.h"

namespace tilewright::schedule {
namespace {

struct Args {
  LoopRef loop;
  std::vector<Factor> factors;
  bool preserve_unit_iters = true;
  static constexpr std::string_view kRequired[] = {"factors"};
  static constexpr auto fields() {
    return std::tuple{
        field<&Args::loop>("loop", "a serial loop without annotations"),
        field<&Args::factors>(
            "factors",
            "lengths of the parts, in order; at most one None, which is computed; what they "
            "leave is a part of its own"),
        field<&Args::preserve_unit_iters>("preserve_unit_iters",
                                          "keep the variables of parts of length 1 in block bindings")};
  }
};

// The lengths of the parts of a loop of constant extent.
std::vector<int64_t> part_lengths(const State& state, NodeId id, std::vector<int64_t> lengths, size_t unknown,
                                  int64_t extent) {
  int64_t sum = 0;
  for (int64_t length : lengths) {
    if (__builtin_add_overflow(sum, length, &sum)) sum = INT64_MAX;
  }
  const bool is_too_long = unknown == lengths.size() ? sum > extent : sum >= extent;
  if (is_too_long)
    throw refuse(state, id, "parts of together {} do not fit into loop {} of extent {}{}", sum,
                 state.node(id).name, extent,
                 unknown == lengths.size() ? "" : ", which leaves nothing for None");
  if (unknown != lengths.size())
    lengths[unknown] = extent - sum;
  else if (sum < extent)
    lengths.push_back(extent - sum);
  return lengths;
}

// Where the extent is not constant, the parts take what there is: min(2, n), min(66, n) - min(2, n), ...,
// n - min(66, n).
std::vector<PrimExpr> parts_of_any(const State& state, NodeId id, const std::vector<int64_t>& lengths,
                                   size_t unknown, arith::Analyzer& analyzer) {
  const PrimExpr& extent = state.node(id).loop()->extent;
  const DataType dtype = extent->dtype;
  if (unknown + 1 < lengths.size())
    throw refuse(state, id, "loop {} has extent {}, which is not constant: only the last factor may be None",
                 state.node(id).name, text(extent));
  const int64_t most = dtype.bits >= 64 ? INT64_MAX : (int64_t{1} << (dtype.bits - 1)) - 1;
  std::vector<PrimExpr> parts;
  PrimExpr start = make_const_int(dtype, 0);
  int64_t sum = 0;
  for (size_t n = 0; n < lengths.size() && n != unknown; ++n) {
    if (__builtin_add_overflow(sum, lengths[n], &sum) || sum > most)
      throw refuse(state, id, "factors of loop {} are together more than {} holds", state.node(id).name,
                   dtype.str());
    const PrimExpr end = analyzer.simplify(min(make_const_int(dtype, sum), extent));
    parts.push_back(end - start);
    start = end;
  }
  parts.push_back(extent - start);
  return parts;
}

std::vector<PrimExpr> part_extents(const State& state, NodeId id, const Args& args,
                                   arith::Analyzer& analyzer) {
  const std::string& name = state.node(id).name;
  if (args.factors.empty()) throw refuse(state, id, "no factors are given for loop {}", name);
  std::vector<int64_t> lengths;
  size_t unknown = args.factors.size();
  for (size_t n = 0; n < args.factors.size(); ++n) {
    const std::optional<int64_t> factor = state[args.factors[n]];
    if (!factor && unknown != args.factors.size())
      throw refuse(state, id, "more than one factor of loop {} is None", name);
    if (!factor) unknown = n;
    if (factor && *factor < 1) throw refuse(state, id, "factor {} of loop {} is below 1", *factor, name);
    lengths.push_back(factor.value_or(0));
  }
  const std::optional<int64_t> extent = const_extent(state.node(id).loop());
  if (!extent) return parts_of_any(state, id, lengths, unknown, analyzer);
  std::vector<PrimExpr> parts;
  for (int64_t length : part_lengths(state, id, std::move(lengths), unknown, *extent))
    parts.push_back(make_const_int(state.node(id).loop()->loop_var->dtype, length));
  return parts;
}

// A sum that starts in one part and goes on in another would be initialised where only the first may be.
void require_no_init(const State& state, NodeId id) {
  const ForNode* loop = state.node(id).loop();
  for (NodeId block : state.blocks_below(id)) {
    const BlockRealizeNode* realize = state.node(block).realize();
    for (size_t n = 0; n < realize->iter_values.size(); ++n) {
      const IterVar& axis = realize->block->iter_vars[n];
      if (realize->block->init && axis->iter_type != IterType::kSpatial &&
          uses(realize->iter_values[n], loop->loop_var.get()))
        throw refuse(state, block, "loop {} reduces in block {}, which has an init", state.node(id).name,
                     state.node(block).name)
            .help("give the init a block of its own with decompose_reduction first");
    }
  }
}

// Axes that are the loop take the values of the part alone, unless they have fewer than the loop.
Stmt with_domain(const Stmt& body, const ForNode* part, BlockMap* forwarded, arith::Analyzer& analyzer) {
  return rewrite(body, [&](auto& self, const BlockRealizeNode* realize) -> Stmt {
    const BlockRealize inner = self.children(realize);
    std::vector<IterVar> axes = inner->block->iter_vars;
    bool is_changed = false;
    for (size_t n = 0; n < axes.size(); ++n) {
      if (inner->iter_values[n].as<VarNode>() != part->loop_var.get()) continue;
      const Range& domain = axes[n]->dom;
      if (!analyzer.can_prove(domain->min <= part->min) ||
          !analyzer.can_prove(part->min + part->extent <= domain->min + domain->extent))
        continue;
      is_changed = true;
      axes[n] = with(axes[n], [&](IterVarNode& axis) { axis.dom = make_range(part->min, part->extent); });
    }
    if (!is_changed) return inner;
    const Block block = with(inner->block, [&](BlockNode& n) { n.iter_vars = axes; });
    (*forwarded)[realize->block.get()] = block;
    return with(inner, [&](BlockRealizeNode& n) { n.block = block; });
  });
}

std::vector<LoopRef> apply(State& state, const Args& args) {
  const NodeId id = state[args.loop];
  require_plain(state, id);
  require_no_init(state, id);
  const For loop(state.node(id).loop());
  const DataType dtype = loop->loop_var->dtype;
  arith::Analyzer analyzer;
  bind_loops_above(state, id, analyzer);
  const std::vector<PrimExpr> extents = part_extents(state, id, args, analyzer);
  std::vector<Stmt> parts;
  std::vector<Var> vars;
  BlockMap forwarded;
  PrimExpr start = loop->min;
  for (size_t n = 0; n < extents.size(); ++n) {
    const PrimExpr& extent = extents[n];
    vars.push_back(make_var(fmt::format("{}_{}", loop->loop_var->name_hint, n), dtype));
    const PrimExpr end = analyzer.simplify(start + extent);
    const auto scope = analyzer.enter();  // the others may be empty
    if (!args.preserve_unit_iters || !is_one(extent)) analyzer.bind(vars[n], make_range(start, extent));
    Stmt body = substitute_loops(loop->body, {{loop->loop_var.get(), vars[n]}}, analyzer);
    const For part = with(loop, [&](ForNode& changed) {
      changed.min = start, changed.extent = extent, changed.loop_var = vars[n];
    });
    BlockMap changed;
    body = with_domain(body, part.get(), &changed, analyzer);
    // the first part goes on with the blocks and loops that there are
    if (n > 0)
      body = fresh_copy(body, fmt::format("_{}", n));
    else
      forwarded = changed;
    parts.push_back(with(part, [&](ForNode& whole) { whole.body = body; }));
    start = end;
  }
  const NodeId scope = state.node(id).parent;
  // a buffer that only one loop inside used is used by a loop of each part now
  std::vector<Buffer> buffers;
  for (const Access& access : accesses_below(state, id)) buffers.push_back(access.buffer);
  State after = state;
  after.replace(id, seq(std::move(parts)), forwarded);
  require_still_independent(after, after.node(scope).is_loop() ? after.scope_of(scope) : scope, buffers);
  state = std::move(after);
  std::vector<LoopRef> results;
  for (const Var& var : vars) results.push_back(state.new_loop_ref(state.find(var.get(), scope)));
  return results;
}

}  // namespace

extern constinit const PrimitiveInfo loop_partition_info = primitive<apply>("loop_partition", R"(
Replaces a loop by several loops, one after the other, each of which runs over a part of it.

    for i in range(n):        for i_0 in range(f0):
        body(i)           ->      body(i_0)
                              for i_1 in range(f0, f0 + f1):
                                  body(i_1)
                              for i_2 in range(f0 + f1, n):
                                  body(i_2)                                     loop_partition(i, [f0, f1])

Axes that are the loop get the domain of their part.  The blocks inside of the first part are the old ones; those of part n are copies, with _n at the end of their names.  The
parts stand side by side, in no block of their own.  `loop` becomes stale.

loop                 a serial loop without annotations; of an extent that is not constant the parts take what there is of it
factors              at least one; every int >= 1; at most one None, at the end where the extent is not constant; what they leave
                     of the loop is a part of its own
preserve_unit_iters  keep the variables of parts of length 1 in block bindings
Returns              the new loops
Raises               UserError if the parts are longer than the loop, if a block that starts a sum reduces along it, or if the
                     loop is bound, annotated or not serial.
)");
}  // namespace tilewright::schedule
