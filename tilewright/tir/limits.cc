#include "tilewright/tir/limits.h"

#include <limits>

#include "tilewright/support/error.h"
#include "tilewright/tir/builder.h"

namespace tilewright::tir {
namespace {

// The largest finite value of `dtype`.
double largest_float(DataType dtype) {
  if (dtype == DataType::float_(16)) return 65504;
  if (dtype == DataType::bfloat16()) return 0x1.fep127;
  if (dtype == DataType::make(DataType::kFloat8E4M3FN, 8, 1)) return 448;
  if (dtype == DataType::make(DataType::kFloat8E5M2, 8, 1)) return 57344;
  if (dtype == DataType::float_(32)) return std::numeric_limits<float>::max();
  if (dtype == DataType::float_(64)) return std::numeric_limits<double>::max();
  throw InternalError("no format is known of dtype {}", dtype.str());
}

}  // namespace

PrimExpr lowest_finite(DataType dtype) {
  return dtype.is_float() ? make_const(dtype, -largest_float(dtype)) : min_value(dtype);
}

PrimExpr largest_finite(DataType dtype) {
  return dtype.is_float() ? make_const(dtype, largest_float(dtype)) : max_value(dtype);
}

PrimExpr infinity(DataType dtype) {
  if (!dtype.is_float()) throw UserError("dtype {} has no infinity", dtype.str());
  return max_value(dtype);
}

}  // namespace tilewright::tir
