// Attributes of operators that take one of a few strings.
#pragma once
#include <algorithm>

#include "tilewright/relax/infer/op_util.h"

namespace tilewright::relax {

/// Raises UserError unless `value`, the attribute `name`, is one of `known`.
inline void require_one_of(const Call& call, std::string_view name, const std::string& value,
                           const std::vector<std::string_view>& known) {
  if (std::find(known.begin(), known.end(), value) != known.end()) return;
  fail(call, "{} is \"{}\", expected one of {}", name, value, fmt::join(known, ", "));
}

}  // namespace tilewright::relax
