// split: one loop becomes several.
#include "tilewright/schedule/core/loops.h"
#include "tilewright/schedule/core/primitive.h"
#include "tilewright/schedule/core/report.h"
#include "tilewright/schedule/core/stage.h"
#include "tilewright/tir/builder.h"

namespace tilewright::schedule {
namespace {

struct Args {
  LoopRef loop;
  std::vector<Factor> factors;
  bool preserve_unit_iters = true;
  bool disable_predication = false;
  static constexpr std::string_view kRequired[] = {"factors"};
  static constexpr auto fields() {
    return std::tuple{
        field<&Args::loop>("loop", "a serial loop without annotations"),
        field<&Args::factors>(
            "factors", "extents of the new loops, outermost first; at most one None, which is computed"),
        field<&Args::preserve_unit_iters>("preserve_unit_iters",
                                          "keep the variables of loops of extent 1 in block bindings"),
        field<&Args::disable_predication>(
            "disable_predication",
            "refuse factors that do not divide the extent, so that no guard is needed")};
  }
};

std::string product_text(const std::vector<int64_t>& factors) {
  std::string out;
  for (int64_t factor : factors) out += (out.empty() ? "" : " * ") + std::to_string(factor);
  return out;
}

// The extents of the new loops; one of them may have to be computed.
std::vector<PrimExpr> new_extents(const State& state, NodeId id, const Args& args) {
  const ForNode* loop = state.node(id).loop();
  const std::string& name = loop->loop_var->name_hint;
  if (args.factors.empty()) throw refuse(state, id, "no factors are given for loop {}", name);
  std::vector<int64_t> known;
  size_t unknown = args.factors.size();
  int64_t product = 1;
  for (size_t n = 0; n < args.factors.size(); ++n) {
    const std::optional<int64_t> factor = state[args.factors[n]];
    if (!factor) {
      if (unknown != args.factors.size())
        throw refuse(state, id, "more than one factor of loop {} is None", name);
      unknown = n;
      continue;
    }
    if (*factor < 1) throw refuse(state, id, "factor {} of loop {} is below 1", *factor, name);
    if (__builtin_mul_overflow(product, *factor, &product) || product > INT32_MAX)
      throw refuse(state, id, "the factors of loop {} multiply to more than {}", name, INT32_MAX);
    known.push_back(*factor);
  }
  const DataType dtype = loop->loop_var->dtype;
  std::vector<PrimExpr> extents;
  const std::optional<int64_t> extent = const_extent(loop);
  for (const Factor& factor : args.factors) {
    if (const std::optional<int64_t> value = state[factor])
      extents.push_back(make_const_int(dtype, *value));
    else if (extent)
      extents.push_back(make_const_int(dtype, (*extent + product - 1) / product));
    else
      extents.push_back(arith::simplify(ceildiv(loop->extent, make_const_int(dtype, product))));
  }
  if (unknown != args.factors.size()) return extents;
  if (!extent)
    throw refuse(state, id, "factors {} may not cover loop {} of extent {}", product_text(known), name,
                 text(loop->extent))
        .help("leave one factor None to have it computed");
  if (product < *extent)
    throw refuse(state, id, "factors {}{} do not cover loop {} of extent {}", product_text(known),
                 known.size() > 1 ? fmt::format(" = {}", product) : "", name, *extent)
        .help("leave one factor None to have it computed, e.g. factors=[None, {}]", known.back());
  return extents;
}

std::vector<LoopRef> apply(State& state, const Args& args) {
  const NodeId id = state[args.loop];
  const For loop(state.node(id).loop());
  require_plain(state, id);
  const std::vector<PrimExpr> extents = new_extents(state, id, args);
  // `analyzer` does not know that unit loops are always 0 if their variables are to be kept
  arith::Analyzer analyzer, bounds;
  bind_loops_above(state, id, analyzer);
  bind_loops_above(state, id, bounds);
  // i -> (i_0 * f_1 + i_1) * f_2 + ...
  std::vector<std::pair<Var, PrimExpr>> loops;
  PrimExpr value;
  for (size_t n = 0; n < extents.size(); ++n) {
    const Var var = make_var(fmt::format("{}_{}", loop->loop_var->name_hint, n), loop->loop_var->dtype);
    loops.emplace_back(var, extents[n]);
    const Range range = make_range(imm(0, var->dtype), extents[n]);
    if (!args.preserve_unit_iters || !is_one(extents[n])) analyzer.bind(var, range);
    bounds.bind(var, range);
    value = n == 0 ? PrimExpr(var) : value * extents[n] + var;
  }
  value = analyzer.simplify(value);
  const PrimExpr guard = bounds.simplify(value < loop->extent);
  if (args.disable_predication && !is_one(guard))
    throw refuse(state, id, "the factors do not divide loop {} of extent {}, so a guard would be needed",
                 loop->loop_var->name_hint, text(loop->extent));
  Stmt body = guarded(loop->body, PrimExpr(loop->loop_var) < loop->extent + loop->min, analyzer);
  if (is_one(guard)) body = loop->body;
  body = substitute_loops(body, {{loop->loop_var.get(), analyzer.simplify(value + loop->min)}}, analyzer);
  const NodeId scope = state.node(id).parent;
  state.replace(id, new_loops(loops, body, loop->span));
  std::vector<LoopRef> results;
  for (const auto& [var, extent] : loops) results.push_back(state.new_loop_ref(state.find(var.get(), scope)));
  return results;
}

}  // namespace

extern constinit const PrimitiveInfo split_info = primitive<apply>("split", R"(
Replaces a loop by nested loops, outermost first.

    for i in range(n):        for i_0 in range(f0):
        body(i)           ->      for i_1 in range(f1):
                                      body(i_0 * f1 + i_1)        where i_0 * f1 + i_1 < n

The guard is left out when f0 * f1 == n.  `loop` becomes stale.

loop                 a serial loop without annotations, of any extent
factors              at least one; every int >= 1; at most one None, computed as ceil(n / product of the others)
preserve_unit_iters  keep the variables of loops of extent 1 in block bindings
disable_predication  refuse factors that do not divide the extent
Returns              the new loops
Raises               UserError if the factors do not cover the loop, or the loop is bound, annotated or not serial.
Source               Halide's split (Ragan-Kelley et al., PLDI 2013)
)");
}  // namespace tilewright::schedule
