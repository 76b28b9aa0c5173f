// The implementation for builds without LLVM (CMake's TILEWRIGHT_LLVM=OFF).
#include "tilewright/driver/c_library.h"
#include "tilewright/driver/objects.h"
#include "tilewright/driver/processor.h"
#include "tilewright/support/error.h"

namespace tilewright::driver {

runtime::Module load_objects(const std::string& name, std::span<const std::string> objects) {
  return load_linked(name, objects);
}

std::string library_object(std::span<const std::string> names) { return assemble_library_object(names, {}); }

std::vector<std::string> objects_of_archive(const std::string&, const std::string& path) {
  throw Unsupported("cannot load {}: this build has no LLVM, which reads archives", path)
      .help("export a .so or .o");
}

std::string object_of_llvm_ir(const std::string&, const std::string& path) {
  throw Unsupported("cannot load {}: this build has no LLVM, which compiles it", path)
      .help("export a .so or .c");
}

std::vector<std::string> lacking_features(std::span<const std::string> needed) {
  const target::Processor here = this_processor();
  std::vector<std::string> lacking;
  for (const std::string& feature : needed) {
    if (!here.has(feature)) lacking.push_back(feature);
  }
  return lacking;
}

}  // namespace tilewright::driver
