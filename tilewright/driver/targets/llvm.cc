// Machine code for CPUs, through LLVM.
#include <fmt/ranges.h>

#include "tilewright/codegen/llvm/native.h"
#include "tilewright/driver/machine.h"
#include "tilewright/driver/target.h"
#include "tilewright/lower/pipeline.h"

namespace tilewright::driver {
namespace {

// One text after the other.
template <class Emit>
auto each(Emit emit) {
  return [emit](std::span<const ir::IRModule> modules) {
    std::string text;
    for (const ir::IRModule& lowered : modules) text += emit(lowered);
    return text;
  };
}

Generator make(const ir::Target& target) {
  const codegen::NativeTarget native = codegen::native_target(target);
  Generator generator;
  const std::vector<std::string> lacking = codegen::lacking_features(native.needed);
  generator.machine =
      lacking.empty() ? native.triple : fmt::format("a CPU with {}", fmt::join(lacking, ", "));
  generator.is_host = native.is_host;
  generator.rules_for = machine_of(native, target);
  generator.features = native.needed;
  generator.lower = [](const std::string& name, const tir::PrimFunc& func) {
    return lower::lower_for_cpu(name, func);
  };
  generator.object = [native](const ir::IRModule& lowered) { return codegen::emit_object(lowered, native); };
  generator.library_object = [native](std::span<const std::string> names, std::string_view blob) {
    return codegen::emit_library_object(names, blob, native);
  };
  generator.sources = {
      {"ll", ".ll",
       each([native](const ir::IRModule& lowered) { return codegen::emit_llvm_ir(lowered, native); })},
      {"asm", ".s",
       each([native](const ir::IRModule& lowered) { return codegen::emit_assembly(lowered, native); })},
  };
  return generator;
}

}  // namespace

extern constinit const TargetInfo llvm_info = {"llvm", "machine code for CPUs, through LLVM", make};

}  // namespace tilewright::driver
