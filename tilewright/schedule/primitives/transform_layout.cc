// transform_layout: the elements of a buffer are stored in another order.
#include <unordered_set>

#include "tilewright/analysis/regions.h"
#include "tilewright/ir/walk.h"
#include "tilewright/schedule/core/edit.h"
#include "tilewright/schedule/core/loops.h"
#include "tilewright/schedule/core/primitive.h"
#include "tilewright/schedule/core/report.h"
#include "tilewright/schedule/core/stage.h"
#include "tilewright/schedule/legality/layout.h"
#include "tilewright/schedule/transforms/buffers.h"
#include "tilewright/schedule/transforms/inline.h"
#include "tilewright/schedule/transforms/loop_kind.h"
#include "tilewright/tir/builder.h"

namespace tilewright::schedule {
namespace {

struct Args {
  BlockRef block;
  BufferArg buffer;
  IndexMap index_map;
  std::optional<ObjectRef> pad_value;
  bool assume_injective_transform = false;
  static constexpr auto fields() {
    return std::tuple{
        field<&Args::block>("block", "a block that accesses the buffer"),
        field<&Args::buffer>("buffer", "its name, (\"read\" | \"write\", number) or itself"),
        field<&Args::index_map>("index_map", "from the indices of an element to its new indices, one to one"),
        field<&Args::pad_value>("pad_value",
                                "what new elements hold: a number, or a function of the new indices"),
        field<&Args::assume_injective_transform>("assume_injective_transform",
                                                 "do not ask for a proof that the map is one to one")};
  }
};

// The pad value at the new indices, in the buffer's dtype.
PrimExpr pad_value_at(const State& state, NodeId block, const ObjectRef& value, const Buffer& buffer,
                      const std::vector<PrimExpr>& indices) {
  PrimExpr result;
  if (const auto* map = value.as<IndexMapNode>()) {
    if (map->initial_indices.size() != indices.size() || map->final_indices.size() != 1)
      throw refuse(state, block, "the pad value takes {} indices and gives {} values instead of {} and 1",
                   map->initial_indices.size(), map->final_indices.size(), indices.size());
    arith::Analyzer analyzer;
    result = apply_map(IndexMap(map), indices, analyzer)[0];
  } else if (is<PrimExprNode>(value) && !is<StringImmNode>(value)) {
    result = ref_as<PrimExprNode>(value);
  } else {
    throw refuse(state, block, "the pad value {} is neither a number nor a function", text(value));
  }
  return cast(buffer->dtype, result);
}

// A nest over the elements of the new buffer that hold no old element: it stores the pad value there or, for
// an input, assumes that it is there.
Stage make_pad(const State& state, NodeId where, const Args& args, const MappedSpace& space,
               const Buffer& before, const Buffer& after, bool is_input) {
  std::vector<std::pair<Var, PrimExpr>> loops;
  std::vector<IterVar> axes;
  std::vector<PrimExpr> values, indices;
  arith::Analyzer analyzer;
  for (size_t n = 0; n < after->shape.size(); ++n) {
    const Range range = make_range(imm(0, after->shape[n]->dtype), after->shape[n]);
    loops.emplace_back(make_var(fmt::format("ax{}", n), after->shape[n]->dtype), after->shape[n]);
    analyzer.bind(loops.back().first, range);
    axes.push_back(IterVarNode::make(make_var(fmt::format("v{}", n), after->shape[n]->dtype), range,
                                     IterType::kSpatial, std::string()));
    values.push_back(loops.back().first);
    indices.push_back(axes.back()->var);
  }
  PrimExpr is_element = bool_imm(true);
  const std::vector<PrimExpr> old = inverse_of(state, where, args.index_map, space, values);
  for (size_t n = 0; n < old.size(); ++n) is_element = logical_and(is_element, old[n] < before->shape[n]);
  const PrimExpr is_padding = analyzer.simplify(logical_not(is_element));
  if (is_const_int(is_padding, 0)) return {};
  const PrimExpr value = pad_value_at(state, where, *args.pad_value, after, indices);
  Stmt body =
      is_input ? Stmt(EvaluateNode::make(call(kBoolType, "tir.assume", {equal(load(after, indices), value)})))
               : store(after, value, indices);
  const Block block = new_block(after->name + (is_input ? "_assumptions" : "_pad"), axes, Stmt(), body,
                                span_of(state.node(where).realize()->block));
  return new_stage(block, values, is_padding, loops);
}

// The pad nest stands after what writes the buffer, or at the start for a buffer that nothing writes.
void insert_pad(State& state, NodeId scope, const Buffer& buffer, const Stmt& stmt) {
  const std::vector<NodeId> writers = writers_of(state, scope, buffer);
  const NodeId place =
      child_towards(state, scope, writers.empty() ? state.child_blocks(scope)[0] : writers.back());
  Edit edit(state);
  const Stmt there = state.node(place).stmt;
  edit.replace(place, writers.empty() ? seq({stmt, there}) : seq({there, stmt}));
  edit.commit(state, scope);
}

// The ranges of the variables around accesses to the buffer, in program order, which decides the order of
// terms in sums.
arith::IterRanges ranges_around(const State& state, NodeId root, const Buffer& buffer) {
  std::vector<NodeId> users = {root};
  const auto all_below = [&](auto& self, NodeId id) -> void {
    for (NodeId child : state.node(id).children) users.push_back(child), self(self, child);
  };
  if (state.regions_are_complete)
    for (NodeId id : with_ways_to(state, root, state.users_of(buffer, root))) users.push_back(id);
  else
    all_below(all_below, root);
  arith::IterRanges ranges;
  for (NodeId id : users) {
    if (const BlockNode* block = state.node(id).block()) {
      for (const IterVar& axis : block->iter_vars) ranges.emplace_back(axis->var, axis->dom);
    } else {
      const ForNode* loop = state.node(id).loop();
      ranges.emplace_back(loop->loop_var, make_range(loop->min, loop->extent));
    }
  }
  return ranges;
}

// The indices of an access in the new layout, simplified by `ranges`, those of the variables around it.
std::vector<PrimExpr> moved(const IndexMap& map, const std::vector<PrimExpr>& indices,
                            const arith::IterRanges& ranges) {
  std::unordered_set<const VarNode*> around;  // in the indices, and in the ranges of such
  const auto add = [&](const PrimExpr& expr) { walk(expr, [&](const VarNode* var) { around.insert(var); }); };
  for (const PrimExpr& index : indices) add(index);
  for (auto entry = ranges.rbegin(); entry != ranges.rend(); ++entry) {
    if (around.count(entry->first.get())) add(entry->second->min), add(entry->second->extent);
  }
  arith::Analyzer analyzer;
  for (const auto& [var, range] : ranges) {
    if (around.count(var.get())) analyzer.bind(var, range);
  }
  return apply_map(map, indices, analyzer);
}

void apply(State& state, Args& given) {
  const NodeId block = state[given.block];
  const WrittenBuffer target = allocated(state, block, require_buffer(state, block, &given.buffer).buffer);
  const Buffer& buffer = target.buffer;
  const NodeId scope = target.owner == kNoNode ? target.root : target.owner;
  require_element_access(state, scope, buffer);
  if (!buffer->strides.empty() || (buffer->elem_offset && !is_zero(buffer->elem_offset)))
    throw refuse(state, block, "buffer {} has strides or an offset of its own", buffer->name);
  for (NodeId writer : writers_of(state, scope, buffer)) require_unaligned(state, writer, buffer);
  Args args = given;
  args.index_map = fit_map(given.index_map, buffer->shape);
  const MappedSpace space = require_one_to_one(state, block, args.index_map, buffer->shape, buffer->name,
                                               args.assume_injective_transform);
  const Buffer changed = with(buffer, [&](BufferNode& n) {
    n.shape = space.shape;
    n.data = pointer_var(n.data->name_hint, n.dtype, n.scope());
    n.axis_separators.clear();
  });
  Stage pad;
  if (args.pad_value) {
    const bool is_input = target.owner == kNoNode && writers_of(state, scope, buffer).empty();
    pad = make_pad(state, block, args, space, buffer, changed, is_input);
  }
  const arith::IterRanges ranges = ranges_around(state, target.root, buffer);
  State after = state;
  replace_allocated_buffer(after, target, changed, [&](const std::vector<PrimExpr>& indices) {
    return moved(args.index_map, indices, ranges);
  });
  if (pad.stmt) {
    insert_pad(after, scope, changed, pad.stmt);
    require_still_independent(after, scope, {changed});
  }
  state = std::move(after);
}

}  // namespace

extern constinit const PrimitiveInfo transform_layout_info = primitive<apply>("transform_layout", R"(
Stores the elements of a buffer in another order: every access gets new indices.

    B = T.alloc_buffer((n,))           B = T.alloc_buffer((n // 4, 4))
    B[vi] = A[vi]                ->    B[vi // 4, vi % 4] = A[vi]         transform_layout(B, "B", lambda i: (i // 4, i % 4))

block       a block that accesses the buffer; stays valid
buffer      its name, ("read" | "write", number) in the block's lists, or the buffer itself
index_map   from the indices of an element to its new indices; must be one to one on the buffer
pad_value   what elements hold that the old buffer had not, where an extent is not divisible: a number, or a function of the
            new indices; a block after the writers stores it; of a parameter that is only read it is assumed.  None: nothing
            writes or reads them
assume_injective_transform  do not ask for a proof that the map is one to one
Raises      UserError if the map puts two elements in one place, or if the buffer is also used through a view or its address.

The buffer may be a parameter of the function; its callers must then pass the new layout.
)");
}  // namespace tilewright::schedule
