#include "tilewright/tir/range_end.h"

#include "tilewright/ir/services.h"
#include "tilewright/tir/builder.h"

namespace tilewright::tir {
namespace {

// The x of min + x; null for other expressions.
PrimExpr added_to(const PrimExpr& min, const PrimExpr& end) {
  const auto* sum = end.as<AddNode>();
  return sum && structural_equal(sum->a, min) ? sum->b : PrimExpr();
}

}  // namespace

PrimExpr end_of(const PrimExpr& min, const PrimExpr& extent) {
  const auto* difference = extent.as<SubNode>();
  const bool is_read_back = difference && structural_equal(difference->b, min) &&
                            !added_to(min, difference->a) && !structural_equal(difference->a, min);
  return is_read_back ? difference->a : min + extent;
}

PrimExpr extent_to(const PrimExpr& min, const PrimExpr& end) {
  if (const PrimExpr extent = added_to(min, end)) return extent;
  if (is_zero(min)) return end;
  return structural_equal(min, end) ? make_const_int(end->dtype, 0) : end - min;
}

}  // namespace tilewright::tir
