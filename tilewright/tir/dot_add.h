// The operator dot_add: the dot product that common processors have one instruction for.
//   dot_add(sum, a, b)[n] = sum[n] + sum of cast(a[n * group + k]) * cast(b[n * group + k]) over k in
//   range(group)
// `b` has `group` lanes for each lane of `sum`; `a` has as many, or one group that all lanes share.  Integers
// are exact (modulo 2**32); for floats the machine decides the order of the additions and whether denormals
// count as 0.
#pragma once
#include "tilewright/tir/tir.h"

namespace tilewright::tir {

struct DotAdd {
  PrimExpr sum, a, b;
  int group = 1;
  bool is_shared = false;  // `a` is one group
};

/// The operands of a call of dot_add.  Raises UserError if there are not three, if their lane counts do not
/// fit, or if the dtypes are not (u)int8, (u)int8 -> int32 or bfloat16, bfloat16 -> float32.
DotAdd dot_add(const CallNode* call);

}  // namespace tilewright::tir
