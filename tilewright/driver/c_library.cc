#include "tilewright/driver/c_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "tilewright/driver/c_compiler.h"
#include "tilewright/driver/link.h"
#include "tilewright/driver/process.h"
#include "tilewright/driver/workshop.h"
#include "tilewright/runtime/device.h"
#include "tilewright/runtime/device/device_code.h"
#include "tilewright/runtime/kernel_abi.h"
#include "tilewright/support/error.h"
#include "tilewright/support/file.h"

namespace tilewright::driver {
namespace {

Workshop temporary_workshop() { return Workshop(std::filesystem::temp_directory_path() / "library"); }

std::vector<std::string> write_objects(const Workshop& workshop, std::span<const std::string> objects) {
  std::vector<std::string> files;
  for (const std::string& object : objects)
    files.push_back(workshop.write(fmt::format("{}.o", files.size()), object));
  return files;
}

// The assembly of a symbol that the library exports and also uses itself.
std::string symbol(std::string_view name, int alignment, std::string_view content) {
  return fmt::format("\t.globl {0}\n\t.protected {0}\n\t.balign {1}\n{0}:\n\t{2}\n", name, alignment,
                     content);
}

// The name of the function that the loader did not find, from "PATH: undefined symbol: NAME".
std::string missing_function(std::string_view message) {
  constexpr std::string_view kMark = "undefined symbol: ";
  const size_t at = message.find(kMark);
  if (at == std::string_view::npos) return "";
  const std::string_view name = message.substr(at + kMark.size());
  return std::string(name.substr(0, name.find_first_of(" ,\n")));
}

}  // namespace

std::string assemble_library_object(std::span<const std::string> names, const LibraryData& data) {
  const Workshop workshop = temporary_workshop();
  std::string lines;
  for (const std::string& name : names) lines += name + "\\n";
  std::string text = "\t.section .rodata\n";
  text += symbol(TILEWRIGHT_ABI_VERSION_SYMBOL, 8, fmt::format(".long {}", TILEWRIGHT_KERNEL_ABI_VERSION));
  text += symbol(TILEWRIGHT_NAMES_SYMBOL, 8, fmt::format(".asciz \"{}\"", lines));
  const auto bytes = [&](std::string_view name, std::string_view size_name, std::string_view content) {
    if (content.empty()) return;
    const std::string file = workshop.write(std::string(name), std::string(content));
    text += symbol(name, runtime::kTensorAlignment, fmt::format(".incbin \"{}\"", file));
    text += symbol(size_name, 8, fmt::format(".quad {}", content.size()));
  };
  bytes(TILEWRIGHT_BLOB_SYMBOL, TILEWRIGHT_BLOB_SIZE_SYMBOL, data.blob);
  bytes(TILEWRIGHT_DEVICE_CODE_SYMBOL, TILEWRIGHT_DEVICE_CODE_SIZE_SYMBOL, data.device_code);
  text += "\t.data\n" + symbol(TILEWRIGHT_HOST_SYMBOL, 8, ".quad 0");
  return assemble(text + "\t.section .note.GNU-stack,\"\",%progbits\n");
}

runtime::Module load_linked(const std::string& name, std::span<const std::string> objects) {
  const Workshop workshop = temporary_workshop();
  const std::string library = workshop.place("library.so");
  link_shared(write_objects(workshop, objects), library);
  const std::shared_ptr<void> handle(dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL), [](void* opened) {
    if (opened) dlclose(opened);
  });
  if (!handle) {
    const std::string message = dlerror();
    const std::string missing = missing_function(message);
    if (missing.empty()) throw InternalError("{} could not be loaded: {}", name, message);
    throw UserError("{}: there is no C function {} in this process", name, missing)
        .help("load the library that has it first");
  }
  const auto lookup = [handle](const std::string& wanted) { return dlsym(handle.get(), wanted.c_str()); };
  return runtime::Module::from_symbols({name, "library", lookup, handle});
}

std::string archive_by_ar(std::span<const std::string> objects) {
  const std::string program = find_program({"ar", "llvm-ar", "llvm-ar-19"});
  if (program.empty())
    throw Unsupported("no archiver was found: ar is not on the PATH")
        .help("install it (Debian: apt-get install binutils), or export a .o");
  const Workshop workshop = temporary_workshop();
  const std::string output = workshop.place("out.a");
  std::vector<std::string> command = {program, "rcsD", output};
  for (const std::string& file : write_objects(workshop, objects)) command.push_back(file);
  run_program("the archiver", command, output);
  return read_bytes(output).value_or("");
}

}  // namespace tilewright::driver
