#include "tilewright/arith/likely.h"

#include "tilewright/arith/analyzer.h"
#include "tilewright/ir/rewrite.h"
#include "tilewright/ir/walk.h"
#include "tilewright/tir/builder.h"

namespace tilewright::arith {

ir::AttrMap likely_sizes_of(const ir::AttrMap& attrs) {
  const ir::ObjectRef value = attrs.get(kLikelySizes);
  const auto* sizes = value ? value.as<ir::DictNode>() : nullptr;
  return sizes ? sizes->items : ir::AttrMap();
}

std::optional<int64_t> likely_value(const PrimExpr& extent, const ir::AttrMap& sizes) {
  int64_t value;
  if (as_const_int(extent, &value)) return value;
  if (sizes.empty()) return std::nullopt;
  ir::Substitution likely;
  ir::walk(extent, [&](const VarNode* var) {
    if (sizes.contains(var->name_hint))
      likely[var] = make_const_int(var->dtype, sizes.get_int(var->name_hint, 0));
  });
  return as_const_int(simplify(ir::substitute(extent, likely)), &value) ? std::optional(value) : std::nullopt;
}

}  // namespace tilewright::arith
