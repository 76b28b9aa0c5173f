// Loads objects, archives and LLVM IR that were read from files: with LLVM (objects_llvm.cc) or, in builds
// without it, with the system's tools (objects_system.cc).
#pragma once
#include <span>
#include <string>
#include <vector>

#include "tilewright/runtime/module.h"

namespace tilewright::driver {

/// The functions of `objects`, linked; one of them comes from library_object.  Messages call them `name`.
runtime::Module load_objects(const std::string& name, std::span<const std::string> objects);
/// The object file with the exports of a library for this machine besides the functions `names`.
std::string library_object(std::span<const std::string> names);
/// The files of an archive; raises UserError, which calls the archive `path`, if it is damaged or not an
/// archive.
std::vector<std::string> objects_of_archive(const std::string& archive, const std::string& path);
/// Compiles LLVM IR text to an object file for this machine; raises UserError, which calls the text `path`,
/// if it is not valid.
std::string object_of_llvm_ir(const std::string& text, const std::string& path);
/// The features of `needed`, CPU features that a model was compiled with, that this machine lacks.
std::vector<std::string> lacking_features(std::span<const std::string> needed);

}  // namespace tilewright::driver
