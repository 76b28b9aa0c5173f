// transform_layout: the elements of a buffer are stored in another order.
#include <numeric>

#include "tilewright/arith/int_set.h"
#include "tilewright/ir/walk.h"
#include "tilewright/schedule/buffers.h"
#include "tilewright/schedule/inline.h"
#include "tilewright/schedule/loops.h"
#include "tilewright/schedule/primitive.h"
#include "tilewright/schedule/report.h"
#include "tilewright/tir/builder.h"

namespace tilewright::schedule {
namespace {

// Digits that repeat later than this are not looked for.
constexpr int64_t kMaxPeriod = 1 << 20;

struct Args {
  BlockRef block;
  std::string buffer_index_type = "write";
  int64_t buffer_index = 0;
  IndexMap index_map;
  bool allow_parameter = false;
  static constexpr std::string_view kRequired[] = {"buffer_index_type", "buffer_index"};
  static constexpr auto fields() {
    return std::tuple{
        field<&Args::block>("block", "a block that accesses the buffer"),
        field<&Args::buffer_index_type>("buffer_index_type",
                                        "\"read\" or \"write\": in which list of the block the buffer is"),
        field<&Args::buffer_index>("buffer_index", "its place in that list"),
        field<&Args::index_map>("index_map", "from the indices of an element to its new indices, one to one"),
        field<&Args::allow_parameter>(
            "allow_parameter", "the buffer may be a parameter: callers must then pass the new layout")};
  }
};

// How often the digits of `var` in an index repeat: 8 for (i // 4) % 2, 1 for what only adds and multiplies.
int64_t period_of(const PrimExpr& index, const VarNode* var) {
  int64_t period = 1;
  const auto meet = [&](const PrimExpr& dividend, const PrimExpr& divisor) {
    int64_t value = 0;
    bool uses_var = false;
    walk(dividend, [&](const VarNode* used) { uses_var = uses_var || used == var; });
    if (uses_var && as_const_int(divisor, &value) && value > 0 && value <= kMaxPeriod / period)
      period *= value;
  };
  walk(
      index, [&](const FloorDivNode* op) { meet(op->a, op->b); },
      [&](const FloorModNode* op) { meet(op->a, op->b); });
  return period;
}

// The index space, enlarged so that the map cuts it into equal parts: a map that tells the elements of the
// larger space apart also does so for those that exist.
arith::IterRanges padded(const arith::IterRanges& ranges, const IndexMap& map) {
  arith::IterRanges result;
  for (const auto& [var, range] : ranges) {
    int64_t period = 1;
    for (const PrimExpr& index : map->final_indices) period = std::lcm(period, period_of(index, var.get()));
    const PrimExpr unit = make_const_int(var->dtype, std::min(period, kMaxPeriod));
    result.emplace_back(var, make_range(range->min, arith::simplify(ceildiv(range->extent, unit) * unit)));
  }
  return result;
}

arith::IterMap detect_injective(const IndexMap& map, const arith::IterRanges& ranges,
                                arith::Analyzer& analyzer) {
  arith::IterMap found = arith::detect_iter_map(map->final_indices, ranges, bool_imm(true),
                                                arith::IterMapLevel::kInjective, analyzer);
  if (found) return found;
  arith::Analyzer larger;
  const arith::IterRanges space = padded(ranges, map);
  for (const auto& [var, range] : space) larger.bind(var, range);
  arith::IterMap in_space = arith::detect_iter_map(map->final_indices, space, bool_imm(true),
                                                   arith::IterMapLevel::kInjective, larger);
  return in_space ? std::move(in_space) : std::move(found);
}

// The new shape: one more than the largest value of each new index; the map must tell elements apart.
std::vector<PrimExpr> new_shape(const State& state, NodeId block, const Buffer& buffer, const IndexMap& map) {
  const size_t ndim = buffer->shape.size();
  if (map->initial_indices.size() != ndim)
    throw refuse(state, block, "the map takes {} indices, but buffer {} has {} dimensions",
                 map->initial_indices.size(), buffer->name, ndim);
  arith::Analyzer analyzer;
  arith::IterRanges ranges;
  for (size_t n = 0; n < ndim; ++n) {
    const Var& var = map->initial_indices[n];
    ranges.emplace_back(var, make_range(imm(0, var->dtype), cast(var->dtype, buffer->shape[n])));
    analyzer.bind(var, ranges.back().second);
  }
  const arith::IterMap found = detect_injective(map, ranges, analyzer);
  if (!found)
    throw refuse(state, block, "the map may put two elements of {} in one place: {}", buffer->name,
                 found.reason);
  const arith::Domains domains = arith::domains_of(ranges);
  std::vector<PrimExpr> shape;
  for (const PrimExpr& index : map->final_indices) {
    const arith::Interval values = arith::eval_interval(index, domains, analyzer);
    if (!values.is_bounded() || !analyzer.can_prove(values.min >= imm(0, index->dtype)))
      throw refuse(state, block, "index {} of the map may be negative", text(index));
    shape.push_back(analyzer.simplify(values.max + 1));
  }
  return shape;
}

void apply(State& state, const Args& args) {
  const NodeId block = state[args.block];
  if (args.buffer_index_type != "read" && args.buffer_index_type != "write")
    throw refuse(state, block, "buffer_index_type is \"{}\", but must be \"read\" or \"write\"",
                 args.buffer_index_type);
  const WrittenBuffer target =
      require_written_buffer(state, block, args.buffer_index, args.buffer_index_type == "read");
  const Buffer& buffer = target.buffer;
  if (target.owner == kNoNode && !args.allow_parameter)
    throw refuse(state, block, "buffer {} is a parameter of the function", buffer->name)
        .help(
            "pass allow_parameter=True if all callers will use the new layout, or transform a cache_read or "
            "cache_write of it");
  require_element_access(state, target.owner == kNoNode ? target.root : target.owner, buffer);
  if (!buffer->strides.empty() || buffer->elem_offset)
    throw refuse(state, block, "buffer {} has strides or an offset of its own", buffer->name);
  const Buffer changed = with(buffer, [&](BufferNode& n) {
    n.shape = new_shape(state, block, buffer, args.index_map);
    n.data = pointer_var(n.data->name_hint, n.dtype, n.scope());
    n.axis_separators.clear();
  });
  arith::Analyzer analyzer;
  for (const State::Func& func : state.funcs()) {
    if (func.root != target.root) continue;
    for (const auto& [key, id] : func.index) {
      if (const BlockNode* each = state.node(id).block()) {
        for (const IterVar& axis : each->iter_vars) analyzer.bind(axis->var, axis->dom);
      } else {
        const ForNode* loop = state.node(id).loop();
        analyzer.bind(loop->loop_var, make_range(loop->min, loop->extent));
      }
    }
  }
  replace_allocated_buffer(state, target, changed, [&](const std::vector<PrimExpr>& indices) {
    Substitution values;
    for (size_t n = 0; n < indices.size(); ++n) {
      const Var& var = args.index_map->initial_indices[n];
      values[var.get()] = cast(var->dtype, indices[n]);
    }
    std::vector<PrimExpr> result;
    for (const PrimExpr& index : args.index_map->final_indices)
      result.push_back(analyzer.simplify(substitute(index, values)));
    return result;
  });
}

}  // namespace

extern constinit const PrimitiveInfo transform_layout_info = primitive<apply>("transform_layout", R"(
Stores the elements of a buffer in another order: every access gets new indices.

    B = T.alloc_buffer((n,))           B = T.alloc_buffer((n // 4, 4))
    B[vi] = A[vi]                ->    B[vi // 4, vi % 4] = A[vi]         transform_layout(B, "write", 0, lambda i: (i // 4, i % 4))

block              a block that accesses the buffer
buffer_index_type  "read" or "write": in which list of the block the buffer is
buffer_index       its place in that list
index_map          from the indices of an element to its new indices; must be one to one on the buffer
allow_parameter    the buffer may be a parameter of the function, whose callers must then pass the new layout
Raises             UserError if the map puts two elements in one place, if the buffer is a parameter without permission, or if
                   it is also used through a view or its address.

Where an extent is not divisible the new buffer has elements that nothing writes or reads.
)");
}  // namespace tilewright::schedule
