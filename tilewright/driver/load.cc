#include "tilewright/driver/load.h"

#include <cctype>
#include <filesystem>
#include <functional>
#include <sstream>

#include "tilewright/driver/c_compiler.h"
#include "tilewright/driver/objects.h"
#include "tilewright/driver/tar.h"
#include "tilewright/support/error.h"
#include "tilewright/support/file.h"
#include "tilewright/target/target.h"

namespace tilewright::driver {
namespace {

constexpr std::string_view kPrefix = "__tvm_ffi_";

std::string content_of(const std::string& path) {
  std::optional<std::string> bytes = read_bytes(path);
  if (!bytes) throw UserError("cannot load {}: the file cannot be read", path).help("check the path");
  return *std::move(bytes);
}

bool is_part_of_name(char c) { return c == '_' || std::isalnum(static_cast<unsigned char>(c)); }

// The functions that a text defines: `define i32 @__tvm_ffi_NAME(` of LLVM IR, `__tvm_ffi_NAME:` of assembly.
std::vector<std::string> functions_of(const std::string& text) {
  std::vector<std::string> names;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const size_t at = line.find(kPrefix);
    if (at == std::string::npos || (at != 0 && !line.starts_with("define"))) continue;
    size_t end = at + kPrefix.size();
    while (end < line.size() && is_part_of_name(line[end])) ++end;
    if (at == 0 && line.substr(end, 1) != ":") continue;
    names.push_back(line.substr(at + kPrefix.size(), end - at - kPrefix.size()));
  }
  return names;
}

// Loads object files after checking that they are for this machine.
runtime::Module load_for_here(const std::string& path, const std::vector<std::string>& objects) {
  constexpr size_t kIdentity = 20;
  const std::string ours = library_object({}).substr(0, kIdentity);
  for (const std::string& object : objects) {
    if (!object.starts_with(ours))
      throw UserError("cannot load {}: it is not an object file for this machine", path)
          .help("export it again for target llvm, or link it where it belongs");
  }
  return load_objects(path, objects);
}

// Splits a text into one part per function, because each has its own labels; every part begins with `mark`.
std::vector<std::string> parts_of(const std::string& text, const std::string& mark) {
  std::vector<std::string> parts;
  for (size_t begin = 0; begin < text.size();) {
    const size_t next = text.find("\n" + mark, begin);
    const size_t end = next == std::string::npos ? text.size() : next + 1;
    parts.push_back(text.substr(begin, end - begin));
    begin = end;
  }
  return parts;
}

// Loads a text, which only contains kernels; the other exports of a library are made here.
runtime::Module load_text(const std::string& path, const std::string& mark,
                          const std::function<std::string(const std::string&)>& object_of) {
  const std::string text = content_of(path);
  const std::vector<std::string> names = functions_of(text);
  if (names.empty())
    throw UserError("cannot load {}: it defines no function of tilewright", path)
        .help("write it with export_library");
  std::vector<std::string> objects = {library_object(names)};
  for (const std::string& part : parts_of(text, mark)) objects.push_back(object_of(part));
  return load_for_here(path, objects);
}

std::vector<std::string> objects_of_tar(const std::string& path) {
  std::vector<std::string> objects;
  for (TarMember& member : read_tar(content_of(path), path)) {
    if (member.name.ends_with(".o")) objects.push_back(std::move(member.content));
  }
  return objects;
}

runtime::Module load_archived(const std::string& path, const std::vector<std::string>& objects) {
  if (objects.empty()) throw UserError("cannot load {}: there is no object file (.o) in it", path);
  return load_for_here(path, objects);
}

}  // namespace

runtime::Module load(const std::string& path) {
  const std::string ending = std::filesystem::path(path).extension().string();
  if (ending == ".o") return load_for_here(path, {content_of(path)});
  if (ending == ".a") return load_archived(path, objects_of_archive(content_of(path), path));
  if (ending == ".tar") return load_archived(path, objects_of_tar(path));
  if (ending == ".ll") {
    return load_text(path, "; ModuleID",
                     [&](const std::string& part) { return object_of_llvm_ir(part, path); });
  }
  if (ending == ".s") return load_text(path, "\t.text\n\t.file\t", assemble);
  if (ending == ".c") return load_for_here(path, {compile_c(content_of(path), {})});
  return runtime::Module::load(path);
}

}  // namespace tilewright::driver
