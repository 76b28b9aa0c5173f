// cache_index: indices that a block computes are computed before, once for each value.
#include <algorithm>

#include "tilewright/analysis/regions.h"
#include "tilewright/ir/rewrite.h"
#include "tilewright/ir/services.h"
#include "tilewright/ir/walk.h"
#include "tilewright/schedule/core/edit.h"
#include "tilewright/schedule/core/loops.h"
#include "tilewright/schedule/core/primitive.h"
#include "tilewright/schedule/core/stage.h"
#include "tilewright/schedule/legality/block_checks.h"
#include "tilewright/tir/builder.h"

namespace tilewright::schedule {
namespace {

struct Args {
  BlockRef block;
  std::string storage_scope;
  int64_t cse_thresh = 0;
  static constexpr std::string_view kRequired[] = {"storage_scope"};
  static constexpr auto fields() {
    return std::tuple{
        field<&Args::block>("block", "a block that computes indices"),
        field<&Args::storage_scope>("storage_scope", "of the new buffers: \"global\", \"local\", ..."),
        field<&Args::cse_thresh>("cse_thresh", "only indices that occur more often than this")};
  }
};

struct Index {
  PrimExpr value;
  int64_t count = 0;
  std::vector<IterVar> axes;  // of the block, that the index depends on
  Buffer buffer;
  Block block;
};

// The axes that an index depends on; nothing if it depends on anything else, or is not computed at all.
std::optional<std::vector<IterVar>> axes_of(const BlockNode* block, const PrimExpr& index) {
  if (is<VarNode>(index) || is<IntImmNode>(index) || !index->dtype.is_scalar()) return std::nullopt;
  bool is_plain = true;
  std::vector<IterVar> axes;
  for (const IterVar& axis : block->iter_vars) {
    if (uses(index, axis->var.get())) axes.push_back(axis);
  }
  walk(
      index,
      [&](const VarNode* var) {
        is_plain &= std::any_of(axes.begin(), axes.end(),
                                [&](const IterVar& axis) { return axis->var.get() == var; });
      },
      [&](const BufferLoadNode*) { is_plain = false; }, [&](const CallNode*) { is_plain = false; });
  if (!is_plain || axes.empty()) return std::nullopt;
  return axes;
}

// The running value of a sum is read where it is written: such places stay as they are.
bool writes(const BlockNode* block, const Buffer& buffer) {
  return std::any_of(block->writes.begin(), block->writes.end(),
                     [&](const BufferRegion& write) { return write->buffer == buffer; });
}

std::vector<Index> indices_of(const BlockNode* block) {
  std::vector<Index> found;
  auto meet = [&](const std::vector<PrimExpr>& indices) {
    for (const PrimExpr& index : indices) {
      const auto axes = axes_of(block, index);
      if (!axes) continue;
      auto known = std::find_if(found.begin(), found.end(),
                                [&](const Index& each) { return structural_equal(each.value, index); });
      if (known == found.end()) known = found.insert(found.end(), {index, 0, *axes, nullptr, nullptr});
      ++known->count;
    }
  };
  walk(
      block->body,
      [&](const BufferLoadNode* load) {
        if (!writes(block, load->buffer)) meet(load->indices);
      },
      [&](const BlockNode*) { return false; });
  return found;
}

// for ax0, ...: with T.block("index_n"): index_var_n[v0, ...] = value
Stmt make_stage(Index* index, size_t number, const std::string& storage_scope, const Span& written) {
  std::vector<PrimExpr> shape, bindings, place;
  std::vector<IterVar> axes;
  std::vector<std::pair<Var, PrimExpr>> loops;
  Substitution values;
  for (const IterVar& axis : index->axes) {
    shape.push_back(arith::simplify(axis->dom->min + axis->dom->extent));
    const Var loop_var = make_var(fmt::format("ax{}", loops.size()), axis->var->dtype);
    loops.emplace_back(loop_var, axis->dom->extent);
    const Var var = make_var(fmt::format("v{}", axes.size()), axis->var->dtype);
    axes.push_back(IterVarNode::make(var, axis->dom, IterType::kSpatial, std::string()));
    bindings.push_back(is_zero(axis->dom->min) ? PrimExpr(loop_var) : axis->dom->min + loop_var);
    values[axis->var.get()] = var;
    place.push_back(var);
  }
  index->buffer = make_buffer(fmt::format("index_var_{}", number), shape, index->value->dtype, storage_scope);
  index->block = new_block(fmt::format("index_{}", number), axes, Stmt(),
                           store(index->buffer, substitute(index->value, values), place), written);
  return new_stage(index->block, bindings, bool_imm(true), loops).stmt;
}

Block with_indices(const Block& block, const std::vector<Index>& indices) {
  auto put = [&](const std::vector<PrimExpr>& before) {
    std::vector<PrimExpr> after;
    for (const PrimExpr& expr : before) {
      const auto known = std::find_if(indices.begin(), indices.end(),
                                      [&](const Index& each) { return structural_equal(each.value, expr); });
      std::vector<PrimExpr> axes;
      if (known != indices.end()) {
        for (const IterVar& axis : known->axes) axes.push_back(axis->var);
      }
      after.push_back(known == indices.end() ? expr : load(known->buffer, axes));
    }
    return after;
  };
  const Stmt body = rewrite(
      block->body,
      [&](auto& self, const BufferLoadNode* node) -> PrimExpr {
        const BufferLoad inner = self.children(node);
        if (writes(block.get(), node->buffer)) return inner;
        return with(inner, [&](BufferLoadNode& n) { n.indices = put(n.indices); });
      },
      [&](auto&, const BlockNode* inner) -> Stmt { return Stmt(inner); });
  const Block changed = with(block, [&](BlockNode& n) { n.body = body; });
  const analysis::AccessRegions regions = analysis::access_regions(changed);
  return with(changed, [&](BlockNode& n) { n.reads = regions.reads, n.writes = regions.writes; });
}

std::vector<BlockRef> apply(State& state, const Args& args) {
  const NodeId block = state[args.block], scope = require_scope(state, block);
  const BlockRealizeNode* realize = state.node(block).realize();
  std::vector<Index> indices = indices_of(realize->block.get());
  std::erase_if(indices, [&](const Index& index) { return index.count <= args.cse_thresh; });
  if (indices.empty()) return {};
  std::vector<Stmt> stages;
  for (size_t n = 0; n < indices.size(); ++n)
    stages.push_back(make_stage(&indices[n], n, args.storage_scope, realize->block->span));
  const Block changed = with_indices(realize->block, indices);
  const NodeId child = child_towards(state, scope, block);
  Edit inside(state), edit(state);
  inside.replace_block(block, with(realize, [&](BlockRealizeNode& n) { n.block = changed; }));
  edit.forward(realize->block.get(), changed);
  stages.push_back(inside.build(child));
  edit.replace(child, seq(stages));
  edit.edit_block(scope, [&](BlockNode& n) {
    for (const Index& index : indices) n.alloc_buffers.push_back(index.buffer);
  });
  edit.commit(state, scope);
  std::vector<BlockRef> results;
  for (const Index& index : indices)
    results.push_back(state.new_block_ref(state.find(index.block.get(), scope)));
  return results;
}

}  // namespace

extern constinit const PrimitiveInfo cache_index_info = primitive<apply>("cache_index", R"(
Computes the indices that a block computes before it, once for each value of the axes that they depend on.

    B[vi] = A[vi // 4 % 20]    ->    index_var_0[v0] = v0 // 4 % 20
                                     B[vi] = A[index_var_0[vi]]                        cache_index(B, "global")

block          its handle stays
storage_scope  of the new buffers
cse_thresh     only indices that occur more often than this; default 0: all
Returns        the blocks that compute indices; none, and the program stays as it is, if there is nothing to compute
)");
}  // namespace tilewright::schedule
