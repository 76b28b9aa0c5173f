#include "tilewright/driver/c_compiler.h"

#include <filesystem>
#include <fstream>
#include <sstream>

#include "tilewright/driver/process.h"
#include "tilewright/driver/workshop.h"
#include "tilewright/support/error.h"

namespace tilewright::driver {

std::string compile_c(const std::string& source, const std::vector<std::string>& flags) {
  const std::string compiler = find_program({"cc", "gcc", "clang", "clang-19"});
  if (compiler.empty())
    throw UserError("no C compiler was found: neither cc, gcc nor clang is on the PATH")
        .help("install one (Debian: apt-get install gcc), export the source as a .c, or use target \"llvm\"");
  const Workshop workshop(std::filesystem::temp_directory_path() / "kernels.c");
  const std::string input = workshop.write("kernels.c", source), output = workshop.place("kernels.o");
  std::vector<std::string> command = {compiler, "-std=c99", "-fPIC", "-w", "-c", input, "-o", output};
  command.insert(command.end(), flags.begin(), flags.end());
  run_program("the C compiler", command, output);
  std::ifstream file(output, std::ios::binary);
  std::ostringstream object;
  object << file.rdbuf();
  return object.str();
}

}  // namespace tilewright::driver
