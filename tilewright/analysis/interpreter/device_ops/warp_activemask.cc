// The lanes that run together: those that come to this call before all threads of the warp wait.
#include "tilewright/analysis/interpreter/device_op.h"

namespace tilewright::analysis {
namespace {

CodePtr warp_activemask(std::shared_ptr<const DeviceCall> call) {
  const DataType dtype = call->call->dtype;
  return int_code(dtype, [call = std::move(call)](Frame& frame) {
    return int64_t{
        frame.group->meet(frame, WarpCall{call->where.get(), 0, kWarpSize, true, false, {}})->lanes};
  });
}

constexpr DeviceOp kOps[] = {{"tvm_warp_activemask", warp_activemask}};

}  // namespace

extern constinit const DeviceOps warp_activemask_info = {kOps};

}  // namespace tilewright::analysis
