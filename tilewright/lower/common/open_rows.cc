#include "tilewright/lower/common/open_rows.h"

#include "tilewright/arith/int_set.h"
#include "tilewright/arith/iter_parse.h"
#include "tilewright/ir/rewrite.h"
#include "tilewright/ir/services.h"
#include "tilewright/ir/walk.h"
#include "tilewright/lower/common/num_nodes.h"
#include "tilewright/tir/builder.h"
#include "tilewright/tir/fresh.h"
#include "tilewright/tir/loop_hints.h"
#include "tilewright/tir/uses.h"

namespace tilewright::lower {
namespace {

// Conditions first + loop_var * rows + row < first + bound, for all rows of a tile.
struct Guards {
  int64_t rows = 0;
  PrimExpr first, bound;
  std::vector<std::pair<PrimExpr, PrimExpr>> found;  // the condition, its row
  bool are_alike = true;                             // all are of one form, and rows those of unrolled loops
};

class GuardFinder {
 public:
  GuardFinder(const For& loop, arith::Analyzer& analyzer) : loop_(loop), analyzer_(analyzer) {}
  Guards run() {
    visit(loop_->body.get());
    return std::move(guards_);
  }

 private:
  void visit(const Object* node) {
    const ObjectRef ref(node);
    const auto* inner = ref.as<ForNode>();
    if (inner) {
      domains_[inner->loop_var.get()] = {inner->min, analyzer_.simplify(inner->min + inner->extent - 1)};
      if (inner->for_kind != ForKind::kUnrolled) others_.push_back(inner->loop_var);
    }
    if (const auto* branch = ref.as<IfThenElseNode>()) {
      for (const PrimExpr& condition : arith::conjuncts(branch->condition)) take(condition);
    }
    for_each_child(node, this, [](void* self, const Object* child, bool is_leaf_use) {
      if (!is_leaf_use) static_cast<GuardFinder*>(self)->visit(child);
    });
    if (!inner) return;
    domains_.erase(inner->loop_var.get());
    if (inner->for_kind != ForKind::kUnrolled) others_.pop_back();
  }

  void take(const PrimExpr& condition) {
    const auto* less = condition.as<LTNode>();
    const Var& tile = loop_->loop_var;
    const auto changes = [&](const VarNode* var) { return var == tile.get() || domains_.contains(var); };
    if (!less || !uses(less->a, tile.get()) || uses_any(less->b, changes)) return;
    const auto at = [&](int64_t value) {
      return analyzer_.simplify(substitute(less->a, {{tile.get(), imm(value, tile->dtype)}}));
    };
    int64_t rows = 0;
    if (!as_const_int(analyzer_.simplify(at(1) - at(0)), &rows) || rows < 2 ||
        !analyzer_.can_prove_equal(less->a, tile * rows + at(0)))
      return;
    const arith::Interval range = arith::eval_interval(at(0), domains_, analyzer_);
    if (!range.is_bounded() || !analyzer_.can_prove_equal(range.max - range.min, imm(rows - 1, tile->dtype)))
      return;
    const PrimExpr row = analyzer_.simplify(at(0) - range.min),
                   bound = analyzer_.simplify(less->b - range.min);
    if (guards_.found.empty()) guards_.rows = rows, guards_.bound = bound, guards_.first = range.min;
    guards_.are_alike &=
        guards_.rows == rows && structural_equal(guards_.bound, bound) && !uses_any(row, others_);
    guards_.found.emplace_back(condition, row);
  }

  const For& loop_;
  arith::Analyzer& analyzer_;
  arith::Domains domains_;
  std::vector<Var> others_;  // of loops inside that are not unrolled
  Guards guards_;
};

// True if `body` stores to registers alone.
bool stays_in_registers(const Stmt& body) {
  bool stays = true;
  ir::walk(body, [&](const BufferStoreNode* store) { stays &= store->buffer->scope() == "local"; });
  return stays;
}

// Makes bodies of tiles of other numbers of rows.
class Tiles {
 public:
  Tiles(const For& loop, Guards guards, arith::Analyzer& analyzer)
      : loop_(loop), guards_(std::move(guards)), analyzer_(analyzer) {}

  /// The body for the first `rows` of a tile; nothing if rows are read in a way that is not known.
  std::optional<Stmt> of(int64_t rows) {
    is_known_ = true;
    const auto fetching = [&](auto& self, const ForNode* node) -> Stmt {
      const Stmt changed = self.children(node);
      const ir::ObjectRef ahead = node->annotations.get(kPrefetchAheadOfFew);
      if (rows == guards_.rows || !ahead) return changed;
      return with(changed.as<ForNode>(),
                  [&](ForNode& loop) { loop.annotations.set(std::string(kPrefetchAhead), ahead); });
    };
    const auto guarding = [&](auto& self, const IfThenElseNode* node) -> Stmt {
      PrimExpr row;
      for (const PrimExpr& condition : arith::conjuncts(node->condition)) row = row ? row : row_of(condition);
      if (!row) return self.children(node);
      const PrimExpr is_in_tile = row < imm(rows, row->dtype);
      const bool is_free = !node->else_case && stays_in_registers(node->then_case);
      const PrimExpr condition =
          is_free ? without_guard(node->condition, is_in_tile) : logical_and(is_in_tile, node->condition);
      const Stmt inside = is_free ? from_last(node->then_case, row) : self(node->then_case);
      return IfThenElseNode::make(condition, inside, node->else_case ? self(node->else_case) : Stmt());
    };
    const Stmt body = ir::rewrite(loop_->body, guarding, fetching);
    return is_known_ ? std::optional(body) : std::nullopt;
  }

 private:
  PrimExpr row_of(const PrimExpr& condition) const {
    for (const auto& [guard, row] : guards_.found) {
      if (guard == condition) return row;
    }
    return nullptr;
  }

  PrimExpr without_guard(const PrimExpr& condition, const PrimExpr& instead) const {
    PrimExpr all = instead;
    for (const PrimExpr& part : arith::conjuncts(condition)) {
      if (!row_of(part)) all = logical_and(all, part);
    }
    return all;
  }

  // `body`, which reads the last row in the place of rows beyond it.
  Stmt from_last(const Stmt& body, const PrimExpr& row) {
    const PrimExpr place = guards_.first + loop_->loop_var * guards_.rows + row,
                   last = analyzer_.simplify(guards_.first + guards_.bound - 1);
    return ir::rewrite(body, [&](auto& self, const BufferLoadNode* node) -> PrimExpr {
      const PrimExpr load = self.children(node);
      std::vector<PrimExpr> indices = load.as<BufferLoadNode>()->indices;
      for (PrimExpr& index : indices) {
        if (!uses(index, loop_->loop_var.get())) continue;
        is_known_ &= analyzer_.can_prove_equal(index, place);
        index = min(index, cast(index->dtype, last));
      }
      return with(load.as<BufferLoadNode>(), [&](BufferLoadNode& changed) { changed.indices = indices; });
    });
  }

  const For& loop_;
  const Guards guards_;
  arith::Analyzer& analyzer_;
  bool is_known_ = true;
};

}  // namespace

Stmt split_open_rows(const For& loop) {
  arith::Analyzer analyzer;
  if (!is_zero(loop->min)) return loop;
  const Guards guards = GuardFinder(loop, analyzer).run();
  if (guards.found.empty() || !guards.are_alike || num_nodes(loop->body) > kMostCopiedNodes) return loop;
  const int64_t rows = guards.rows;
  int64_t most = 1;  // rows of a smaller tile
  while (2 * most < rows) most *= 2;
  const DataType dtype = loop->loop_var->dtype;
  PrimExpr count = floordiv(guards.bound + (rows - 1 - most), rows);
  if (!analyzer.can_prove_equal(loop->extent, floordiv(guards.bound + (rows - 1), rows)))
    count = max(imm(0, dtype), min(cast(dtype, count), loop->extent));  // a part of all rows
  const Var num_tiles = make_var("num_tiles", dtype), rest = make_var("rest", dtype);
  Tiles tiles(loop, guards, analyzer);
  const std::optional<Stmt> whole = tiles.of(rows);
  Stmt smaller;
  for (int64_t size = most; size > 0; size /= 2) {
    const std::optional<Stmt> body = tiles.of(size);
    if (!body) return loop;
    const Stmt tile = fresh_copy(*body, {{loop->loop_var.get(), num_tiles}});
    smaller = smaller ? IfThenElseNode::make(PrimExpr(rest) <= size, tile, smaller) : tile;
  }
  const bool is_parallel = loop->for_kind == ForKind::kParallel;
  const PrimExpr has_rest = logical_and(PrimExpr(num_tiles) < loop->extent, PrimExpr(rest) > 0);
  const Stmt last = LetStmtNode::make(cast(dtype, guards.bound - num_tiles * rows), rest,
                                      IfThenElseNode::make(has_rest, smaller, Stmt()));
  const Stmt all = with(loop, [&](ForNode& changed) {
    changed.body =
        is_parallel ? IfThenElseNode::make(PrimExpr(loop->loop_var) < num_tiles, *whole, last) : *whole;
    if (!is_parallel) changed.extent = num_tiles;
  });
  return LetStmtNode::make(cast(dtype, analyzer.simplify(count)), num_tiles,
                           is_parallel ? all : seq({all, last}));
}

}  // namespace tilewright::lower
