#include "tilewright/target/attributes.h"

namespace tilewright::target {

extern constinit const TargetKind llvm_info = {"llvm", "cpu", "machine code for CPUs, through LLVM",
                                               kCpuAttrs, "cpu"};

}  // namespace tilewright::target
