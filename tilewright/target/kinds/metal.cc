#include "tilewright/target/attributes.h"

namespace tilewright::target {

extern constinit const TargetKind metal_info = {"metal", "metal", "Metal source for Apple GPUs", kGpuAttrs,
                                                "metal,gpu"};

}  // namespace tilewright::target
