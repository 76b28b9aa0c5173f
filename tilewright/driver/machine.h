// The processor that code is made for, as schedule/default wants to know it.
#pragma once
#include "tilewright/driver/processor.h"
#include "tilewright/ir/target.h"
#include "tilewright/schedule/default/machine.h"

namespace tilewright::driver {

/// Vectors from the processor; caches and threads from the target's attributes, and what they
/// do not say from this machine if code is made for it.  Raises UserError for a cache of 0 or 2^40 bytes.
schedule::Machine machine_of(const Processor& processor, const ir::Target& target);

}  // namespace tilewright::driver
