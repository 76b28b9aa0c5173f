// Indices and extents in messages: i + 1, whatever number of bits they have.
#pragma once
#include "tilewright/tir/text.h"

namespace tilewright::tir {

/// `index` in one line; its constants of the same dtype stand without it.
inline std::string index_text(const PrimExpr& index) {
  ExprWriter writer;
  if (index->dtype.is_int()) writer.bare_int = index->dtype.element();
  writer.expr(index);
  return writer.out;
}

}  // namespace tilewright::tir
