#include "tilewright/relax/infer/likely_sizes.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "tilewright/arith/likely.h"
#include "tilewright/ir/pass.h"
#include "tilewright/ir/walk.h"
#include "tilewright/relax/graph/type_util.h"
#include "tilewright/relax/infer/op.h"
#include "tilewright/target/costs.h"
#include "tilewright/tir/builder.h"

namespace tilewright::relax {

using target::kGraphCosts;

namespace {

// The likely values of size `name`, ascending.  Raises UserError unless they are at least one number, each once and
// at least 1.
std::vector<int64_t> checked_values(const std::string& name, std::vector<int64_t> values) {
  if (values.empty()) throw UserError("best_at has no extent for \"{}\", expected at least one", name);
  std::sort(values.begin(), values.end());
  if (values.front() < 1)
    throw UserError("best_at has {} for \"{}\", expected at least 1", values.front(), name);
  const auto same = std::adjacent_find(values.begin(), values.end());
  if (same != values.end()) throw UserError("best_at has {} for \"{}\" twice", *same, name);
  return values;
}

// Raises UserError if a kernel that has all sizes of `given` would have too many plans.
void check_number(const ir::AttrMap& given) {
  double num_plans = 1;
  std::vector<std::string> texts;
  for (const auto& [name, value] : given) {
    const size_t count = arith::likely_values(given, name).size();
    num_plans *= static_cast<double>(count);
    if (count > 1) texts.push_back(fmt::format("{} extents for \"{}\"", count, name));
  }
  if (num_plans > static_cast<double>(kGraphCosts.most_plans))
    throw UserError("best_at has {}, for which a kernel would have {} plans, more than {}",
                    fmt::join(texts, " and "), num_plans, kGraphCosts.most_plans)
        .help("name those extents alone that most calls have");
}

// Raises UserError unless each of `given` is a size of a parameter of `module` that is known only at run time.
void check_names(const IRModule& module, const ir::AttrMap& given) {
  std::set<std::string> open;
  for (const ir::BaseFunc& each : module->functions) {
    const auto func = ir::ref_as<FunctionNode>(each);
    if (!func) continue;
    for (const Var& param : func->params) {
      const Shape* shape = known_shape(param);
      if (!shape) continue;
      for (const PrimExpr& extent : *shape)
        walk(extent, [&](const tir::VarNode* var) { open.insert(var->name_hint); });
    }
  }
  for (const auto& [name, value] : given) {
    if (!open.contains(name))
      throw UserError("best_at has \"{}\", which is no open dimension of the inputs", name)
          .help("{}", open.empty() ? "all are fixed" : fmt::format("open are {}", fmt::join(open, ", ")));
  }
}

}  // namespace

ir::AttrMap likely_sizes(const IRModule& module, ir::AttrMap given) {
  check_names(module, given);
  const ir::AttrMap unsorted = given;
  for (const auto& [name, value] : unsorted)
    given.set(name, arith::likely_item(checked_values(name, arith::likely_values(unsorted, name))));
  check_number(given);
  const auto note = [&](const PrimExpr& extent, int64_t likely) {
    const auto* var = extent.as<tir::VarNode>();
    if (var && !given.contains(var->name_hint)) given.set(var->name_hint, tir::imm(likely, kInt64));
  };
  for (const ir::BaseFunc& func : module->functions) {
    if (!is<FunctionNode>(func)) continue;
    walk(func, [&](const CallNode* call) {
      const OpInfo* info = op_of(call);
      const bool is_conv = info && info->name == std::string_view("relax.nn.conv2d"),
                 is_transposed = info && info->name == std::string_view("relax.nn.conv2d_transpose");
      if (!is_conv && !is_transposed) return;
      const int64_t side = is_conv ? kGraphCosts.likely_picture : target::kLoopCosts.likely_extent;
      const Shape* data = known_shape(call->args[0]);
      const std::string layout = call->attrs.get_string("data_layout", "");
      for (size_t dim = 0; data && dim < std::min(data->size(), layout.size()); ++dim) {
        if (layout[dim] == 'N') note((*data)[dim], kGraphCosts.likely_batch);
        if (layout[dim] == 'H' || layout[dim] == 'W') note((*data)[dim], side);
      }
    });
  }
  return given;
}

IRModule with_likely_sizes(const IRModule& module, const ir::AttrMap& sizes) {
  if (sizes.empty()) return module;
  return ir::map_functions<tir::PrimFuncNode>(module, [&](const tir::PrimFunc& func) -> tir::PrimFunc {
    ir::AttrMap own;
    for (const tir::Buffer& buffer : func->buffers) {
      if (!buffer) continue;
      for (const PrimExpr& extent : buffer->shape) {
        walk(extent, [&](const tir::VarNode* var) {
          if (sizes.contains(var->name_hint)) own.set(var->name_hint, sizes.get(var->name_hint));
        });
      }
    }
    if (own.empty() || func->attrs.contains(arith::kLikelySizes)) return func;
    return ir::ref_as<tir::PrimFuncNode>(
        ir::with_attr(func, std::string(arith::kLikelySizes), ir::DictNode::make(own)));
  });
}

}  // namespace tilewright::relax
