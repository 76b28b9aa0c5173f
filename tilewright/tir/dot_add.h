// The operator dot_add: what one dot product instruction of common processors does.
//   dot_add(sum, a, b)[n] = sum[n] + sum of cast(a[n * group + k]) * cast(b[n * group + k]) over k in
//   range(group)
// `b` has `group` lanes for each lane of `sum`; `a` as many, or one group that all lanes share.  Integers are
// exact (modulo 2**32); of floats the order of the additions, and whether denormals count, is the machine's.
#pragma once
#include "tilewright/tir/tir.h"

namespace tilewright::tir {

struct DotAdd {
  PrimExpr sum, a, b;
  int group = 1;
  bool is_shared = false;  // `a` is one group
};

/// The parts of a call of dot_add.  Raises UserError if it has others than three arguments, the numbers of
/// lanes do not fit, or the dtypes are not (u)int8, (u)int8 -> int32 or bfloat16, bfloat16 -> float32.
DotAdd dot_add(const CallNode* call);

}  // namespace tilewright::tir
