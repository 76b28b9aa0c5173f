#include "tilewright/te/shape.h"

#include "tilewright/support/error.h"
#include "tilewright/tir/builder.h"

namespace tilewright::te {

void require_shape(const std::vector<PrimExpr>& shape, std::string_view name) {
  for (size_t n = 0; n < shape.size(); ++n) {
    if (!shape[n] || !shape[n]->dtype.is_integral() || !shape[n]->dtype.is_scalar())
      throw UserError(shape[n], "tensor {}: dimension {} has dtype {}, expected an integer", name, n,
                      shape[n] ? shape[n]->dtype.str() : "none");
    int64_t extent;
    if (as_const_int(shape[n], &extent) && extent < 0)
      throw UserError(shape[n], "tensor {}: dimension {} is {}, which is negative", name, n, extent);
  }
}

}  // namespace tilewright::te
