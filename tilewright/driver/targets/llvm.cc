// Target llvm: machine code for CPUs through LLVM.
#include <fmt/ranges.h>

#include "tilewright/codegen/llvm/native.h"
#include "tilewright/driver/c_compiler.h"
#include "tilewright/driver/target.h"
#include "tilewright/driver/verify_passes.h"
#include "tilewright/lower/lower.h"
#include "tilewright/lower/lowered.h"
#include "tilewright/runtime/device/device_code.h"
#include "tilewright/runtime/kernel_abi.h"
#include "tilewright/tir/builder.h"

namespace tilewright::driver {
namespace {

// Concatenates the texts of all modules.
template <class Emit>
auto each(Emit emit) {
  return [emit](std::span<const ir::IRModule> modules) {
    std::string text;
    for (const ir::IRModule& lowered : modules) text += emit(lowered);
    return text;
  };
}

// The module with the C functions that the program imports compiled to LLVM IR.
ir::IRModule with_c_as_llvm(const ir::IRModule& lowered, const codegen::NativeTarget& native) {
  const auto texts = ir::ref_as<ir::ArrayNode>(lowered->attrs.get(lower::kImportC));
  if (!texts) return lowered;
  std::vector<ir::ObjectRef> all;
  if (const auto known = ir::ref_as<ir::ArrayNode>(lowered->attrs.get(lower::kImportLlvm)))
    all = known->items;
  for (const ir::ObjectRef& text : texts->items)
    all.push_back(tir::string_imm(
        llvm_ir_of_c(text.as<ir::StringImmNode>()->value, native.triple, native.cpu, native.features)));
  return with(lowered, [&](ir::IRModuleNode& n) {
    n.attrs.set(std::string(lower::kImportLlvm), ir::ArrayNode::make(std::move(all)));
  });
}

// The structured binding makes sure that a new field must be added to the text.  Enabled features follow from
// `features`, the layout of structs from the triple.
std::string code_key(const codegen::NativeTarget& native, const target::Features& hardware) {
  const auto& [triple, cpu, features, opt_level, is_host, vector_bits, least_register_bits, fast_math,
               contracts, needed, enabled, abi, rates, line_bytes] = native;
  return fmt::format("{} {} {} O{} {} {} {} {} {} {}; {}", triple, cpu, features, opt_level, is_host,
                     vector_bits, least_register_bits, fmt::join(fast_math, ","), contracts,
                     fmt::join(needed, ","), hardware.str());
}

Generator make(const ir::Target& target) {
  const codegen::NativeTarget native = codegen::native_target(target);
  Generator generator;
  const std::vector<std::string> lacking = codegen::lacking_features(native.needed);
  generator.machine =
      lacking.empty() ? native.triple : fmt::format("a CPU with {}", fmt::join(lacking, ", "));
  generator.is_host = native.is_host;
  generator.abi = native.abi;
  auto [features, sources] = target::features_of(native.processor(), target);
  generator.features = features;
  generator.feature_sources = std::move(sources);
  generator.code_key = code_key(native, generator.features);
  generator.needed_features = native.needed;
  generator.lower = [native](const std::string& name, const tir::PrimFunc& func,
                             const lower::StepObserver& observe) {
    const lower::LowerOptions options{.abi = native.abi, .verify = verifies_passes(), .observe = observe};
    return with_c_as_llvm(lower::lower_for_cpu(name, func, options), native);
  };
  generator.object = [native](const ir::IRModule& lowered) { return codegen::emit_object(lowered, native); };
  generator.library_object = [native](std::span<const std::string> names, const LibraryData& data) {
    const codegen::ExportedBytes all[] = {
        {TILEWRIGHT_BLOB_SYMBOL, TILEWRIGHT_BLOB_SIZE_SYMBOL, data.blob},
        {TILEWRIGHT_DEVICE_CODE_SYMBOL, TILEWRIGHT_DEVICE_CODE_SIZE_SYMBOL, data.device_code}};
    return codegen::emit_library_object(names, all, native);
  };
  generator.load = codegen::load_objects;
  generator.archive = codegen::emit_archive;
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
