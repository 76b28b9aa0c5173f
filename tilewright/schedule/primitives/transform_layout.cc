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

// The least common multiple of the constants by which the map divides.
int64_t common_divisor(const IndexMap& map) {
  int64_t common = 1;
  walk(map, [&](const BinaryOpNode* node) {
    int64_t divisor;
    const bool divides = node->kind == Kind::kFloorDiv || node->kind == Kind::kFloorMod;
    if (divides && as_const_int(node->b, &divisor) && divisor > 0 && common < (1 << 24))
      common = std::lcm(common, divisor);
  });
  return common;
}

// The new shape: one more than the largest value of each new index; the map must tell elements apart.
std::vector<PrimExpr> new_shape(const State& state, NodeId block, const Buffer& buffer, const IndexMap& map) {
  const size_t ndim = buffer->shape.size();
  if (map->initial_indices.size() != ndim)
    throw refuse(state, block, "the map takes {} indices, but buffer {} has {} dimensions",
                 map->initial_indices.size(), buffer->name, ndim);
  arith::Analyzer analyzer;
  arith::IterRanges ranges, padded;
  const int64_t divisor = common_divisor(map);
  for (size_t n = 0; n < ndim; ++n) {
    const Var& var = map->initial_indices[n];
    const PrimExpr extent = cast(var->dtype, buffer->shape[n]);
    ranges.emplace_back(var, make_range(imm(0, var->dtype), extent));
    analyzer.bind(var, ranges.back().second);
    // what is one to one for more elements is so for these: 127 elements // 32 as 128
    int64_t number;
    const bool is_odd = as_const_int(extent, &number) && number % divisor != 0;
    const PrimExpr rounded = is_odd ? imm((number / divisor + 1) * divisor, var->dtype) : extent;
    padded.emplace_back(var, make_range(imm(0, var->dtype), rounded));
  }
  arith::Analyzer padded_analyzer;
  for (const auto& [var, range] : padded) padded_analyzer.bind(var, range);
  const arith::IterMap found = arith::detect_iter_map(map->final_indices, padded, bool_imm(true),
                                                      arith::IterMapLevel::kInjective, padded_analyzer);
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
