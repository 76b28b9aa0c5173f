// Writes compiled modules to files.  Everything is made in a temporary folder beside the target and moved
// into place at the end.
#include <filesystem>
#include <fstream>

#include "tilewright/driver/build.h"
#include "tilewright/driver/compiled_module.h"
#include "tilewright/driver/link.h"
#include "tilewright/driver/tar.h"
#include "tilewright/driver/workshop.h"
#include "tilewright/runtime/elf_check.h"
#include "tilewright/support/error.h"
#include "tilewright/support/file.h"

namespace tilewright::driver {
namespace {

namespace fs = std::filesystem;

// Appends the seal that runtime::Module::load checks.
void seal(const std::string& library) {
  const std::optional<std::string> bytes = read_bytes(library);
  std::ofstream file(library, std::ios::binary | std::ios::app);
  if (bytes) file << runtime::library_seal(std::as_bytes(std::span(*bytes)));
  file.close();
  if (!bytes || !file) throw UserError("{} cannot be written: the disk may be full", library);
}

std::vector<std::string> write_objects(const Workshop& workshop, const CompiledModule& module) {
  std::vector<std::string> files;
  for (const std::string& object : module.objects())
    files.push_back(workshop.write(std::to_string(files.size()) + ".o", object));
  return files;
}

std::string archive_of(const CompiledModule& module) {
  std::vector<TarMember> members;
  for (const std::string& object : module.objects())
    members.push_back({fmt::format("lib{}.o", members.size()), object});
  return write_tar(members);
}

const SourceFormat* find_source(const Generator& generator, const std::string& ending) {
  for (const SourceFormat& source : generator.sources) {
    if (source.ending == ending) return &source;
  }
  return nullptr;
}

// The text from which a compiler makes a complete library.
std::string source_text(const SourceFormat& source, const CompiledModule& module) {
  std::string text = source.emit(module.lowered());
  const std::span<const std::byte> blob = module.blob();
  if (source.exports)
    text += source.exports(module.names(), {reinterpret_cast<const char*>(blob.data()), blob.size()});
  return text;
}

}  // namespace

void require_export_format(const Generator& generator, const std::string& path) {
  const std::string ending = fs::path(path).extension().string();
  if (find_source(generator, ending) || ending == ".so" || ending == ".o" || ending == ".a" ||
      ending == ".tar")
    return;
  std::string known = ".so, .o, .a, .tar";
  for (const SourceFormat& source : generator.sources) known += fmt::format(", {}", source.ending);
  throw UserError("{} cannot be written: the ending \"{}\" is not a known format", path, ending)
      .help("use {}", known);
}

void export_library(const runtime::Module& module, const std::string& path) {
  const CompiledModule* compiled = as_compiled(module);
  if (!compiled)
    throw UserError("module {} cannot be exported: it was not compiled by this process",
                    module ? module.name() : "none");
  const fs::path target(path);
  const std::string ending = target.extension().string();
  require_export_format(compiled->generator(), path);
  const SourceFormat* source = find_source(compiled->generator(), ending);
  std::error_code ignored;
  if (fs::is_directory(target, ignored)) throw UserError("{} cannot be written: it is a folder", path);
  const Workshop workshop(target);
  std::string made = workshop.place("out" + ending);
  if (source)
    made = workshop.write("out" + ending, source_text(*source, *compiled));
  else if (ending == ".a")
    made = workshop.write("out.a", compiled->generator().archive(compiled->objects()));
  else if (ending == ".tar")
    made = workshop.write("out.tar", archive_of(*compiled));
  else if (ending == ".so") {
    link_shared(write_objects(workshop, *compiled), made);
    seal(made);
  } else
    link_relocatable(write_objects(workshop, *compiled), made);
  workshop.move_out(made, target);
}

}  // namespace tilewright::driver
