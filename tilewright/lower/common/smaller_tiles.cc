#include "tilewright/lower/common/smaller_tiles.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "tilewright/arith/analyzer.h"
#include "tilewright/ir/rewrite.h"
#include "tilewright/ir/services.h"
#include "tilewright/ir/walk.h"
#include "tilewright/lower/common/free_vars.h"
#include "tilewright/tir/builder.h"
#include "tilewright/tir/fresh.h"
#include "tilewright/tir/op.h"
#include "tilewright/tir/uses.h"

namespace tilewright::lower {
namespace {

// Finds if rows may run in another order, and where memory of the body's own has its rows.
class RowsApart {
 public:
  RowsApart(const Stmt& body, const TileRows& rows) : rows_(rows), name_(make_var("row", rows.row->dtype)) {
    for (const Var& var : free_vars(body)) outside_.insert(var.get());
    visit(body.get());
    for (const auto& [buffer, dims] : places_) {
      are_apart_ &= std::any_of(dims.begin(), dims.end(), [](const PrimExpr& index) { return bool(index); });
      are_apart_ &= is_own(buffer) || !loaded_.contains(buffer->data.get());
    }
  }
  bool are_apart() const { return are_apart_; }
  bool has_conditions() const { return has_conditions_; }

  /// The dimension of rows in a buffer of the body's own; nothing of others.
  std::optional<size_t> row_dimension(const BufferNode* buffer) const {
    const auto dims = places_.find(buffer);
    if (!is_own(buffer) || dims == places_.end()) return std::nullopt;
    const auto found = std::find_if(dims->second.begin(), dims->second.end(),
                                    [](const PrimExpr& index) { return bool(index); });
    return found - dims->second.begin();
  }

 private:
  void visit(const Object* node) {
    const ObjectRef ref(node);
    if (const auto* loop = ref.as<ForNode>()) return visit(loop);
    if (const auto* load = ref.as<BufferLoadNode>()) {
      if (is_own(load->buffer.get()))
        take(load->buffer, load->indices);
      else
        loaded_.insert(load->buffer->data.get());
    }
    if (const auto* store = ref.as<BufferStoreNode>()) take(store->buffer, store->indices);
    if (const auto* call = ref.as<CallNode>()) {
      are_apart_ &= is_pure(call->op);
      has_conditions_ |= row_ && is_if_then_else(call) && uses(ir::ref_as<PrimExprNode>(call->args[0]), row_);
    }
    for_each_child(node, this, [](void* self, const Object* child, bool is_leaf_use) {
      if (!is_leaf_use) static_cast<RowsApart*>(self)->visit(child);
    });
  }

  void visit(const ForNode* loop) {
    const bool is_of_rows =
        std::find(rows_.vars.begin(), rows_.vars.end(), loop->loop_var.get()) != rows_.vars.end();
    are_apart_ &= !is_of_rows || !row_;
    if (is_of_rows) row_ = loop->loop_var.get();
    visit(loop->min.get());
    visit(loop->extent.get());
    visit(loop->body.get());
    if (is_of_rows) row_ = nullptr;
  }

  bool is_own(const BufferNode* buffer) const { return !outside_.contains(buffer->data.get()); }

  // Each row has a place of its own along a dimension whose index is the same in all accesses to a buffer.
  void take(const Buffer& buffer, const std::vector<PrimExpr>& indices) {
    if (!row_) {
      are_apart_ = false;
      return;
    }
    std::vector<PrimExpr> dims;
    for (const PrimExpr& index : indices) dims.push_back(place_in(index, is_own(buffer.get())));
    const auto [known, is_new] = places_.try_emplace(buffer.get(), dims);
    const auto [memory, is_first] = memories_.try_emplace(buffer->data.get(), buffer.get());
    are_apart_ &= memory->second == buffer.get();
    for (size_t n = 0; n < dims.size(); ++n) {
      PrimExpr& place = known->second[n];
      if (!place || !dims[n] || !ir::structural_equal(place, dims[n])) place = nullptr;
    }
  }

  // `index` in terms of the row's common name if it tells rows apart; null if it does not.
  PrimExpr place_in(const PrimExpr& index, bool is_own) const {
    if (is_own) return index.get() == row_ ? PrimExpr(name_) : PrimExpr();
    if (uses_any(index, [&](const VarNode* var) { return var != row_ && !outside_.contains(var); }))
      return nullptr;
    bool reads = false;
    ir::walk(index, [&](const BufferLoadNode*) { reads = true; });
    const PrimExpr next = ir::substitute(index, {{row_, Var(row_) + 1}});
    int64_t step;
    if (reads || !as_const_int(arith::simplify(next - index), &step) || step == 0) return nullptr;
    return arith::simplify(ir::substitute(index, {{row_, name_}}));
  }

  const TileRows& rows_;
  const Var name_;                // of the row in `places_`, whatever its loop calls it
  const VarNode* row_ = nullptr;  // of the loop over rows that is visited
  bool are_apart_ = true, has_conditions_ = false;
  std::unordered_set<const VarNode*> outside_;  // variables and memory that the body uses and does not define
  std::unordered_set<const VarNode*> loaded_;   // memory
  std::unordered_map<const BufferNode*, std::vector<PrimExpr>> places_;
  std::unordered_map<const VarNode*, const BufferNode*> memories_;  // the only buffer that lies there
};

// `body` for `count` rows from `start` on.  Memory of its own has them from 0 on.
Stmt tile_of(const Stmt& body, const TileRows& rows, const RowsApart& places, int64_t count,
             const PrimExpr& start) {
  const auto is_row = [&](const VarNode* var) {
    return std::find(rows.vars.begin(), rows.vars.end(), var) != rows.vars.end();
  };
  const auto moved = [&](auto& self, const auto* node) {
    std::vector<PrimExpr> indices = node->indices;
    const std::optional<size_t> own = places.row_dimension(node->buffer.get());
    for (size_t n = 0; n < indices.size(); ++n) {
      if (n != own) indices[n] = self(indices[n]);
    }
    return indices;
  };
  const Stmt tile = ir::rewrite(
      body,
      [&](auto& self, const ForNode* node) -> Stmt {
        const For loop = self.children(node);
        if (!is_row(node->loop_var.get())) return loop;
        return with(loop, [&](ForNode& changed) { changed.extent = imm(count, changed.loop_var->dtype); });
      },
      [&](auto& self, const BufferLoadNode* node) -> PrimExpr {
        return with(BufferLoad(node), [&](BufferLoadNode& changed) {
          changed.indices = moved(self, node);
          changed.predicate = self(node->predicate);
        });
      },
      [&](auto& self, const BufferStoreNode* node) -> Stmt {
        return with(BufferStore(node), [&](BufferStoreNode& changed) {
          changed.indices = moved(self, node);
          changed.value = self(node->value);
          changed.predicate = self(node->predicate);
        });
      },
      [&](auto&, const VarNode* var) -> PrimExpr { return is_row(var) ? Var(var) + start : PrimExpr(var); });
  return fresh_copy(tile);
}

// True if all rows before one that is there are there.
bool has_all_before(const TileRows& rows) {
  arith::Analyzer analyzer;
  const Var last = make_var("last", rows.row->dtype), row(rows.row);
  analyzer.bind(last, make_range(imm(0, last->dtype), imm(rows.count, last->dtype)));
  analyzer.bind(row, make_range(imm(0, last->dtype), last + 1));
  analyzer.require(ir::substitute(rows.condition, {{rows.row, last}}));
  return analyzer.can_prove(rows.condition);
}

}  // namespace

std::optional<Stmt> in_smaller_tiles(const Stmt& body, const TileRows& rows) {
  const RowsApart places(body, rows);
  if (!places.has_conditions() || !places.are_apart() || !has_all_before(rows)) return std::nullopt;
  const DataType dtype = rows.row->dtype;
  std::vector<int64_t> sizes;
  for (int64_t size = 1; size < rows.count; size *= 2) sizes.push_back(size);
  std::vector<Var> starts;
  for (size_t n = 1; n < sizes.size(); ++n) starts.push_back(make_var("start", dtype));
  Stmt all;
  for (size_t n = 0; n < sizes.size(); ++n) {  // from the last tile, which has one row, to the first
    const PrimExpr start = n + 1 < sizes.size() ? PrimExpr(starts[n]) : imm(0, dtype);
    const PrimExpr is_there =
        arith::simplify(ir::substitute(rows.condition, {{rows.row, start + imm(sizes[n] - 1, dtype)}}));
    const Stmt tile = IfThenElseNode::make(is_there, tile_of(body, rows, places, sizes[n], start), Stmt());
    if (all)
      all = seq({tile, LetStmtNode::make(start + select(is_there, imm(sizes[n], dtype), imm(0, dtype)),
                                         starts[n - 1], all)});
    else
      all = tile;
  }
  return all;
}

}  // namespace tilewright::lower
