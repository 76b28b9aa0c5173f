#include "tilewright/explain/plans.h"

#include <algorithm>

#include "tilewright/relax/graph/type_util.h"

namespace tilewright::explain {

Sizes sizes_of_call(const ir::IRModule& module, const std::vector<runtime::Value>& inputs) {
  Sizes sizes;
  const auto main = ir::ref_as<relax::FunctionNode>(module->lookup("main"));
  for (size_t n = 0; n < std::min(main->params.size(), inputs.size()); ++n) {
    const relax::Shape* shape = relax::known_shape(main->params[n]);
    if (!shape || !inputs[n].tensor_object()) continue;
    const runtime::Tensor tensor = inputs[n].as_tensor();
    for (size_t axis = 0; axis < shape->size(); ++axis) {
      if (const auto* var = (*shape)[axis].as<tir::VarNode>()) sizes[var->name_hint] = tensor.shape()[axis];
    }
  }
  return sizes;
}

std::span<const driver::KernelSchedule> plans_of(const std::string& name,
                                                 const std::vector<driver::KernelSchedule>& schedules) {
  const auto first = std::ranges::find(schedules, name, &driver::KernelSchedule::function);
  const auto end = std::find_if(first, schedules.end(),
                                [&](const driver::KernelSchedule& each) { return each.function != name; });
  return {first, end};
}

size_t plan_for(std::span<const driver::KernelSchedule> plans, const Sizes& sizes) {
  size_t found = 0;
  for (size_t n = 0; n < plans.size(); ++n) {
    const bool has_begun = std::ranges::all_of(plans[n].extents, [&](const schedule::PlannedExtent& extent) {
      const auto size = sizes.find(extent.name);
      return size != sizes.end() && extent.first <= size->second;
    });
    if (has_begun) found = n;
  }
  return found;
}

}  // namespace tilewright::explain
