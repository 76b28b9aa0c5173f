#include "tilewright/analysis/interpreter/device_op.h"

#include "tilewright/support/error.h"
#include "tilewright/tir/text.h"

namespace tilewright::analysis {

extern const DeviceOps* const k_interpreter_device_ops[];
extern const size_t k_interpreter_device_ops_count;

const DeviceOp* find_device_op(std::string_view name) {
  for (size_t n = 0; n < k_interpreter_device_ops_count; ++n) {
    for (const DeviceOp& op : k_interpreter_device_ops[n]->ops) {
      if (op.name == name) return &op;
    }
  }
  return nullptr;
}

void require_whole_warp(const DeviceCall& call, Frame& frame) {
  if (frame.group->has_lane(frame, kWarpSize - 1, kWarpSize)) return;
  throw UserError(call.where->node, "{} needs all {} threads of a warp, but a block has {}{}", call.name,
                  kWarpSize, frame.group->threads().size(), call.where->at(frame))
      .help("make the number of threads of a block a multiple of {}", kWarpSize);
}

std::string_view DeviceCall::text(size_t n) const {
  const auto* text = call->args[n].as<tir::StringImmNode>();
  if (!text)
    throw UserError(call, "{}: argument {} is {}, expected a text in quotes", name, n,
                    tir::expr_text(call->args[n]));
  return text->value;
}

}  // namespace tilewright::analysis
