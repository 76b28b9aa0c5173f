#include "tilewright/driver/c_compiler.h"

#include <filesystem>
#include <sstream>

#include "tilewright/driver/process.h"
#include "tilewright/driver/workshop.h"
#include "tilewright/support/error.h"
#include "tilewright/support/file.h"

namespace tilewright::driver {

namespace {
std::string found_compiler() { return find_program({"cc", "gcc", "clang", "clang-19"}); }

std::string compiler_or_error() {
  const std::string compiler = found_compiler();
  if (compiler.empty())
    throw UserError("no C compiler was found: neither cc, gcc nor clang is on the PATH")
        .help("install one (Debian: apt-get install gcc), export the source as a .c, or use target \"llvm\"");
  return compiler;
}

// The output of the system's C compiler for a file called `name`.
std::string object_of(const std::string& name, const std::string& text,
                      const std::vector<std::string>& flags) {
  const std::string compiler = compiler_or_error();
  const Workshop workshop(std::filesystem::temp_directory_path() / name);
  const std::string input = workshop.write(name, text), output = workshop.place("kernels.o");
  std::vector<std::string> command = {compiler};
  command.insert(command.end(), flags.begin(), flags.end());
  command.insert(command.end(), {"-c", input, "-o", output});
  run_program("the C compiler", command, output);
  return read_bytes(output).value_or("");
}
}  // namespace

std::string compile_c(const std::string& source, const std::vector<std::string>& flags) {
  std::vector<std::string> all = {"-std=c99", "-fPIC", "-w"};
  all.insert(all.end(), flags.begin(), flags.end());
  return object_of("kernels.c", source, all);
}

std::string macros_of_c_compiler(const std::vector<std::string>& flags) {
  const std::string compiler = found_compiler();
  if (compiler.empty()) return "";
  const Workshop workshop(std::filesystem::temp_directory_path() / "macros");
  const std::string input = workshop.write("empty.c", ""), output = workshop.place("macros");
  std::vector<std::string> command = {compiler};
  command.insert(command.end(), flags.begin(), flags.end());
  command.insert(command.end(), {"-dM", "-E", input, "-o", output});
  run_program("the C compiler", command, output);
  return read_bytes(output).value_or("");
}

std::string assemble(const std::string& text) { return object_of("kernels.s", text, {}); }

namespace {

// LLVM IR without the name of its source file, which differs from one process to the next.
std::string without_file_names(const std::string& text) {
  std::string kept;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("; ModuleID") && !line.starts_with("source_filename")) kept += line + "\n";
  }
  return kept;
}

}  // namespace

std::string llvm_ir_of_c(const std::string& source, const std::string& triple, const std::string& cpu,
                         const std::string& features) {
  // the release of our LLVM first, since it cannot read the IR of later releases
  const std::string compiler = find_program({"clang-19", "clang"});
  if (compiler.empty())
    throw UserError("pragma_import_c: no clang was found: neither clang-19 nor clang is on the PATH")
        .help("install it (Debian: apt-get install clang-19), or bring LLVM IR with pragma_import_llvm");
  const Workshop workshop(std::filesystem::temp_directory_path() / "imported.c");
  const std::string input = workshop.write("imported.c", source), output = workshop.place("imported.ll");
  // optimised later, together with its callers
  std::vector<std::string> command = {
      compiler, "-S",      "-emit-llvm",  "-O2",     "-Xclang", "-disable-llvm-passes", "-fPIC",
      "-w",     "-Xclang", "-target-cpu", "-Xclang", cpu,       "--target=" + triple,   input,
      "-o",     output};
  std::istringstream list(features);
  for (std::string feature; std::getline(list, feature, ',');) {
    if (!feature.empty()) command.insert(command.end(), {"-Xclang", "-target-feature", "-Xclang", feature});
  }
  run_program("pragma_import_c: the compiler", command, output);
  return without_file_names(read_bytes(output).value_or(""));
}

}  // namespace tilewright::driver
