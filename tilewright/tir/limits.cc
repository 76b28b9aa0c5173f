#include "tilewright/tir/limits.h"

#include <limits>

#include "tilewright/support/error.h"
#include "tilewright/support/small_float.h"
#include "tilewright/tir/builder.h"

namespace tilewright::tir {
namespace {

// The largest finite value of `dtype`.
double largest_float(DataType dtype) {
  if (is_small_float(dtype)) {
    const FloatFormat format = float_format(dtype);
    return decode_float(format.largest_bits(), format);
  }
  if (dtype == DataType::float_(32)) return std::numeric_limits<float>::max();
  if (dtype == DataType::float_(64)) return std::numeric_limits<double>::max();
  throw InternalError("no format is known of dtype {}", dtype.str());
}

}  // namespace

PrimExpr lowest_finite(DataType dtype) {
  if (!dtype.is_float()) return min_value(dtype);
  if (is_small_float(dtype) && float_format(dtype).is_powers())
    return make_const(dtype, decode_float(0, float_format(dtype)));
  return make_const(dtype, -largest_float(dtype));
}

PrimExpr largest_finite(DataType dtype) {
  return dtype.is_float() ? make_const(dtype, largest_float(dtype)) : max_value(dtype);
}

PrimExpr infinity(DataType dtype) {
  if (!dtype.is_float()) throw UserError("dtype {} has no infinity", dtype.str());
  return max_value(dtype);
}

}  // namespace tilewright::tir
