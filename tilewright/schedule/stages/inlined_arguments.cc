#include "tilewright/schedule/stages/inlined_arguments.h"

#include <algorithm>

namespace tilewright::schedule {

using te::Operation;
using te::Tensor;
using te::TensorMap;

namespace {

void map_outputs(TensorMap* map, const Operation& from, const Operation& to) {
  const std::vector<Tensor> before = te::outputs_of(from), after = te::outputs_of(to);
  for (size_t n = 0; n < before.size(); ++n) (*map)[te::key_of(before[n].get())] = after[n];
}

bool reads_any(const Operation& op, const TensorMap& map) {
  return std::ranges::any_of(te::inputs_of(op),
                             [&](const Tensor& input) { return map.contains(te::key_of(input.get())); });
}

// Another operation that computes the same; only such operations can be inlined.
Operation copy_of(const Operation& op) {
  const auto* compute = op.as<te::TeComputeNode>();
  return compute ? te::TeComputeNode::make(compute->name, compute->axis, compute->body, compute->attrs) : op;
}

}  // namespace

bool computes_any(const Operation& op, const std::vector<ObjectRef>& args) {
  return std::ranges::any_of(args, [&](const ObjectRef& arg) {
    const auto* tensor = arg.as<te::TeTensorNode>();
    return tensor && tensor->op == op;
  });
}

WithCopies::WithCopies(const StageSchedule& stages, const std::vector<ObjectRef>& args) {
  TensorMap read;  // what stands for a tensor where it is read
  for (const StageRef& stage : stages.stages()) {
    const Operation op = stage->op();
    const bool is_copied = stage->attachment == Attachment::kInline && computes_any(op, args);
    if (!is_copied && !reads_any(op, read)) continue;
    const Operation changed = te::with_inputs(op, read);
    map_outputs(&arguments_, op, changed);
    operations_[op.get()] = is_copied ? copy_of(changed) : changed;
    map_outputs(&read, op, operations_[op.get()]);
  }
}

Operation WithCopies::operation(const Operation& op) const {
  const auto found = operations_.find(op.get());
  return found == operations_.end() ? op : found->second;
}

Tensor WithCopies::argument(const Tensor& tensor) const {
  const auto found = arguments_.find(te::key_of(tensor.get()));
  return found == arguments_.end() ? tensor : found->second;
}

}  // namespace tilewright::schedule
