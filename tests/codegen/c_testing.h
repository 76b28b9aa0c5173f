// Loop programs through the C compiler, and through LLVM.
#pragma once
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "tilewright/codegen/c/c.h"
#include "tilewright/codegen/llvm/native.h"
#include "tilewright/lower/lower.h"
#include "tilewright/target/target.h"

namespace tilewright::codegen {

inline std::string source_of(const tir::PrimFunc& func) {
  const ir::IRModule lowered[] = {lower::lower_for_c("f", func)};
  return emit_c(lowered);
}

class Compiled {
 public:
  /// `warnings`: options of cc besides -std=c99.
  explicit Compiled(const std::string& source,
                    const std::string& warnings = "-Wall -Wextra -Wpedantic -Werror") {
    std::string pattern = (std::filesystem::temp_directory_path() / "tilewright-c-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
    const std::string names[] = {"f"};
    std::ofstream(folder_ / "f.c") << source << emit_c_exports(names, "some bytes");
    const std::string command = "cd " + folder_.string() + " && cc -std=c99 -O1 " + warnings +
                                " -fPIC -shared -Wl,-Bsymbolic f.c -o f.so -lm 2>&1";
    FILE* output = popen(command.c_str(), "r");
    for (int c; (c = fgetc(output)) != EOF;) messages_ += static_cast<char>(c);
    if (pclose(output) == 0) module_ = runtime::Module::load((folder_ / "f.so").string());
  }
  ~Compiled() { std::filesystem::remove_all(folder_); }
  Compiled(const Compiled&) = delete;

  const std::string& messages() const { return messages_; }
  const runtime::Module& module() const { return module_; }

 private:
  std::filesystem::path folder_;
  std::string messages_;
  runtime::Module module_;
};

inline runtime::Function through_llvm(const tir::PrimFunc& func) {
  const NativeTarget target = native_target(target::parse_target("llvm"));
  const std::string names[] = {"f"};
  const std::string objects[] = {emit_object(lower::lower_for_cpu("f", func), target),
                                 emit_library_object(names, {}, target)};
  return load_objects("test", objects).get_function("f");
}

}  // namespace tilewright::codegen
