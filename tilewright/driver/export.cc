// Compiled modules as files.  Everything is made in a folder of its own beside the target and moved into
// place at the end.
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tilewright/codegen/llvm/native.h"
#include "tilewright/driver/build.h"
#include "tilewright/driver/compiled_module.h"
#include "tilewright/driver/link.h"
#include "tilewright/support/error.h"

namespace tilewright::driver {
namespace {

namespace fs = std::filesystem;

/// A new folder beside `path`, gone with this object.
class Workshop {
 public:
  explicit Workshop(const fs::path& path) {
    const fs::path parent = path.has_parent_path() ? path.parent_path() : fs::path(".");
    std::string pattern = (parent / ".tilewright-XXXXXX").string();
    if (!mkdtemp(pattern.data())) {
      throw UserError("{} cannot be written: {}", path.string(), std::generic_category().message(errno))
          .help("the folder must exist and be writable");
    }
    folder_ = pattern;
  }
  ~Workshop() {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  Workshop(const Workshop&) = delete;
  Workshop& operator=(const Workshop&) = delete;

  std::string write(const std::string& name, const std::string& content) const {
    const std::string file_name = (folder_ / name).string();
    std::ofstream file(file_name, std::ios::binary);
    file.write(content.data(), static_cast<std::streamsize>(content.size()));
    file.close();
    if (!file) throw UserError("{} cannot be written: the disk may be full", file_name);
    return file_name;
  }
  std::string place(const std::string& name) const { return (folder_ / name).string(); }
  void move_out(const std::string& file, const fs::path& target) const {
    std::error_code error;
    fs::rename(file, target, error);
    if (error) throw UserError("{} cannot be written: {}", target.string(), error.message());
  }

 private:
  fs::path folder_;
};

std::vector<std::string> write_objects(const Workshop& workshop, const CompiledModule& module) {
  std::vector<std::string> files;
  for (const std::string& object : module.objects())
    files.push_back(workshop.write(std::to_string(files.size()) + ".o", object));
  return files;
}

const SourceFormat* find_source(const CompiledModule& module, const std::string& ending) {
  for (const SourceFormat& source : module.generator().sources) {
    if (source.ending == ending) return &source;
  }
  return nullptr;
}

std::string endings_text(const CompiledModule& module) {
  std::string text = ".so, .o, .a";
  for (const SourceFormat& source : module.generator().sources) text += fmt::format(", {}", source.ending);
  return text;
}

}  // namespace

void export_library(const runtime::Module& module, const std::string& path) {
  const CompiledModule* compiled = as_compiled(module);
  if (!compiled)
    throw UserError("module {} cannot be exported: it was not compiled by this process",
                    module ? module.name() : "none");
  const fs::path target(path);
  const std::string ending = target.extension().string();
  const SourceFormat* source = find_source(*compiled, ending);
  if (!source && ending != ".so" && ending != ".o" && ending != ".a") {
    throw UserError("{} cannot be written: the ending \"{}\" names no format", path, ending)
        .help("use {}", endings_text(*compiled));
  }
  std::error_code ignored;
  if (fs::is_directory(target, ignored)) throw UserError("{} cannot be written: it is a folder", path);
  const Workshop workshop(target);
  std::string made = workshop.place("out" + ending);
  if (source)
    made = workshop.write("out" + ending, source->emit(compiled->lowered()));
  else if (ending == ".a")
    made = workshop.write("out.a", codegen::emit_archive(compiled->objects()));
  else if (ending == ".so")
    link_shared(write_objects(workshop, *compiled), made);
  else
    link_relocatable(write_objects(workshop, *compiled), made);
  workshop.move_out(made, target);
}

}  // namespace tilewright::driver
