// Target metal: kernels as text of the Metal shading language.  Nothing here runs it.
#include "tilewright/driver/device_target.h"

namespace tilewright::driver {
namespace {

Generator make(const ir::Target& target) {
  return make_device_generator(target, {codegen::DeviceLanguage::kMetal, kDLMetal, ".metal"});
}

}  // namespace

extern constinit const TargetInfo metal_info = {"metal", "text of Metal, to be read or compiled elsewhere",
                                                make};

}  // namespace tilewright::driver
