#include "tilewright/schedule/coverage.h"

#include "tilewright/ir/walk.h"
#include "tilewright/schedule/loops.h"
#include "tilewright/tir/builder.h"

namespace tilewright::schedule {
namespace {

// One store that is executed for every value of `loops` where `predicate` holds.
struct Store {
  std::vector<PrimExpr> indices;
  arith::IterRanges loops;
  PrimExpr predicate;
};

// Finds the stores to a buffer inside of a block: its own, those of blocks inside, or, where the work is done
// by an intrinsic or through a view, what the block declares.
class StoreFinder {
 public:
  explicit StoreFinder(const Buffer& buffer) : buffer_(buffer) {}
  std::vector<Store> stores;

  void visit(const Stmt& stmt, const arith::IterRanges& loops, const PrimExpr& predicate,
             const Substitution& values) {
    if (const auto* list = stmt.as<SeqStmtNode>()) {
      for (const Stmt& item : list->seq) visit(item, loops, predicate, values);
    } else if (const auto* loop = stmt.as<ForNode>()) {
      arith::IterRanges inner = loops;
      inner.emplace_back(loop->loop_var,
                         make_range(substitute(loop->min, values), substitute(loop->extent, values)));
      visit(loop->body, inner, predicate, values);
    } else if (const auto* let = stmt.as<LetStmtNode>()) {
      Substitution inner = values;
      inner[let->var.get()] = substitute(let->value, values);
      visit(let->body, loops, predicate, inner);
    } else if (const auto* store = stmt.as<BufferStoreNode>()) {
      if (store->buffer == buffer_ && !store->predicate) add(store->indices, loops, predicate, values);
    } else if (const auto* realize = stmt.as<BlockRealizeNode>()) {
      visit_block(realize, loops, predicate, values);
    }
  }

 private:
  void visit_block(const BlockRealizeNode* realize, const arith::IterRanges& loops, const PrimExpr& predicate,
                   const Substitution& values) {
    Substitution inner = values;
    for (size_t n = 0; n < realize->iter_values.size(); ++n)
      inner[realize->block->iter_vars[n]->var.get()] = substitute(realize->iter_values[n], values);
    PrimExpr condition = logical_and(predicate, substitute(realize->predicate, values));
    if (!does_its_own_stores(realize->block.get()))
      return add_declared(realize->block.get(), loops, condition, inner);
    visit(realize->block->body, loops, condition, inner);
  }

  static bool does_its_own_stores(const BlockNode* block) {
    bool own = block->match_buffers.empty();
    walk(
        block->body,
        [&](const EvaluateNode* call) {
          own &= !is<CallNode>(call->value);
          return false;
        },
        [&](const BlockNode*) { return false; });
    return own;
  }

  void add_declared(const BlockNode* block, arith::IterRanges loops, const PrimExpr& predicate,
                    const Substitution& values) {
    for (const BufferRegion& region : block->writes) {
      if (region->buffer != buffer_) continue;
      std::vector<PrimExpr> indices;
      for (const Range& range : region->region) {
        const PrimExpr min = substitute(range->min, values);
        Var place = make_var("place", min->dtype);
        loops.emplace_back(place, make_range(imm(0, min->dtype), substitute(range->extent, values)));
        indices.push_back(min + place);
      }
      stores.push_back({std::move(indices), loops, predicate});
    }
  }

  void add(const std::vector<PrimExpr>& indices, const arith::IterRanges& loops, const PrimExpr& predicate,
           const Substitution& values) {
    Store store{{}, loops, predicate};
    for (const PrimExpr& index : indices) {
      if (!index->dtype.is_scalar()) return;
      store.indices.push_back(substitute(index, values));
    }
    stores.push_back(std::move(store));
  }

  Buffer buffer_;
};

// base, base + 1, ... of an index that takes all values in between.
arith::Interval dense_interval(const arith::IterSum& sum, arith::Analyzer& analyzer) {
  PrimExpr last = sum.base;
  for (const arith::IterSplit& split : sum.args) last = last + (split.extent - 1) * split.scale;
  return {analyzer.simplify(sum.base), analyzer.simplify(last)};
}

std::optional<arith::IntervalRegion> written_box(const Store& store, const PrimExpr& predicate,
                                                 arith::Analyzer& analyzer) {
  const arith::IterMap map = arith::detect_iter_map(store.indices, store.loops, predicate,
                                                    arith::IterMapLevel::kSurjective, analyzer);
  if (!map) return std::nullopt;
  arith::IntervalRegion box;
  for (const arith::IterSum& sum : map.indices) box.push_back(dense_interval(sum, analyzer));
  return box;
}

void conjuncts_of(const PrimExpr& condition, std::vector<PrimExpr>* parts) {
  if (const auto* both = condition.as<AndNode>()) {
    conjuncts_of(both->a, parts);
    conjuncts_of(both->b, parts);
  } else if (!is_one(condition))
    parts->push_back(condition);
}

// Whether the guard `part` lets through every element of `needed`: it bounds one of the indices from above.
bool keeps(const PrimExpr& part, const Store& store, const arith::IntervalRegion& needed,
           arith::Analyzer& analyzer) {
  const auto* less = part.as<LTNode>();
  if (!less) return false;
  for (size_t n = 0; n < store.indices.size(); ++n) {
    if (!needed[n].max) continue;
    const PrimExpr shift = analyzer.simplify(less->a - store.indices[n]);
    if (is<IntImmNode>(shift) && analyzer.can_prove(needed[n].max + shift < less->b)) return true;
  }
  return false;
}

bool writes_all(const Store& store, const arith::IntervalRegion& needed, arith::Analyzer& analyzer) {
  for (const auto& [var, range] : store.loops) analyzer.bind(var, range);
  if (store.indices.empty()) return is_one(analyzer.simplify(store.predicate));
  if (const auto box = written_box(store, store.predicate, analyzer);
      box && arith::covers(*box, needed, analyzer))
    return true;
  const auto box = written_box(store, bool_imm(true), analyzer);
  if (!box || !arith::covers(*box, needed, analyzer)) return false;
  std::vector<PrimExpr> parts;
  conjuncts_of(analyzer.simplify(store.predicate), &parts);
  return std::all_of(parts.begin(), parts.end(),
                     [&](const PrimExpr& part) { return keeps(part, store, needed, analyzer); });
}

}  // namespace

bool surely_writes(const State& state, NodeId writer, const Buffer& buffer,
                   const arith::IntervalRegion& needed, NodeId outer) {
  StoreFinder finder(buffer);
  finder.visit(state.node(writer).stmt, ranges_of(state, loops_between(state, outer, writer)), bool_imm(true),
               {});
  for (const Store& store : finder.stores) {
    arith::Analyzer analyzer;
    bind_loops_above(state, writer, analyzer);
    if (writes_all(store, needed, analyzer)) return true;
  }
  return false;
}

bool is_covered_by_earlier(const State& state, const Access& read, NodeId inside) {
  for (const Access& write : accesses_below(state, inside)) {
    if (!write.is_write || write.buffer != read.buffer || !is_before(state, write.block, read.block))
      continue;
    const NodeId around = common_ancestor(state, write.block, read.block);
    arith::Analyzer analyzer;
    bind_loops_above(state, read.block, analyzer);
    if (surely_writes(state, write.block, read.buffer, relaxed(state, read, around, analyzer), around))
      return true;
  }
  return false;
}

}  // namespace tilewright::schedule
