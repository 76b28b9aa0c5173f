#include "tilewright/tune/nest.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tilewright/target/costs.h"
#include "tilewright/tir/loop_hints.h"
#include "tilewright/tir/stmt.h"
#include "tilewright/tune/nest_expr.h"

namespace tilewright::tune {

using namespace tir;

double Index::span() const {
  double total = 0;
  for (const Term& term : terms) total += std::abs(term.coef) * (term.extent - 1);
  return total;
}

bool Index::depends_on(int32_t loop) const {
  return std::any_of(terms.begin(), terms.end(), [&](const Term& term) { return term.loop == loop; });
}

bool Access::depends_on(int32_t loop) const {
  return std::any_of(indices.begin(), indices.end(),
                     [&](const Index& index) { return index.depends_on(loop); });
}

double Operations::total() const {
  return float_add + float_mul + 2 * float_fma + float_div + float_other + math + int_add + int_mul +
         int_div + 8 * dots + casts + choices;
}

std::vector<int32_t> Nest::chain_of(const NestStore& store) const {
  std::vector<int32_t> chain;
  for (int32_t loop = store.loop; loop >= 0; loop = loops[static_cast<size_t>(loop)].parent)
    chain.push_back(loop);
  return chain;
}

namespace {

double extent_of(const PrimExpr& extent) {
  const auto* number = extent.as<ir::IntImmNode>();
  return static_cast<double>(number ? std::max<int64_t>(number->value, 1) : target::kLoopCosts.likely_extent);
}

class NestMaker {
 public:
  Nest make(const ir::IRModule& module) {
    for (const ir::BaseFunc& each : module->functions) {
      if (const auto* func = each.as<PrimFuncNode>()) visit(func->body.get());
    }
    for (NestBuffer& buffer : nest_.buffers) fill_strides(buffer);
    return std::move(nest_);
  }

 private:
  void visit(const StmtNode* stmt) {
    if (!stmt) return;
    by_kind(
        stmt, [&](const ForNode* node) { visit_for(node); },
        [&](const WhileNode* node) {
          visit_loop(nullptr, static_cast<double>(target::kLoopCosts.likely_extent), ForKind::kSerial,
                     node->body);
        },
        [&](const BufferStoreNode* node) { add_store(node); },
        [&](const BlockRealizeNode* node) { visit_block(node); },
        [&](const IfThenElseNode* node) {
          const bool outer = std::exchange(is_guarded_, true);
          visit(node->then_case.get());
          visit(node->else_case.get());
          is_guarded_ = outer;
        },
        [&](const LetStmtNode* node) {
          exprs_.bind(node->var.get(), exprs_.index(node->value));
          visit(node->body.get());
        },
        [&](const AllocBufferNode* node) {
          locals_.push_back(node->buffer.get());
          visit(node->body.get());
        },
        [&](const auto*) { for_each_inner(Stmt(stmt), [&](const Stmt& inner) { visit(inner.get()); }); });
  }

  void visit_for(const ForNode* node) {
    const double extent = extent_of(node->extent);
    nest_.has_vectors |= node->for_kind == ForKind::kVectorized && extent > 1;
    const size_t place = nest_.loops.size();
    visit_loop(node->loop_var.get(), extent, node->for_kind, node->body);
    nest_.loops[place].stays = node->annotations.get_bool(kKeepLoop, false);
    nest_.loops[place].axis = node->thread_tag;
  }

  void visit_loop(const VarNode* var, double extent, ForKind kind, const Stmt& body) {
    const auto place = static_cast<int32_t>(nest_.loops.size());
    const int32_t depth = loop_ < 0 ? 0 : nest_.loops[static_cast<size_t>(loop_)].depth + 1;
    nest_.loops.push_back({loop_, depth, kind, extent});
    if (var) exprs_.bind(var, Index{0, {{place, 1, extent, 1}}});
    const int32_t outer = std::exchange(loop_, place);
    visit(body.get());
    loop_ = outer;
  }

  void visit_block(const BlockRealizeNode* node) {
    const BlockNode* block = node->block.get();
    double terms = 1;
    for (size_t axis = 0; axis < block->iter_vars.size() && axis < node->iter_values.size(); ++axis) {
      exprs_.bind(block->iter_vars[axis]->var.get(), exprs_.index(node->iter_values[axis]));
      if (block->iter_vars[axis]->iter_type == IterType::kReduce)
        terms *= extent_of(block->iter_vars[axis]->dom->extent);
    }
    for (const Buffer& buffer : block->alloc_buffers) locals_.push_back(buffer.get());
    for (const MatchBufferRegion& view : block->match_buffers) exprs_.add_view(view);
    const auto* always = node->predicate.as<ir::IntImmNode>();
    const bool outer =
        std::exchange(is_guarded_, is_guarded_ || (node->predicate && !(always && always->value)));
    if (block->init) {
      const double share = std::exchange(share_, share_ / terms);
      visit(block->init.get());
      share_ = share;
    }
    visit(block->body.get());
    is_guarded_ = outer;
  }

  void add_store(const BufferStoreNode* node) {
    NestStore& store = nest_.stores.emplace_back();
    store.loop = loop_;
    store.share = share_;
    store.is_guarded = is_guarded_;
    store.element_bytes = static_cast<double>(node->buffer->dtype.num_bytes());
    add_access(store, node->buffer.get(), node->indices, true);
    exprs_.value(node->value, store.operations, [&](const BufferLoadNode* load) {
      add_access(store, load->buffer.get(), load->indices, false);
    });
  }

  void add_access(NestStore& store, const BufferNode* buffer, const std::vector<PrimExpr>& written,
                  bool is_store) {
    std::vector<Index> indices = exprs_.indices(buffer, written);
    const int32_t place = place_of(buffer);
    for (Access& other : store.accesses) {
      if (other.buffer != place || !differ_by_constants(other, indices)) continue;
      (is_store ? other.stores : other.loads) += 1;
      for (size_t dim = 0; dim < indices.size(); ++dim)
        other.spread[dim] =
            std::max(other.spread[dim], std::abs(indices[dim].base - other.indices[dim].base));
      return;
    }
    const size_t ndim = indices.size();
    store.accesses.push_back({place, !is_store, is_store, std::move(indices), std::vector<double>(ndim)});
  }

  static bool differ_by_constants(const Access& access, const std::vector<Index>& indices) {
    if (access.indices.size() != indices.size()) return false;
    for (size_t dim = 0; dim < indices.size(); ++dim) {
      if (access.indices[dim].terms != indices[dim].terms) return false;
    }
    return true;
  }

  // The place of a buffer, whose home then is around the present loop, too.
  int32_t place_of(const BufferNode* buffer) {
    buffer = exprs_.source_of(buffer);
    const auto found = std::find(known_.begin(), known_.end(), buffer);
    const auto place = static_cast<size_t>(found - known_.begin());
    if (found == known_.end()) {
      known_.push_back(buffer);
      NestBuffer& made = nest_.buffers.emplace_back();
      made.element_bytes = static_cast<double>(buffer->dtype.num_bytes());
      made.is_local = std::find(locals_.begin(), locals_.end(), buffer) != locals_.end();
      made.home = loop_;
      made.scope = buffer->scope();
      for (const PrimExpr& extent : buffer->shape) made.extents.push_back(extent_of(extent));
    }
    int32_t& home = nest_.buffers[place].home;
    home = common_loop(home, loop_);
    return static_cast<int32_t>(place);
  }

  int32_t common_loop(int32_t a, int32_t b) const {
    while (a != b) (a > b ? a : b) = nest_.loops[static_cast<size_t>(std::max(a, b))].parent;
    return a;
  }

  // Of a local buffer only what one iteration of its home touches is kept.
  void fill_strides(NestBuffer& buffer) {
    const auto place = static_cast<int32_t>(&buffer - nest_.buffers.data());
    if (buffer.is_local && buffer.home >= 0) {
      std::vector<double> kept(buffer.extents.size(), 1);
      for (const NestStore& store : nest_.stores) {
        for (const Access& access : store.accesses) {
          if (access.buffer == place) widen(kept, access, buffer);
        }
      }
      buffer.extents = std::move(kept);
    }
    buffer.strides.assign(buffer.extents.size(), 1);
    for (size_t dim = buffer.extents.size(); dim-- > 1;)
      buffer.strides[dim - 1] = buffer.strides[dim] * buffer.extents[dim];
  }

  void widen(std::vector<double>& kept, const Access& access, const NestBuffer& buffer) const {
    for (size_t dim = 0; dim < std::min(kept.size(), access.indices.size()); ++dim) {
      const Index& index = access.indices[dim];
      double span = access.spread[dim];
      for (const Term& term : index.terms) {
        if (term.loop > buffer.home) span += std::abs(term.coef) * (term.extent - 1);
      }
      if (!index.is_known) span = buffer.extents[dim] - 1;
      kept[dim] = std::max(kept[dim], std::min(span + 1, buffer.extents[dim]));
    }
  }

  Nest nest_;
  NestExprs exprs_;
  std::vector<const BufferNode*> known_, locals_;
  int32_t loop_ = -1;
  double share_ = 1;
  bool is_guarded_ = false;
};

}  // namespace

Nest nest_of(const ir::IRModule& module) { return NestMaker().make(module); }

}  // namespace tilewright::tune
