// The services that this process offers to compiled code.
#pragma once
#include "tilewright/runtime/kernel_abi.h"

namespace tilewright::runtime {

/// The table for `__tilewright_host`; valid until the process ends.
const TilewrightHost* host_services();

}  // namespace tilewright::runtime
