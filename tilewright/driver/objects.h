// Objects, archives and LLVM IR that somebody else has read from files: by LLVM (objects_llvm.cc) or, in
// builds without it, by the system's tools (objects_system.cc).
#pragma once
#include <span>
#include <string>
#include <vector>

#include "tilewright/runtime/module.h"

namespace tilewright::driver {

/// The functions of `objects`, linked; one of them comes from library_object.  Messages call them `name`.
runtime::Module load_objects(const std::string& name, std::span<const std::string> objects);
/// The object with what a library for this machine exports besides the functions `names`.
std::string library_object(std::span<const std::string> names);
/// The files of an archive; raises UserError, calling the archive `path`, if it is none or damaged.
std::vector<std::string> objects_of_archive(const std::string& archive, const std::string& path);
/// The object file of LLVM IR as text, for this machine; raises UserError, calling the text `path`, for a
/// mistake.
std::string object_of_llvm_ir(const std::string& text, const std::string& path);
/// Those of `needed`, features of CPUs that a model was compiled with, that this machine lacks.
std::vector<std::string> lacking_features(std::span<const std::string> needed);

}  // namespace tilewright::driver
