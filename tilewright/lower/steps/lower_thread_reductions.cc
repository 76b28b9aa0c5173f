// A reduction whose loop is bound to threads: each thread makes a partial result, and they put these together.
//   for k0 in range(8):                                        P[0] = 0
//       for k1 in T.thread_binding(32, "threadIdx.x"):   ->    for k0 in range(8): P[0] += A[k0 * 32 + tx]
//           with T.init(): B[0] = 0                            (P[0] of all 32 threads together: thread_reduction.h)
//           B[0] += A[k0 * 32 + k1]                            if tx == 0: B[0] = P[0]
#include <algorithm>

#include "tilewright/analysis/update.h"
#include "tilewright/arith/analyzer.h"
#include "tilewright/arith/iter_parse.h"
#include "tilewright/ir/rewrite.h"
#include "tilewright/ir/walk.h"
#include "tilewright/lower/common/thread_axes.h"
#include "tilewright/lower/common/thread_reduction.h"
#include "tilewright/lower/step.h"
#include "tilewright/support/error.h"
#include "tilewright/tir/builder.h"
#include "tilewright/tir/uses.h"

namespace tilewright::lower {
namespace {

struct Options {
  int64_t warp_size = 0;
  static constexpr auto fields() {
    return std::tuple{
        ir::field<&Options::warp_size>("warp_size", "threads that exchange registers; 0: none can")};
  }
};

bool is_thread_loop(const ForNode* loop) { return kernel_axis(loop) && is_thread_axis(loop->thread_tag); }

// True if a reduce axis of the block depends on the loop.
bool reduces(const ForNode* loop, const BlockRealizeNode* realize) {
  for (size_t n = 0; n < realize->iter_values.size(); ++n) {
    if (realize->block->iter_vars[n]->iter_type == IterType::kReduce &&
        uses(realize->iter_values[n], loop->loop_var.get()))
      return true;
  }
  return false;
}

// The loops from `outermost` down to the only block in it; nothing if other statements are there.
struct Nest {
  std::vector<const ForNode*> loops;  // outermost first
  const BlockRealizeNode* realize = nullptr;
};
std::optional<Nest> nest_from(const ForNode* outermost) {
  Nest nest;
  for (const ForNode* loop = outermost; loop; loop = loop->body.as<ForNode>()) {
    nest.loops.push_back(loop);
    nest.realize = loop->body.as<BlockRealizeNode>();
  }
  return nest.realize ? std::optional(nest) : std::nullopt;
}

// The same axes with variables of their own.
struct OwnAxes {
  std::vector<IterVar> axes;
  Substitution names;
  std::vector<PrimExpr> values;
};

class Reduction {
 public:
  Reduction(const Nest& nest, std::vector<const ForNode*> around, int64_t warp_size)
      : nest_(nest), realize_(nest.realize), block_(realize_->block.get()), warp_size_(warp_size) {
    for (const ForNode* loop : nest.loops) {
      if (kernel_axis(loop))
        bound_.push_back(loop);
      else if (!reduces(loop, realize_))
        spatial_.push_back(loop);
    }
    for (const ForNode* loop : around) {
      if (is_thread_loop(loop)) threads_.push_back(loop);
    }
    for (const ForNode* loop : bound_) {
      if (is_thread_loop(loop)) threads_.push_back(loop);
    }
  }

  Stmt run() {
    update_ = required_update();
    for (const Buffer& buffer : update_.buffers)
      partial_.push_back(make_buffer(buffer->name + "_part", buffer->shape, buffer->dtype, "local"));
    const Sharers group = sharers();
    Stmt stmt = seq({initial(), accumulated(), combined(group), result(group)});
    stmt = in_block(stmt);
    for (size_t n = bound_.size(); n-- > 0;)
      stmt = with(bound_[n], [&](ForNode& changed) { changed.body = stmt; });
    return stmt;
  }

 private:
  analysis::Update required_update() const {
    std::optional<analysis::Update> update = analysis::update_of(block_);
    if (!update || !has_neutral_init(*update))
      throw UserError(block_,
                      "threads cannot share block {}, which is no reduction that starts at a neutral element",
                      block_->name_hint)
          .help(
              "it must be Y[...] = op(Y[...], x) with an init, op one of + * min max and or, or a choice "
              "between "
              "both by comparing them");
    if (update->order == analysis::TermOrder::kFree) return std::move(*update);
    for (size_t n = 0; n < update->terms.size(); ++n) {
      if (!is_reduce_axis(update->terms[n])) continue;
      if (std::optional<analysis::Update> by_place = analysis::ordered_by_place(*update, n)) return *by_place;
    }
    throw UserError(block_, "threads cannot share block {}, which takes one of equal terms by their order",
                    block_->name_hint)
        .help("let the block compare places too: a > b or (a == b and i < j)");
  }
  bool is_reduce_axis(const PrimExpr& term) const {
    const auto* cast = term.as<CastNode>();
    const auto* var = (cast ? cast->value : term).as<VarNode>();
    return std::any_of(block_->iter_vars.begin(), block_->iter_vars.end(), [&](const IterVar& axis) {
      return axis->iter_type == IterType::kReduce && axis->var.get() == var;
    });
  }

  Sharers sharers() const {
    Sharers group;
    arith::Analyzer analyzer;
    std::vector<const ForNode*> threads = threads_;
    std::ranges::sort(threads, {}, [](const ForNode* loop) { return *kernel_axis(loop); });
    for (const ForNode* loop : threads) {
      const PrimExpr extent = analyzer.simplify(loop->extent);
      const auto* number = extent.as<IntImmNode>();
      if (!number)
        throw UserError(
            loop,
            "the threads of loop {} cannot share a reduction: their number is known only when the "
            "kernel runs",
            loop->loop_var->name_hint)
            .help("split the loop by the number of threads, and bind the inner loop");
      (reduces(loop, realize_) ? group.parts : group.others).emplace_back(loop->loop_var, number->value);
      if (loop->thread_tag == "threadIdx.x")
        group.is_fastest = group.has_neighbours = reduces(loop, realize_);
    }
    group.is_fastest = group.is_fastest && group.parts.size() == 1;
    return group;
  }

  // ---- the spatial part of the nest, for statements beside the sum
  OwnAxes own_axes(const Substitution& loops) const {
    OwnAxes own;
    for (size_t n = 0; n < block_->iter_vars.size(); ++n) {
      const IterVar& axis = block_->iter_vars[n];
      if (axis->iter_type == IterType::kReduce) continue;
      const Var var = make_var(axis->var->name_hint, axis->var->dtype);
      own.names[axis->var.get()] = var;
      own.axes.push_back(IterVarNode::make(var, axis->dom, axis->iter_type, std::string()));
      own.values.push_back(substitute(realize_->iter_values[n], loops));
    }
    return own;
  }

  // The conditions of the block that do not depend on terms of the sum.
  PrimExpr spatial_condition(const Substitution& loops) const {
    PrimExpr all = bool_imm(true);
    for (const PrimExpr& part : arith::conjuncts(realize_->predicate)) {
      const auto has_its_terms = [&](const ForNode* loop) {
        return reduces(loop, realize_) && uses(part, loop->loop_var.get());
      };
      // threads that have terms may be in the nest or around it
      const bool is_of_term =
          std::ranges::any_of(nest_.loops, has_its_terms) || std::ranges::any_of(threads_, has_its_terms);
      if (!is_of_term) all = logical_and(all, substitute(part, loops));
    }
    return all;
  }

  // A block called `name` in copies of the spatial loops, where `condition` holds and the result is wanted; without one in
  // all threads, which wait for each other in it.  `make`: its body, from indices of the result.
  template <class Make>
  Stmt in_spatial_loops(const std::string& name, PrimExpr condition, const Make& make) const {
    Substitution loops;
    std::vector<Var> vars;
    for (const ForNode* loop : spatial_) {
      vars.push_back(make_var(loop->loop_var->name_hint, loop->loop_var->dtype));
      loops[loop->loop_var.get()] = vars.back();
    }
    const OwnAxes own = own_axes(loops);
    std::vector<PrimExpr> indices;
    for (const PrimExpr& index : update_.indices) indices.push_back(substitute(index, own.names));
    const auto [body, buffers] = make(indices, own.names);
    Block block =
        BlockNode::make(name, own.axes, buffers, regions_read(body, buffers), regions_written(body, buffers),
                        std::vector<MatchBufferRegion>{}, AttrMap(), Stmt(), body, block_->span);
    const PrimExpr where = condition ? logical_and(spatial_condition(loops), condition) : bool_imm(true);
    Stmt stmt = BlockRealizeNode::make(own.values, where, block);
    for (size_t n = spatial_.size(); n-- > 0;)
      stmt = ForNode::make(spatial_[n]->min, spatial_[n]->extent, vars[n], ForKind::kSerial, std::string(),
                           AttrMap(), stmt);
    return stmt;
  }
  using Made = std::pair<Stmt, std::vector<Buffer>>;

  Stmt initial() const {
    return in_spatial_loops(
        block_->name_hint + "_init", nullptr,
        [&](const std::vector<PrimExpr>& indices, const Substitution& axes) -> Made {
          std::vector<Stmt> stores;
          for (size_t n = 0; n < partial_.size(); ++n)
            stores.push_back(store(partial_[n], substitute(update_.identities[n], axes), indices));
          return {seq(std::move(stores)), {}};
        });
  }

  // The block itself, with the threads' loops outside.
  Stmt accumulated() const {
    Substitution own;
    for (size_t n = 0; n < partial_.size(); ++n) own[update_.buffers[n].get()] = partial_[n];
    const Block block = with(Block(block_), [&](BlockNode& changed) {
      changed.init = nullptr;
      changed.body = substitute(block_->body, own);
      for (BufferRegion& region : changed.reads) region = substitute(region, own);
      for (BufferRegion& region : changed.writes) region = substitute(region, own);
      for (const BufferRegion& region : changed.writes) changed.reads.push_back(region);
    });
    Stmt stmt = with(BlockRealize(realize_), [&](BlockRealizeNode& changed) { changed.block = block; });
    for (size_t n = nest_.loops.size(); n-- > 0;) {
      if (!kernel_axis(nest_.loops[n]))
        stmt = with(For(nest_.loops[n]), [&](ForNode& changed) { changed.body = stmt; });
    }
    return stmt;
  }

  Stmt combined(const Sharers& group) const {
    return in_spatial_loops(block_->name_hint + "_combine", nullptr,
                            [&](const std::vector<PrimExpr>& indices, const Substitution&) -> Made {
                              Combination how{.warp_size = warp_size_, .is_for_all = is_private()};
                              const Stmt stmt = combine_parts(update_, partial_, indices, group, &how);
                              return {stmt, how.shared};
                            });
  }

  // Memory that all see is written by the first thread; each has its own registers.
  bool is_private() const { return update_.buffers[0]->scope() == "local"; }
  Stmt result(const Sharers& group) const {
    PrimExpr is_first = bool_imm(true);
    if (!is_private()) {
      for (const auto& [var, extent] : group.parts)
        is_first = logical_and(is_first, equal(var, imm(0, var->dtype)));
    }
    return in_spatial_loops(
        block_->name_hint, is_first, [&](const std::vector<PrimExpr>& indices, const Substitution&) -> Made {
          std::vector<Stmt> stores;
          for (size_t n = 0; n < partial_.size(); ++n)
            stores.push_back(store(update_.buffers[n], load(partial_[n], indices), indices));
          return {seq(std::move(stores)), {}};
        });
  }

  // A block that owns the partial results.
  Stmt in_block(const Stmt& body) const {
    std::vector<BufferRegion> reads, writes;
    std::vector<Buffer> own = partial_;
    walk(body, [&](const BlockNode* block) {
      own.insert(own.end(), block->alloc_buffers.begin(), block->alloc_buffers.end());
      for (const BufferRegion& region : block->reads) add(&reads, region->buffer, own);
      for (const BufferRegion& region : block->writes) add(&writes, region->buffer, own);
    });
    const Block block =
        BlockNode::make(block_->name_hint + "_threads", std::vector<IterVar>{}, partial_, reads, writes,
                        std::vector<MatchBufferRegion>{}, AttrMap(), Stmt(), body, block_->span);
    return BlockRealizeNode::make(std::vector<PrimExpr>{}, bool_imm(true), block);
  }

  // What the statement reads and writes of memory that is not its own.
  static std::vector<BufferRegion> regions_read(const Stmt& body, const std::vector<Buffer>& own) {
    std::vector<BufferRegion> regions;
    walk(body, [&](const BufferLoadNode* load) { add(&regions, load->buffer, own); });
    return regions;
  }
  static std::vector<BufferRegion> regions_written(const Stmt& body, const std::vector<Buffer>& own) {
    std::vector<BufferRegion> regions;
    walk(body, [&](const BufferStoreNode* store) { add(&regions, store->buffer, own); });
    return regions;
  }
  static void add(std::vector<BufferRegion>* regions, const Buffer& buffer, const std::vector<Buffer>& own) {
    const bool is_known = std::any_of(regions->begin(), regions->end(),
                                      [&](const BufferRegion& region) { return region->buffer == buffer; });
    if (!is_known && std::find(own.begin(), own.end(), buffer) == own.end())
      regions->push_back(full_region(buffer));
  }

  Nest nest_;
  const BlockRealizeNode* realize_;
  const BlockNode* block_;
  int64_t warp_size_;
  std::vector<const ForNode*> bound_, spatial_, threads_;
  analysis::Update update_ = {};
  std::vector<Buffer> partial_;
};

class Lowering {
 public:
  explicit Lowering(int64_t warp_size) : warp_size_(warp_size) {}

  PrimFunc run(const PrimFunc& func) {
    return rewrite(
        func,
        [&](auto& self, const ForNode* loop) -> Stmt {
          const std::optional<Nest> nest = nest_from(loop);
          if (nest && reduces(loop, nest->realize) && is_shared_by_threads(*nest)) return lowered(*nest);
          around_.push_back(loop);
          const Stmt stmt = self.children(loop);
          around_.pop_back();
          return stmt;
        },
        [&](auto& self, const BlockRealizeNode* realize) -> Stmt {
          const Nest nest{{}, realize};
          return is_shared_by_threads(nest) ? lowered(nest) : Stmt(self.children(realize));
        });
  }

 private:
  // True if threads around the block or in the nest have parts of its sum.
  bool is_shared_by_threads(const Nest& nest) const {
    const auto has_parts = [&](const ForNode* loop) {
      return is_thread_loop(loop) && reduces(loop, nest.realize);
    };
    return std::any_of(nest.loops.begin(), nest.loops.end(), has_parts) ||
           std::any_of(around_.begin(), around_.end(), has_parts);
  }

  Stmt lowered(const Nest& nest) const {
    require_whole(nest);
    return Reduction(nest, around_, warp_size_).run();
  }

  void require_whole(const Nest& nest) const {
    for (const ForNode* loop : around_) {
      if (!kernel_axis(loop) && reduces(loop, nest.realize))
        throw UserError(
            loop,
            "loop {} adds to the sum of block {}, whose terms threads share, and has other blocks inside",
            loop->loop_var->name_hint, nest.realize->block->name_hint)
            .help("let the loop have nothing inside but the block, or bind a spatial loop to the threads");
    }
  }

  int64_t warp_size_;
  std::vector<const ForNode*> around_;
};

PrimFunc run(const PrimFunc& func, const ir::AttrMap& attrs) {
  return Lowering(ir::from_attrs<Options>(attrs, "lower_thread_reductions").warp_size).run(func);
}

}  // namespace

extern constinit const StepInfo lower_thread_reductions_info = {
    .name = "lower_thread_reductions",
    .doc = "threads that have parts of a reduction put them together",
    .uses = kBlocks | kInits,
    .run = run,
    .schema = &ir::option_schema<Options>,
};

}  // namespace tilewright::lower
