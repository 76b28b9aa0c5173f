// Weights in the order in which the kernels read them.
#pragma once
#include "tilewright/ir/module.h"
#include "tilewright/target/features.h"

namespace tilewright::driver {

/// `module`, a graph over loop programs, with constants in panels where the rules of schedule/default want
/// them so:
///   y = R.call_tir(cls.mm, (x, W), ...)      W of 256 x 1000
///   ->  y = R.call_tir(cls.mm, (x, W_panels), ...)      W_panels of 32 x 256 x 32, the last panel filled up
///
/// Of loop programs that only the graph calls, each time with a constant in that place.  Constants of a
/// module that the caller gives away are freed while others are packed.
ir::IRModule pack_weights(ir::IRModule module, const target::Features& features);

}  // namespace tilewright::driver
