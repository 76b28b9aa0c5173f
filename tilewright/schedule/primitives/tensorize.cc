// tensorize: a tile that computes what a tensor intrinsic describes is done by the intrinsic.
#include <algorithm>

#include "tilewright/analysis/regions.h"
#include "tilewright/ir/services.h"
#include "tilewright/ir/walk.h"
#include "tilewright/schedule/core/edit.h"
#include "tilewright/schedule/core/loops.h"
#include "tilewright/schedule/core/primitive.h"
#include "tilewright/schedule/core/report.h"
#include "tilewright/schedule/intrinsics/tensor_intrin.h"
#include "tilewright/schedule/transforms/blockize.h"
#include "tilewright/tir/builder.h"
#include "tilewright/tir/strides.h"
#include "tilewright/tir/text.h"

namespace tilewright::schedule {
namespace {

struct Args {
  PlaceRef block_or_loop;
  std::string tensor_intrin;
  bool preserve_unit_iters = true;
  static constexpr std::string_view kRequired[] = {"tensor_intrin"};
  static constexpr auto fields() {
    return std::tuple{field<&Args::block_or_loop>("block_or_loop",
                                                  "the tile: a loop, which is blockized first, or a block"),
                      field<&Args::tensor_intrin>("tensor_intrin", "the registered name of the intrinsic"),
                      field<&Args::preserve_unit_iters>("preserve_unit_iters", "as of blockize")};
  }
};

// Buffers in the order in which a program accesses them.
std::vector<Buffer> accessed_buffers(const Stmt& stmt) {
  std::vector<Buffer> found;
  walk(
      stmt,
      [&](const BufferLoadNode* load) {
        found.push_back(load->buffer);
        return true;
      },
      [&](const BufferStoreNode* store) {
        found.push_back(store->buffer);
        return true;
      },
      [&](const BufferRegionNode*) { return false; });
  return found;
}

// The region of the tile that each parameter of the intrinsic stands for.
using Views = std::vector<std::pair<Buffer, BufferRegion>>;

BufferRegion region_of(const BlockNode* block, const Buffer& buffer) {
  for (const auto* regions : {&block->reads, &block->writes}) {
    for (const BufferRegion& region : *regions) {
      if (region->buffer == buffer) return region;
    }
  }
  return nullptr;
}

bool has_shape(const BufferRegion& region, const Buffer& param) {
  const size_t lead = region->region.size() - std::min(region->region.size(), param->shape.size());
  if (region->region.size() < param->shape.size()) return false;
  for (size_t n = 0; n < region->region.size(); ++n) {
    int64_t extent, wanted = 1;
    if (!as_const_int(region->region[n]->extent, &extent)) return false;
    if (n >= lead && !as_const_int(param->shape[n - lead], &wanted)) return false;
    if (extent != wanted) return false;
  }
  return true;
}

// A parameter in scope global, the default, stands for memory of any scope.
bool fits_scope(const Buffer& param, const Buffer& buffer) {
  const std::string wanted = param->scope(), found = buffer->scope();
  const auto is_shared = [](const std::string& scope) { return scope.starts_with("shared"); };
  return wanted == "global" || wanted == found || (is_shared(wanted) && is_shared(found));
}

Views pair_buffers(const State& state, NodeId where, const BlockNode* tile, const PrimFunc& desc,
                   const Stmt& desc_body, const std::string& name) {
  const std::vector<Buffer> ours = accessed_buffers(tile->body), theirs = accessed_buffers(desc_body);
  Views views;
  for (size_t n = 0; n < std::min(ours.size(), theirs.size()); ++n) {
    const auto known =
        std::find_if(views.begin(), views.end(), [&](const auto& view) { return view.first == theirs[n]; });
    if (known != views.end()) continue;
    const BufferRegion region = region_of(tile, ours[n]);
    if (!region || !has_shape(region, theirs[n]) || ours[n]->dtype != theirs[n]->dtype)
      throw refuse(state, where,
                   "{} of the program does not fit parameter {} of intrinsic {}, a buffer {} of {}",
                   region ? text(region) : ours[n]->name, theirs[n]->name, name,
                   indices_text(theirs[n]->shape), theirs[n]->dtype.str());
    if (!fits_scope(theirs[n], ours[n]))
      throw refuse(state, where, "{} is in scope {}, but parameter {} of intrinsic {} in scope {}",
                   ours[n]->name, ours[n]->scope(), theirs[n]->name, name, theirs[n]->scope())
          .help("keep {} in scope {}: set_scope, or cache_read and cache_write", ours[n]->name,
                theirs[n]->scope());
    views.emplace_back(theirs[n], region);
  }
  for (const Buffer& param : desc->buffers) {
    const bool is_met =
        std::any_of(views.begin(), views.end(), [&](const auto& view) { return view.first == param; });
    if (!is_met)
      throw refuse(state, where, "the program has nothing for parameter {} of intrinsic {}", param->name,
                   name);
  }
  return views;
}

// Declared regions, hints and loops of one iteration do not count in the comparison.
Stmt comparable(const Stmt& stmt) {
  arith::Analyzer analyzer;
  const Stmt without_unit_loops = rewrite(stmt, [&](auto& self, const ForNode* loop) -> Stmt {
    if (!is_one(loop->extent)) return self.children(loop);
    return self(substitute(loop->body, {{loop->loop_var.get(), loop->min}}));
  });
  const Stmt simple = arith::simplify(without_unit_loops, analyzer);
  return rewrite(
      simple,
      [&](auto& self, const BlockNode* block) -> Stmt {
        const Block inner = self.children(block);
        return with(inner, [](BlockNode& n) { n.reads.clear(), n.writes.clear(), n.annotations = {}; });
      },
      [&](auto& self, const ForNode* loop) -> Stmt {
        const For inner = self.children(loop);
        return with(inner, [](ForNode& n) { n.annotations = {}, n.for_kind = ForKind::kSerial; });
      });
}

// The description written with the buffers of the program.
Stmt placed(const Stmt& desc_body, const Views& views) {
  auto view_of = [&](const Buffer& buffer) -> const BufferRegionNode* {
    for (const auto& [param, region] : views) {
      if (param == buffer) return region.get();
    }
    return nullptr;
  };
  auto moved = [](const BufferRegionNode* region, const std::vector<PrimExpr>& indices) {
    const size_t lead = region->region.size() - indices.size();
    std::vector<PrimExpr> result;
    for (size_t n = 0; n < region->region.size(); ++n)
      result.push_back(n < lead ? region->region[n]->min : region->region[n]->min + indices[n - lead]);
    return result;
  };
  return rewrite(
      desc_body,
      [&](auto& self, const BufferLoadNode* load) -> PrimExpr {
        const BufferLoad inner = self.children(load);
        const BufferRegionNode* view = view_of(load->buffer);
        return view ? PrimExpr(BufferLoadNode::make(view->buffer, moved(view, inner->indices)))
                    : PrimExpr(inner);
      },
      [&](auto& self, const BufferStoreNode* store) -> Stmt {
        const BufferStore inner = self.children(store);
        const BufferRegionNode* view = view_of(store->buffer);
        return view ? Stmt(BufferStoreNode::make(view->buffer, inner->value, moved(view, inner->indices)))
                    : Stmt(inner);
      },
      [&](auto&, const BufferRegionNode* region) -> BufferRegion { return BufferRegion(region); });
}

// Graph operators count in int64, intrinsics mostly in int32: `stmt` with loops and axes of int64.
Stmt with_wide_indices(const Stmt& stmt) {
  const auto widened = [](auto& self, const Var& var) {
    const Var wide = with(var, [](VarNode& n) { n.dtype = kInt64; });
    self.replace_uses(var.get(), wide);
    return wide;
  };
  const auto wide = [](auto& self, const PrimExpr& value) { return tir::cast(kInt64, self(value)); };
  return rewrite(
      stmt,
      [&](auto& self, const ForNode* loop) -> Stmt {
        if (loop->loop_var->dtype != kInt32) return self.children(loop);
        const PrimExpr min = wide(self, loop->min), extent = wide(self, loop->extent);
        const Var var = widened(self, loop->loop_var);
        return ForNode::make(min, extent, var, loop->for_kind, loop->thread_tag, loop->annotations,
                             self(loop->body), loop->span);
      },
      [&](auto& self, const IterVarNode* axis) -> IterVar {
        if (!axis->dom || axis->var->dtype != kInt32) return self.children(axis);
        const Range dom = make_range(wide(self, axis->dom->min), wide(self, axis->dom->extent));
        return IterVarNode::make(widened(self, axis->var), dom, axis->iter_type, axis->thread_tag);
      },
      [&](auto& self, const BinaryOpNode* node) -> PrimExpr {
        return binary(node->kind, self(node->a), self(node->b), node->span);
      });
}

bool has_wide_indices(const BlockNode* tile) {
  bool found = false;
  for (const IterVar& axis : tile->iter_vars) found |= axis->var->dtype == kInt64;
  walk(tile->body, [&](const ForNode* loop) { found |= loop->loop_var->dtype == kInt64; });
  return found;
}

void require_match(const State& state, NodeId where, const BlockNode* tile, const Stmt& desc_body,
                   const Views& views, const std::string& name) {
  const Stmt wanted = placed(desc_body, views);
  const std::optional<Mismatch> difference = first_mismatch(comparable(tile->body), comparable(wanted));
  if (!difference) return;
  // an axis of one value is that value, in whichever indices it is left
  Substitution known;
  for (const IterVar& axis : tile->iter_vars) {
    if (is_one(axis->dom->extent)) known[axis->var.get()] = axis->dom->min;
  }
  if (!first_mismatch(comparable(substitute(tile->body, known)), comparable(substitute(wanted, known))))
    return;
  UserError error = refuse(state, where, "the program does not compute what intrinsic {} does: {}", name,
                           difference->reason);
  if (difference->a)
    error.add_note(span_of(ref_as<ExprNode>(difference->a)), "the program has " + text(difference->a));
  if (difference->b)
    error.add_note(span_of(ref_as<ExprNode>(difference->b)), "the intrinsic has " + text(difference->b));
  throw error;
}

// The implementation may take memory for granted: strides that it gives as numbers, or by one variable twice, and the
// scope where it names one.
void require_memory(const State& state, NodeId where, const TensorIntrin& intrin, const Views& views,
                    const std::string& name) {
  arith::Analyzer analyzer;
  bind_loops_above(state, where, analyzer);
  Substitution known;  // strides that are variables
  for (const auto& [param, region] : views) {
    const auto place = std::find(intrin.desc->buffers.begin(), intrin.desc->buffers.end(), param);
    const Buffer& given = intrin.impl->buffers[static_cast<size_t>(place - intrin.desc->buffers.begin())];
    const Buffer& ours = region->buffer;
    if (given->scope() != "global" && given->scope() != ours->scope())
      throw refuse(state, where, "buffer {} of intrinsic {} lies in memory \"{}\", {} in \"{}\"", given->name,
                   name, given->scope(), ours->name, ours->scope());
    const std::vector<PrimExpr> strides = strides_of(ours);
    const size_t lead = strides.size() - given->shape.size();
    for (size_t n = 0; n < given->strides.size(); ++n) {
      const PrimExpr &wanted = given->strides[n], &stride = strides[lead + n];
      if (is_one(given->shape[n])) continue;
      const auto* var = wanted.as<VarNode>();
      if (var && known.emplace(var, stride).second) continue;
      const PrimExpr value = var ? ref_as<PrimExprNode>(known.at(var)) : wanted;
      if (!analyzer.can_prove_equal(cast(stride->dtype, value), stride))
        throw refuse(state, where,
                     "dimension {} of buffer {} of intrinsic {} has stride {}, that of {} has {}", n,
                     given->name, name, text(value), ours->name, text(analyzer.simplify(stride)))
            .help("a variable takes any stride: strides=[te.var(\"s\"), ...]");
    }
  }
}

// The block that calls the implementation.
Block implemented(const BlockNode* tile, const PrimFunc& desc, const PrimFunc& impl, const Views& views) {
  const auto* body = impl->body.as<BlockRealizeNode>();
  auto view_of = [&](const Buffer& buffer) -> BufferRegion {
    for (size_t n = 0; n < impl->buffers.size(); ++n) {
      if (impl->buffers[n] != buffer) continue;
      for (const auto& [param, region] : views) {
        if (param == desc->buffers[n]) return region;
      }
    }
    return nullptr;
  };
  auto translated = [&](const std::vector<BufferRegion>& regions) {
    std::vector<BufferRegion> result;
    for (const BufferRegion& region : regions) {
      const BufferRegion view = view_of(region->buffer);
      if (!view) continue;
      std::vector<Range> ranges = view->region;
      const size_t lead = ranges.size() - region->region.size();
      for (size_t n = 0; n < region->region.size(); ++n)
        ranges[lead + n] = make_range(arith::simplify(ranges[lead + n]->min + region->region[n]->min),
                                      region->region[n]->extent);
      result.push_back(BufferRegionNode::make(view->buffer, ranges));
    }
    return result;
  };
  return with(tile, [&](BlockNode& n) {
    n.reads = translated(body->block->reads);
    n.writes = translated(body->block->writes);
    n.alloc_buffers = body->block->alloc_buffers;
    n.annotations = body->block->annotations;
    for (const Buffer& buffer : impl->buffers)
      n.match_buffers.push_back(MatchBufferRegionNode::make(buffer, view_of(buffer)));
    n.body = body->block->body;
  });
}

// A copy in which every variable and buffer is new: an intrinsic may be used many times in one function.
PrimFunc renewed(const PrimFunc& func) { return ref_as<PrimFuncNode>(load_json(save_json(func))); }

void apply(State& state, const Args& args) {
  const NodeId where = state[args.block_or_loop];
  const TensorIntrin intrin = get_tensor_intrin(args.tensor_intrin);
  BlockRealize tile = state.node(where).is_loop() ? blockized(state, where, args.preserve_unit_iters).outer
                                                  : ref_as<BlockRealizeNode>(state.node(where).stmt);
  Stmt desc_body = intrin.desc->body.as<BlockRealizeNode>()->block->body;
  if (has_wide_indices(tile->block.get())) desc_body = with_wide_indices(desc_body);
  const Views views =
      pair_buffers(state, where, tile->block.get(), intrin.desc, desc_body, args.tensor_intrin);
  require_match(state, where, tile->block.get(), desc_body, views, args.tensor_intrin);
  require_memory(state, where, intrin, views, args.tensor_intrin);
  const Block block = implemented(tile->block.get(), intrin.desc, renewed(intrin.impl), views);
  const BlockRealize by = with(tile, [&](BlockRealizeNode& n) { n.block = block; });
  BlockMap forwarded;
  if (const BlockNode* before = state.node(where).block()) forwarded[before] = block;
  state.replace(where, by, forwarded);
}

}  // namespace

extern constinit const PrimitiveInfo tensorize_info = primitive<apply>("tensorize", R"(
Lets a tensor intrinsic compute a tile.

    for i1, j1, k1 in T.grid(16, 16, 16):        with T.block("C_o"):
        with T.block("C"): ...             ->        A_tile = T.match_buffer(A[...], (16, 16))
                                                     T.evaluate(...)

block_or_loop        the tile: a loop, which is blockized first, or a block
tensor_intrin        the name under which the intrinsic is registered: a description that is compared with the program, and
                     an implementation that takes its place
preserve_unit_iters  as of blockize
Raises               UserError with the first difference if the program is not what the intrinsic describes.
)");
}  // namespace tilewright::schedule
