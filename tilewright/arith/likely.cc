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

ir::ObjectRef likely_item(const std::vector<int64_t>& values) {
  std::vector<ir::ObjectRef> items;
  for (const int64_t value : values) items.push_back(imm(value, kInt64));
  return items.size() == 1 ? items.front() : ir::ArrayNode::make(std::move(items));
}

std::vector<int64_t> likely_values(const ir::AttrMap& sizes, std::string_view name) {
  if (ir::is<ir::ArrayNode>(sizes.get(name))) return sizes.get_ints(name, {});
  if (sizes.contains(name)) return {sizes.get_int(name, 0)};
  return {};
}

std::optional<int64_t> likely_value(const PrimExpr& extent, const ir::AttrMap& sizes) {
  int64_t value;
  if (as_const_int(extent, &value)) return value;
  if (sizes.empty()) return std::nullopt;
  ir::Substitution likely;
  ir::walk(extent, [&](const VarNode* var) {
    const std::vector<int64_t> values = likely_values(sizes, var->name_hint);
    if (!values.empty()) likely[var] = make_const_int(var->dtype, values.back());
  });
  return as_const_int(simplify(ir::substitute(extent, likely)), &value) ? std::optional(value) : std::nullopt;
}

}  // namespace tilewright::arith
