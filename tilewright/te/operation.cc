#include "tilewright/te/operation.h"

#include <unordered_set>

#include "tilewright/ir/rewrite.h"
#include "tilewright/ir/walk.h"
#include "tilewright/te/extern.h"

namespace tilewright::te {
namespace {

void collect(const Operation& op, std::unordered_set<const Object*>* seen, std::vector<Operation>* order) {
  if (!seen->insert(op.get()).second) return;
  for (const Tensor& input : inputs_of(op)) collect(input->op, seen, order);
  order->push_back(op);
}

PrimExpr with_reads(const PrimExpr& value, const TensorMap& map) {
  return rewrite(value, [&](auto& self, const ProducerLoadNode* load) -> PrimExpr {
    const auto found = map.find(key_of(load->producer.as<TeTensorNode>()));
    const ObjectRef producer = found == map.end() ? load->producer : ObjectRef(found->second);
    return ProducerLoadNode::make(producer, self(load->indices), load->dtype, load->span);
  });
}

}  // namespace

std::vector<Tensor> inputs_of(const Operation& op) {
  std::vector<Tensor> found;
  std::map<TensorKey, bool> seen;
  const auto add = [&](const TeTensorNode* tensor) {
    if (seen.emplace(key_of(tensor), true).second) found.emplace_back(Ref<TeTensorNode>(tensor));
  };
  if (const auto* compute = op.as<TeComputeNode>()) {
    for (const PrimExpr& value : compute->body)
      walk(value, [&](const ProducerLoadNode* load) { add(load->producer.as<TeTensorNode>()); });
  }
  if (const auto* external = op.as<TeExternNode>())
    for (const auto& input : external->inputs) add(input.get());
  if (const auto* scan = op.as<TeScanNode>()) {
    for (const auto* tensors : {&scan->init, &scan->update})
      for (const auto& tensor : *tensors) add(tensor.get());
  }
  return found;
}

AttrMap block_attrs(AttrMap attrs) {
  attrs.erase("tag");
  return attrs;
}

std::vector<Tensor> outputs_of(const Operation& op) {
  std::vector<Tensor> outputs;
  const auto add = [&](const Shape& shape, DataType dtype) {
    outputs.emplace_back(TeTensorNode::make(op, static_cast<int64_t>(outputs.size()), shape, dtype));
  };
  if (const auto* compute = op.as<TeComputeNode>()) {
    Shape shape;
    for (const IterVar& axis : compute->axis) shape.push_back(axis->dom->extent);
    for (const PrimExpr& value : compute->body) add(shape, value->dtype);
  } else if (const auto* external = op.as<TeExternNode>()) {
    const std::vector<Shape> shapes = output_shapes(external);
    for (size_t n = 0; n < shapes.size(); ++n) add(shapes[n], external->output_buffers[n]->dtype);
  } else if (const auto* scan = op.as<TeScanNode>()) {
    for (const auto& state : scan->state) add(state->shape, state->dtype);
  } else if (const auto* input = op.as<TePlaceholderNode>()) {
    add(input->shape, input->dtype);
  }
  return outputs;
}

std::vector<Operation> operations_of(const std::vector<Operation>& outputs) {
  std::unordered_set<const Object*> seen;
  std::vector<Operation> order;
  for (const Operation& op : outputs) collect(op, &seen, &order);
  return order;
}

std::vector<IterVar> reduce_axes_of(const Operation& op) {
  const auto* compute = op.as<TeComputeNode>();
  const auto* reduce = compute ? compute->body[0].as<ReduceNode>() : nullptr;
  return reduce ? reduce->axis : std::vector<IterVar>{};
}

Operation with_inputs(const Operation& op, const TensorMap& map) {
  bool is_changed = false;
  for (const Tensor& input : inputs_of(op)) is_changed |= map.contains(key_of(input.get()));
  if (!is_changed) return op;
  if (const auto* compute = op.as<TeComputeNode>()) {
    std::vector<PrimExpr> body;
    for (const PrimExpr& value : compute->body) body.push_back(with_reads(value, map));
    return TeComputeNode::make(compute->name, compute->axis, std::move(body), compute->attrs);
  }
  const auto replaced = [&](std::vector<Ref<TeTensorNode>> tensors) {
    for (auto& tensor : tensors) {
      const auto found = map.find(key_of(tensor.get()));
      if (found != map.end()) tensor = found->second;
    }
    return tensors;
  };
  if (const auto* scan = op.as<TeScanNode>())
    return TeScanNode::make(scan->name, scan->axis, scan->spatial_axis, replaced(scan->init),
                            replaced(scan->update), scan->state, replaced(scan->inputs), scan->attrs);
  const auto* external = op.as<TeExternNode>();
  std::vector<Ref<TeTensorNode>> inputs = replaced(external->inputs);
  return TeExternNode::make(external->name, std::move(inputs), external->input_buffers,
                            external->output_buffers, external->body, external->attrs);
}

}  // namespace tilewright::te
