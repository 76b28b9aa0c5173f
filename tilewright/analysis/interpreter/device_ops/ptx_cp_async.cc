// Asynchronous copies to shared memory, as PTX's cp.async, cp.async.commit_group and cp.async.wait_group.
#include <algorithm>

#include "tilewright/analysis/interpreter/device_memory.h"
#include "tilewright/support/error.h"

namespace tilewright::analysis {
namespace {

// ptx_cp_async(to, offset, from, offset, bytes[, condition]): offsets are elements of the call's dtype; where the condition
// is false, zeros are copied.
CodePtr begin_copy(std::shared_ptr<const DeviceCall> call) {
  if (call->args.size() != 5 && call->args.size() != 6)
    throw UserError(call->call, "{} takes 5 or 6 arguments, found {}", call->name, call->args.size());
  const DataType dtype = call->call->dtype;
  return lanes_code(dtype, [call = std::move(call), element = dtype.element()](Frame& frame, Scalar* out) {
    *out = {};
    const int64_t size = call->as_int(frame, 4);
    if (size != 4 && size != 8 && size != 16)
      throw UserError(call->where->node, "{} copies 4, 8 or 16 bytes, found {}{}", call->name, size,
                      call->where->at(frame));
    const int64_t count = size / element.num_bytes();
    const Bytes to = bytes_at(*call, frame, 0, 1, element, count, size);
    AsyncCopy copy{to.memory,
                   to.begin,
                   std::vector<char>(static_cast<size_t>(size)),
                   call->where->node,
                   frame.group->text(frame),
                   call->where->at(frame)};
    if (call->args.size() == 5 || call->as_int(frame, 5))
      read(*call, frame, bytes_at(*call, frame, 2, 3, element, count, size), copy.bytes.data());
    touch_for_write(*call, frame, to);
    frame.group->copies().begin(frame.thread, std::move(copy));
  });
}

CodePtr close_group(std::shared_ptr<const DeviceCall> call) {
  return int_code(call->call->dtype, [](Frame& frame) {
    frame.group->copies().close_group(frame.thread);
    return int64_t{0};
  });
}

// The thread that waited has written: others need a barrier from here on.
CodePtr wait_group(std::shared_ptr<const DeviceCall> call) {
  const DataType dtype = call->call->dtype;
  return int_code(dtype, [call = std::move(call)](Frame& frame) {
    const int64_t num_open = call->as_int(frame, 0);
    if (num_open < 0)
      throw UserError(call->where->node, "{} leaves {} groups open, expected 0 or more{}", call->name,
                      num_open, call->where->at(frame));
    for (const AsyncCopy& copy : frame.group->copies().wait(frame.thread, num_open))
      touch_for_write(*call, frame, {copy.to, copy.byte, static_cast<int64_t>(copy.bytes.size())});
    return int64_t{0};
  });
}

constexpr DeviceOp kOps[] = {
    {"ptx_cp_async", begin_copy}, {"ptx_commit_group", close_group}, {"ptx_wait_group", wait_group}};

}  // namespace

extern constinit const DeviceOps ptx_cp_async_info = {kOps};

}  // namespace tilewright::analysis
