// Makes libraries with the system's assembler and linker, without LLVM, for code from a C compiler.
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "tilewright/driver/target.h"
#include "tilewright/runtime/module.h"

namespace tilewright::driver {

/// The object file with the exports of a library other than kernels (runtime/kernel_abi.h).
std::string assemble_library_object(std::span<const std::string> names, const LibraryData& data);

/// The functions of `objects` in this process, linked to a temporary shared library; messages call them
/// `name`. Raises UserError for a C function that the process lacks.
runtime::Module load_linked(const std::string& name, std::span<const std::string> objects);

/// A static library of `objects`; raises Unsupported if there is no `ar`.
std::string archive_by_ar(std::span<const std::string> objects);

}  // namespace tilewright::driver
