#include "tilewright/driver/link.h"

#include <fstream>
#include <string_view>

#include "tilewright/driver/process.h"
#include "tilewright/support/error.h"

namespace tilewright::driver {
namespace {

std::string linker() {
  const std::string found = find_program({"ld.lld", "ld.lld-19", "cc", "ld"});
  if (found.empty())
    throw Unsupported("no linker was found: neither ld.lld, cc nor ld is on the PATH")
        .help("install one (Debian: apt-get install lld), or export a .a");
  return found;
}

// True for objects of WebAssembly, which needs another linker.
bool are_wasm(const std::vector<std::string>& objects) {
  char magic[4] = {};
  std::ifstream(objects.at(0), std::ios::binary).read(magic, sizeof magic);
  return std::string_view(magic, sizeof magic) == std::string_view("\0asm", 4);
}

std::string wasm_linker() {
  const std::string found = find_program({"wasm-ld", "wasm-ld-19"});
  if (found.empty())
    throw Unsupported("no linker for WebAssembly was found: wasm-ld is not on the PATH")
        .help("install it (Debian: apt-get install lld-19), or export a .a");
  return found;
}

}  // namespace

void link_shared(const std::vector<std::string>& objects, const std::string& output) {
  if (are_wasm(objects))
    throw Unsupported("code for WebAssembly cannot become a .so: there are no such libraries")
        .help("export a .o or .a, and link it with wasm-ld");
  std::vector<std::string> command = {linker(), "-shared", "-o", output};
  // functions of the C library are resolved when the library is loaded
  if (command[0].ends_with("cc"))
    command.push_back("-Wl,-Bsymbolic");
  else
    command.insert(command.end(), {"-Bsymbolic", "--hash-style=gnu"});
  command.insert(command.end(), objects.begin(), objects.end());
  if (command[0].ends_with("cc")) command.push_back("-lm");
  run_program("the linker", command, output);
}

void link_relocatable(const std::vector<std::string>& objects, const std::string& output) {
  std::vector<std::string> command = {are_wasm(objects) ? wasm_linker() : linker(), "-r", "-o", output};
  if (command[0].ends_with("cc")) command.push_back("-nostdlib");
  command.insert(command.end(), objects.begin(), objects.end());
  run_program("the linker", command, output);
}

}  // namespace tilewright::driver
