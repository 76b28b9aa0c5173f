// Expressions of a nest: indices as sums of loops, and the operations and loads of stored values.
#pragma once
#include <functional>
#include <vector>

#include "tilewright/tune/nest.h"

namespace tilewright::tune {

/// Knows the variables and views that are in sight.
class NestExprs {
 public:
  void bind(const tir::VarNode* var, Index index) { vars_.emplace_back(var, std::move(index)); }
  void add_view(const tir::MatchBufferRegion& view);

  /// Of an index with very many operations, as shared ones make, what the first ones tell.
  Index index(const ir::PrimExpr& expr);
  /// The indices into source_of(buffer).
  std::vector<Index> indices(const tir::BufferNode* buffer, const std::vector<ir::PrimExpr>& written);
  const tir::BufferNode* source_of(const tir::BufferNode* buffer) const;
  /// Adds the operations of a stored value; `on_load` takes what it loads.  Of a value with very many
  /// operations, as shared ones make, the first.
  void value(const ir::PrimExpr& expr, Operations& operations,
             const std::function<void(const tir::BufferLoadNode*)>& on_load);

 private:
  struct View {
    const tir::BufferNode *buffer, *source;
    std::vector<Index> begin;  // in the source
  };
  const View* view_of(const tir::BufferNode* buffer) const;
  Index visit(const ir::PrimExpr& expr);
  Index binary(const tir::BinaryOpNode* op);

  std::vector<std::pair<const tir::VarNode*, Index>> vars_;
  std::vector<View> views_;
  int64_t budget_ = 0;  // nodes that may still be visited
};

}  // namespace tilewright::tune
