// Operators that state the device of a value, or when it is computed.
#include "tilewright/relax/graph/type_util.h"
#include "tilewright/relax/infer/op_util.h"
#include "tilewright/runtime/builtins.h"
#include "tilewright/te/topi/elementwise.h"

namespace tilewright::relax {
namespace {

struct DeviceAttrs {
  std::string dst_vdevice;
  static constexpr auto fields() {
    return std::tuple{field<&DeviceAttrs::dst_vdevice>("dst_vdevice", "e.g. \"cpu:0\"")};
  }
};

Type infer_moved(const Call& call, const DeviceAttrs& attrs) {
  if (attrs.dst_vdevice.empty()) fail(call, "dst_vdevice is not given");
  const TensorType data(tensor_arg(call, 0));
  return with(data, [&](TensorTypeNode& moved) { moved.device = attrs.dst_vdevice; });
}
Type infer_hinted(const Call& call, const DeviceAttrs& attrs) {
  if (attrs.dst_vdevice.empty()) fail(call, "dst_vdevice is not given");
  const TensorType data(tensor_arg(call, 0));
  // the module says which of its devices that is
  return data->device.empty() ? data : with(data, [](TensorTypeNode& hinted) { hinted.device = ""; });
}
Type infer_same(const Call& call) { return type_of(call->args[0]); }

te::Tensor lower(const LowerInput& in) { return topi::cast(in[0], in[0].dtype()); }
te::Tensor lower_hinted(const LowerInput& in, const DeviceAttrs&) { return lower(in); }

constexpr OpInfo kOps[] = {
    runtime_op<infer_moved, DeviceAttrs>("relax.to_vdevice", "data", "The input, on the device dst_vdevice.",
                                         runtime::kCopyFunction),
    op<infer_hinted, lower_hinted, DeviceAttrs>("relax.hint_on_device", "data",
                                                "The input, preferably computed on the device dst_vdevice.",
                                                FusePattern::kElementwise),
    op<infer_same, lower>("relax.builtin.stop_lift_params", "x",
                          "The input; lift_transform_params does not lift values that depend on it.",
                          FusePattern::kElementwise),
};

}  // namespace

extern constinit const OpTable device_info = op_table(
    kOps,
    "Lai et al., Relax: Composable Abstractions for End-to-End Dynamic Machine Learning, arXiv 2311.02117");

}  // namespace tilewright::relax
