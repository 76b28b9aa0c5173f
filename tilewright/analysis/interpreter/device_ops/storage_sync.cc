// Barriers: of the threads of a block, and of a warp.
#include "tilewright/analysis/interpreter/device_op.h"

namespace tilewright::analysis {
namespace {

CodePtr storage_sync(std::shared_ptr<const DeviceCall> call) {
  const bool is_of_warp = call->call->args.size() == 1 && !call->args[0] && call->text(0) == "warp";
  const DataType dtype = call->call->dtype;
  return int_code(dtype, [call = std::move(call), is_of_warp](Frame& frame) {
    if (is_of_warp)
      frame.group->meet(frame, WarpCall{call->where.get(), ~uint32_t{0}, kWarpSize, false, true, {}});
    else
      frame.group->meet(frame, call->where.get());
    return int64_t{0};
  });
}

constexpr DeviceOp kOps[] = {{"tvm_storage_sync", storage_sync}};

}  // namespace

extern constinit const DeviceOps storage_sync_info = {kOps};

}  // namespace tilewright::analysis
