#include "tilewright/target/attributes.h"

namespace tilewright::target {

extern constinit const TargetKind c_info = {"c", "cpu", "C99 source", kCpuAttrs, "cpu"};

}  // namespace tilewright::target
