#include "tilewright/tir/dot_add.h"

#include "tilewright/support/error.h"

namespace tilewright::tir {
namespace {

bool is_byte(DataType dtype) { return (dtype.is_int() || dtype.is_uint()) && dtype.bits == 8; }

bool fits(DataType sum, DataType a, DataType b) {
  if (sum.element() == kInt32) return is_byte(a) && is_byte(b);
  const DataType bfloat16 = DataType::bfloat16();
  return sum.element() == kFloat32 && a.element() == bfloat16 && b.element() == bfloat16;
}

}  // namespace

DotAdd dot_add(const CallNode* call) {
  if (call->args.size() != 3) throw UserError(call, "dot_add takes 3 arguments, found {}", call->args.size());
  DotAdd dot{call->args[0], call->args[1], call->args[2]};
  const DataType sum = dot.sum->dtype, a = dot.a->dtype, b = dot.b->dtype;
  if (!fits(sum, a, b) || call->dtype != sum)
    throw UserError(call, "dot_add of {} and {} to {}", a.str(), b.str(), sum.str())
        .help("products of int8 or uint8 are added to int32, those of bfloat16 to float32");
  dot.group = b.lanes / sum.lanes;
  dot.is_shared = a.lanes != b.lanes;
  if (b.lanes % sum.lanes != 0 || (dot.is_shared && a.lanes != dot.group))
    throw UserError(call, "dot_add of {} and {} to {}: the lane counts do not match", a.str(), b.str(),
                    sum.str())
        .help("b has a group of lanes for each lane of the sum, a has as many or one group");
  return dot;
}

}  // namespace tilewright::tir
