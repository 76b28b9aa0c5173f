#include "tilewright/codegen/device/device.h"

#include "tilewright/codegen/device/printer.h"
#include "tilewright/lower/lowered.h"
#include "tilewright/support/error.h"

namespace tilewright::codegen {
namespace {

struct Language {
  std::string_view name;
  bool has_float16;
  std::unique_ptr<DevicePrinter> (*printer)(DeviceUnit& unit, const DeviceKernel& kernel);
  std::string (*prologue)(std::string_view text);
};
constexpr Language kLanguages[] = {
    {"CUDA C", true, cuda_printer, cuda_prologue},
    {"OpenCL C", false, opencl_printer, opencl_prologue},
    {"Metal", true, metal_printer, metal_prologue},
};

const Language& find(DeviceLanguage language) { return kLanguages[static_cast<size_t>(language)]; }

std::vector<DeviceKernel> kernels_of(const Language& language, std::span<const ir::IRModule> lowered) {
  std::vector<DeviceKernel> kernels;
  for (const ir::IRModule& module : lowered) {
    for (size_t n = 0; n < module->functions.size(); ++n) {
      const auto* func = module->functions[n].as<PrimFuncNode>();
      if (!func || func->attrs.get_string(lower::kLoweredKind, "") != lower::kDeviceKernel) continue;
      const std::string& name = module->global_vars[n]->name_hint;
      if (!is_identifier(name))
        throw UserError("kernel \"{}\" cannot be written in {}: the name is not an identifier", name,
                        language.name)
            .help("give the function a global_symbol of letters, digits and _");
      kernels.push_back({name, module->global_vars.back()->name_hint, func});
    }
  }
  return kernels;
}

std::string unit_text(const Language& language, const DeviceUnit& unit, const std::string& kernels) {
  std::string rest;
  for (const auto& [name, definition] : unit.helpers) rest += definition;
  if (!rest.empty()) rest += "\n";
  rest += kernels;
  return "// Made by tilewright.\n" + language.prologue(rest) + rest;
}

}  // namespace

std::string_view language_name(DeviceLanguage language) { return find(language).name; }
bool has_float16(DeviceLanguage language) { return find(language).has_float16; }

std::vector<KernelText> kernel_texts(DeviceLanguage language, std::span<const ir::IRModule> lowered) {
  std::vector<KernelText> texts;
  for (const DeviceKernel& kernel : kernels_of(find(language), lowered)) {
    DeviceUnit unit;
    const auto printer = find(language).printer(unit, kernel);
    const std::string body = printer->print();
    KernelText& text = texts.emplace_back();
    text.name = kernel.name;
    text.function = kernel.function;
    for (const Var& param : kernel.func->params) text.params.push_back(param->dtype);
    for (int axis = 0; axis < 3; ++axis) text.block[axis] = printer->shape().block[axis];
    text.text = unit_text(find(language), unit, body);
  }
  return texts;
}

std::string emit_device(DeviceLanguage language, std::span<const ir::IRModule> lowered) {
  DeviceUnit unit;
  std::string bodies;
  for (const DeviceKernel& kernel : kernels_of(find(language), lowered))
    bodies += (bodies.empty() ? "" : "\n") + find(language).printer(unit, kernel)->print();
  return bodies.empty() ? "" : unit_text(find(language), unit, bodies);
}

}  // namespace tilewright::codegen
