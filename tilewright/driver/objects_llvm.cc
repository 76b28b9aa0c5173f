#include "tilewright/codegen/llvm/native.h"
#include "tilewright/driver/objects.h"
#include "tilewright/target/target.h"

namespace tilewright::driver {

runtime::Module load_objects(const std::string& name, std::span<const std::string> objects) {
  return codegen::load_objects(name, objects);
}

std::string library_object(std::span<const std::string> names) {
  return codegen::emit_library_object(names, {}, codegen::native_target(target::parse_target("llvm")));
}

std::vector<std::string> objects_of_archive(const std::string& archive, const std::string& path) {
  return codegen::objects_of_archive(archive, path);
}

std::string object_of_llvm_ir(const std::string& text, const std::string& path) {
  return codegen::object_of_llvm_ir(text, path);
}

std::vector<std::string> lacking_features(std::span<const std::string> needed) {
  return codegen::lacking_features(needed);
}

}  // namespace tilewright::driver
