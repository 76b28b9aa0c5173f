// Stores weights in the order in which the kernels read them.
#pragma once
#include "tilewright/ir/module.h"
#include "tilewright/target/features.h"

namespace tilewright::driver {

/// `module`, a graph over loop programs, with constants packed into panels where the rules of
/// schedule/default require it:
///   y = R.call_tir(cls.mm, (x, W), ...)      W of 256 x 1000
///   ->  y = R.call_tir(cls.mm, (x, W_panels), ...)      W_panels of 32 x 256 x 32, the last panel padded
///
/// Packs parameters of loop programs that only the graph calls, with a constant in every call.  Constants of
/// a module that the caller gives up are freed while others are packed.
ir::IRModule pack_weights(ir::IRModule module, const target::Features& features);

}  // namespace tilewright::driver
