#include "tilewright/tir/strides.h"

#include "tilewright/tir/builder.h"

namespace tilewright::tir {

std::vector<PrimExpr> strides_of(const Buffer& buffer) {
  if (!buffer->strides.empty()) return buffer->strides;
  std::vector<PrimExpr> strides(buffer->shape.size());
  PrimExpr step = imm(1, buffer->shape.empty() ? kInt32 : buffer->shape.back()->dtype);
  for (size_t n = strides.size(); n-- > 0; step = step * buffer->shape[n]) strides[n] = step;
  return strides;
}

}  // namespace tilewright::tir
