#include "tilewright/relax/graph/devices.h"

#include <algorithm>
#include <iterator>

#include "tilewright/relax/graph/type_util.h"

namespace tilewright::relax {
namespace {

void collect(const Type& type, std::vector<const TensorTypeNode*>* out) {
  if (const auto* tensor = type.as<TensorTypeNode>()) {
    out->push_back(tensor);
  } else if (const auto* tuple = type.as<TupleTypeNode>()) {
    for (const Type& element : tuple->elements) collect(element, out);
  }
}

// `type` with the device of each tensor as `device_of(its number)`.
template <class DeviceOf>
Type placed(const Type& type, size_t* number, const DeviceOf& device_of) {
  if (const auto* tensor = type.as<TensorTypeNode>()) {
    const std::string& device = device_of((*number)++);
    if (device == tensor->device) return type;
    return with(tensor, [&](TensorTypeNode& node) { node.device = device; });
  }
  const auto* tuple = type.as<TupleTypeNode>();
  if (!tuple) return type;
  std::vector<Type> elements;
  for (const Type& element : tuple->elements) elements.push_back(placed(element, number, device_of));
  if (elements == tuple->elements) return type;
  return with(tuple, [&](TupleTypeNode& node) { node.elements = std::move(elements); });
}

bool names_no_device(const TensorTypeNode* tensor) { return tensor->device.empty(); }

}  // namespace

std::vector<const TensorTypeNode*> tensors_in(const Type& type) {
  std::vector<const TensorTypeNode*> tensors;
  collect(type, &tensors);
  return tensors;
}

Type with_devices(const Type& type, const std::vector<std::string>& devices) {
  size_t number = 0;
  return placed(type, &number, [&](size_t n) -> const std::string& { return devices.at(n); });
}

Type with_declared_devices(const Type& type, const Type& declared) {
  const std::vector<const TensorTypeNode*> known = tensors_in(declared);
  if (std::all_of(known.begin(), known.end(), names_no_device)) return type;
  const std::vector<const TensorTypeNode*> tensors = tensors_in(type);
  if (tensors.size() != known.size()) return type;
  size_t number = 0;
  return placed(type, &number, [&](size_t n) -> const std::string& {
    return tensors[n]->device.empty() ? known[n]->device : tensors[n]->device;
  });
}

Type with_default_device(const Type& type, const std::string& device) {
  const std::vector<const TensorTypeNode*> tensors = tensors_in(type);
  size_t number = 0;
  return placed(type, &number, [&](size_t n) -> const std::string& {
    return tensors[n]->device.empty() ? device : tensors[n]->device;
  });
}

void for_each_tensor(const Expr& expr,
                     const std::function<void(const TensorTypeNode*, std::string_view)>& visit) {
  if (is<ConstantNode>(expr)) return;
  if (const auto* tuple = expr.as<TupleNode>()) {
    for (const Expr& element : tuple->elements) for_each_tensor(element, visit);
    return;
  }
  const auto* var = expr.as<VarBaseNode>();
  const Type type = type_of(expr);
  for (const TensorTypeNode* tensor : tensors_in(type))
    visit(tensor, var ? std::string_view(var->name_hint) : std::string_view());
}

bool mixes_devices(std::string_view op_name) {
  static constexpr std::string_view kNames[] = {"relax.to_vdevice",
                                                "relax.hint_on_device",
                                                "relax.call_packed",
                                                "relax.call_pure_packed",
                                                "relax.call_inplace_packed",
                                                "relax.call_builtin_with_ctx",
                                                "relax.invoke_closure",
                                                "relax.invoke_pure_closure",
                                                "relax.make_closure",
                                                "relax.loop",
                                                "relax.print",
                                                "relax.assert_op",
                                                "relax.vm.kill_object",
                                                "relax.call_dps_packed",
                                                "relax.memory.kill_tensor",
                                                "relax.memory.alloc_tensor"};
  return std::find(std::begin(kNames), std::end(kNames), op_name) != std::end(kNames);
}

}  // namespace tilewright::relax
