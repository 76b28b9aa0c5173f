// Values of other lanes of a warp: shuffles, as CUDA's __shfl_sync and its kin define them.
#include <algorithm>
#include <bit>

#include "tilewright/analysis/interpreter/device_op.h"
#include "tilewright/support/error.h"

namespace tilewright::analysis {
namespace {

// The lane that is read: one of the `width` lanes of which `lane` is one, itself if it would be another one.
int64_t source_of(std::string_view name, int64_t lane, int64_t operand, int64_t width) {
  const int64_t first = lane / width * width, last = first + width - 1;
  if (name == "tvm_warp_shuffle") return first + (operand & (width - 1));
  if (name == "tvm_warp_shuffle_up") return lane - operand < first ? lane : lane - operand;
  if (name == "tvm_warp_shuffle_down") return lane + operand > last ? lane : lane + operand;
  return (lane ^ operand) > last ? lane : lane ^ operand;
}

struct Shape {
  uint32_t mask;
  int64_t width, warp_size;
};

// What the call says, checked.
Shape shape_of(const DeviceCall& call, Frame& frame) {
  const Shape shape{static_cast<uint32_t>(call.as_int(frame, 0)), call.as_int(frame, 3),
                    call.as_int(frame, 4)};
  const auto is_power = [](int64_t value) {
    return value > 0 && std::has_single_bit(static_cast<uint64_t>(value));
  };
  if (!is_power(shape.warp_size) || shape.warp_size > kWarpSize)
    throw Unsupported(call.where->node,
                      "{}: the interpreter has warps of 1, 2, 4, 8, 16 or 32 threads, found {}{}", call.name,
                      shape.warp_size, call.where->at(frame));
  if (!is_power(shape.width) || shape.width > shape.warp_size)
    throw UserError(call.where->node, "{}: the width is {}, expected a power of two up to {}{}", call.name,
                    shape.width, shape.warp_size, call.where->at(frame));
  return shape;
}

void require_named(const DeviceCall& call, Frame& frame, const Shape& shape, int64_t lane,
                   std::string_view what) {
  if (!frame.group->has_lane(frame, lane, shape.warp_size))
    throw UserError(call.where->node, "{}: {} {} lane {}, but its warp has no such thread{}", call.name,
                    frame.group->text(frame), what, lane, call.where->at(frame));
  if (shape.mask >> lane & 1) return;
  throw UserError(call.where->node, "{}: {} {} lane {}, which the mask {:#010x} does not name{}", call.name,
                  frame.group->text(frame), what, lane, shape.mask, call.where->at(frame));
}

CodePtr shuffle(std::shared_ptr<const DeviceCall> call) {
  const DataType dtype = call->call->dtype;
  return lanes_code(dtype, [call = std::move(call), count = size_t{dtype.lanes}](Frame& frame, Scalar* out) {
    const Shape shape = shape_of(*call, frame);
    const int64_t lane = static_cast<int64_t>(frame.thread) % shape.warp_size;
    require_named(*call, frame, shape, lane, "is");
    const Lanes value(*call->args[1], frame);
    const int64_t source = source_of(call->name, lane, call->as_int(frame, 2), shape.width);
    require_named(*call, frame, shape, source, "reads");
    WarpCall meeting{call->where.get(), shape.mask, shape.warp_size, false, false, {}};
    for (size_t n = 0; n < count; ++n) meeting.values.push_back(value[n]);
    const auto met = frame.group->meet(frame, std::move(meeting));
    std::copy_n(met->values[static_cast<size_t>(source)].begin(), count, out);
  });
}

constexpr DeviceOp kOps[] = {{"tvm_warp_shuffle", shuffle},
                             {"tvm_warp_shuffle_up", shuffle},
                             {"tvm_warp_shuffle_down", shuffle},
                             {"tvm_warp_shuffle_xor", shuffle}};

}  // namespace

extern constinit const DeviceOps warp_shuffle_info = {kOps};

}  // namespace tilewright::analysis
