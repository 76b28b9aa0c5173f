// Files: objects are linked by the system's linker into a temporary file, which then takes the place of `path` at once.
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "tilewright/codegen/llvm/native.h"
#include "tilewright/driver/build.h"
#include "tilewright/runtime/vm/serialize.h"
#include "tilewright/support/error.h"

extern char** environ;

namespace tilewright::driver {
namespace {

namespace fs = std::filesystem;

/// A folder that goes when this does.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (fs::temp_directory_path() / "tilewright-XXXXXX").string();
    if (!mkdtemp(pattern.data())) throw UserError("cannot make a temporary folder: {}", std::strerror(errno)).help("set TMPDIR to a folder that can be written");
    path_ = pattern;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  fs::path operator/(const std::string& name) const { return path_ / name; }

 private:
  fs::path path_;
};

void write_file(const fs::path& path, std::string_view bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (!file) throw UserError("cannot write \"{}\": {}", path.string(), std::strerror(errno)).help("check that the folder exists and may be written, and that the disk is not full");
}

// Runs a program found in PATH; its exit status, or -1 if there is no such program.
int run_program(const std::vector<std::string>& command) {
  std::vector<char*> argv;
  for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  pid_t child;
  if (posix_spawnp(&child, argv[0], nullptr, nullptr, argv.data(), environ) != 0) return -1;
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

void link(const std::vector<std::string>& objects, bool shared, const fs::path& output) {
  static constexpr const char* kLinkers[] = {"cc", "clang-19", "gcc", "clang", "ld.lld-19", "ld.lld", "ld"};
  for (const char* linker : kLinkers) {
    std::vector<std::string> command{linker, shared ? "-shared" : "-r", "-o", output.string()};
    if (!shared && std::string_view(linker).find("ld") == std::string_view::npos) command.insert(command.begin() + 1, "-nostdlib");
    command.insert(command.end(), objects.begin(), objects.end());
    if (shared) command.push_back("-lm");
    const int status = run_program(command);
    if (status == 0) return;
    if (status > 0 && status != 127) throw UserError("the linker {} failed with status {}", linker, status).help("its own message stands above");
  }
  throw Unsupported("there is no linker on this machine").help("install gcc, clang or lld; or export an object file (.o) elsewhere");
}

// A sibling of `path` takes the bytes, then its name: nobody sees half a file.
void move_into_place(const fs::path& from, const std::string& path) {
  const fs::path target(path);
  const fs::path beside = fs::path(path + ".tmp" + std::to_string(getpid()));
  std::error_code problem;
  fs::copy_file(from, beside, fs::copy_options::overwrite_existing, problem);
  if (!problem) fs::rename(beside, target, problem);
  if (problem) {
    std::error_code ignored;
    fs::remove(beside, ignored);
    throw UserError("cannot write \"{}\": {}", path, problem.message()).help("check that the folder exists and may be written");
  }
}

}  // namespace

void export_library(const Library& library, const std::string& path, std::string_view blob) {
  const std::string ending = fs::path(path).extension().string();
  const TemporaryFolder folder;
  const fs::path output = folder / "output";
  if (ending == ".ll" || ending == ".s") {
    write_file(output, library.source(ending == ".ll" ? "ll" : "asm"));
    return move_into_place(output, path);
  }
  if (ending != ".so" && ending != ".o")
    throw UserError("cannot export to \"{}\": the ending \"{}\" is unknown", path, ending).help("end the path in .so, .o, .ll or .s");
  std::vector<std::string> files;
  auto add = [&](std::string_view bytes) {
    const fs::path file = folder / fmt::format("part{}.o", files.size());
    write_file(file, bytes);
    files.push_back(file.string());
  };
  for (const std::string& object : library.objects) add(object);
  add(codegen::emit_library_object(library.names, blob, codegen::native_target(library.target)));
  link(files, ending == ".so", output);
  move_into_place(output, path);
}

void export_model(const Executable& executable, const std::string& path) {
  const std::vector<std::byte> code = runtime::vm::save(executable.code);
  export_library(executable.library, path, {reinterpret_cast<const char*>(code.data()), code.size()});
}

}  // namespace tilewright::driver
