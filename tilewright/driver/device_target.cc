#include "tilewright/driver/device_target.h"

#include <algorithm>
#include <unordered_map>

#include "tilewright/analysis/launch_limits.h"
#include "tilewright/driver/verify_passes.h"
#include "tilewright/ir/rewrite.h"
#include "tilewright/lower/lowered.h"
#include "tilewright/runtime/interrupt.h"
#include "tilewright/support/error.h"
#include "tilewright/support/hash.h"
#include "tilewright/target/gpu_features.h"
#include "tilewright/target/target.h"
#include "tilewright/tir/builder.h"
#include "tilewright/tir/op.h"

namespace tilewright::driver {
namespace {

/// Attribute of a lowered kernel: its key in the registry of the runtime.
constexpr std::string_view kDeviceKey = "device_key";
/// Attribute of a lowered kernel: the kind of target that it is for.
constexpr std::string_view kDeviceKind = "device_kind";
constexpr std::string_view kRegistered = "tilewright.kernel.";

bool is_kernel(const ir::BaseFunc& func) {
  return func->attrs.get_string(std::string(lower::kLoweredKind), "") == lower::kDeviceKernel;
}

std::string key_of(const codegen::KernelText& kernel, const std::string& target) {
  return Hasher().add(kernel.text).add(target).finish().hex();
}

// The module with each kernel's key, by which the host's function calls it.
ir::IRModule with_keys(const ir::IRModule& lowered, codegen::DeviceLanguage language,
                       const std::string& target, const std::string& kind) {
  std::unordered_map<std::string, std::string> keys;
  for (const codegen::KernelText& kernel : codegen::kernel_texts(language, {&lowered, 1}))
    keys[kernel.name] = key_of(kernel, target);
  ir::IRModule module = rewrite(lowered, [&](auto& self, const tir::CallNode* node) -> tir::PrimExpr {
    const auto* name =
        tir::is_call_of(node, "tir.call_packed") ? node->args[0].as<ir::StringImmNode>() : nullptr;
    const auto key = name ? keys.find(name->value) : keys.end();
    if (key == keys.end()) return self.children(node);
    std::vector<tir::PrimExpr> args = node->args;
    args[0] = tir::string_imm(std::string(kRegistered) + key->second);
    return tir::CallNode::make(node->dtype, node->op, std::move(args));
  });
  for (const auto& [name, key] : keys) {
    const auto func = ir::ref_as<tir::PrimFuncNode>(module->find(name));
    module = ir::with_function(module, name, with(func, [&](tir::PrimFuncNode& changed) {
                                 changed.attrs.set(std::string(kDeviceKey), tir::string_imm(key));
                                 changed.attrs.set(std::string(kDeviceKind), tir::string_imm(kind));
                               }));
  }
  return module;
}

ir::IRModule host_part(const ir::IRModule& lowered) {
  ir::IRModule host = ir::IRModuleNode::make();
  for (size_t n = 0; n < lowered->functions.size(); ++n) {
    if (!is_kernel(lowered->functions[n]))
      host = ir::with_function(host, lowered->global_vars[n]->name_hint, lowered->functions[n]);
  }
  return host;
}

std::vector<ir::IRModule> host_parts(std::span<const ir::IRModule> lowered) {
  std::vector<ir::IRModule> hosts;
  for (const ir::IRModule& module : lowered) hosts.push_back(host_part(module));
  return hosts;
}

std::string bytes_of(const runtime::DeviceCode& code) {
  const std::vector<std::byte> bytes = code.serialize();
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// The kernels of one function, with their text.
std::string source_of(const ir::IRModule& lowered, const DeviceTarget& device) {
  runtime::DeviceCode code;
  for (size_t n = 0; n < lowered->functions.size(); ++n) {
    if (!is_kernel(lowered->functions[n])) continue;
    const auto func = ir::ref_as<tir::PrimFuncNode>(lowered->functions[n]);
    std::vector<DataType> params;
    for (const tir::Var& param : func->params) params.push_back(param->dtype);
    const std::string key = func->attrs.get_string(std::string(kDeviceKey), "");
    code.kernels.push_back({key, lowered->global_vars[n]->name_hint, std::move(params), {0}});
  }
  if (code.kernels.empty()) return "";
  code.images.push_back(
      {device.device_type, "source", "", codegen::emit_device(device.language, {&lowered, 1})});
  return bytes_of(code);
}

// The modules without those that have kernels for another kind of target.
std::vector<ir::IRModule> of_kind(std::span<const ir::IRModule> lowered, const std::string& kind) {
  std::vector<ir::IRModule> modules;
  for (const ir::IRModule& module : lowered) {
    const bool is_other =
        std::any_of(module->functions.begin(), module->functions.end(), [&](const ir::BaseFunc& func) {
          return func->attrs.get_string(std::string(kDeviceKind), kind) != kind;
        });
    if (!is_other) modules.push_back(module);
  }
  return modules;
}

// The kernels of one function, with images that devices load.
runtime::DeviceCode with_images(const std::string& source, const ir::Target& target,
                                const DeviceTarget& device, bool is_for_here) {
  runtime::DeviceCode code = runtime::DeviceCode::parse(std::as_bytes(std::span(source)), "a kernel");
  runtime::DeviceImage text = std::move(code.images.at(0));
  text.format = std::string(target->kind_name);
  code.images =
      device.images ? device.images(text, target, is_for_here) : std::vector<runtime::DeviceImage>{text};
  return code;
}

// One description of all functions' kernels; compilers of devices run side by side.
std::string images_of(std::span<const std::string> sources, const ir::Target& target,
                      const DeviceTarget& device, bool is_for_here) {
  std::vector<runtime::DeviceCode> of_source(sources.size());
  runtime::interruptible_for(static_cast<int64_t>(sources.size()), [&](int64_t n) {
    const auto place = static_cast<size_t>(n);
    if (!sources[place].empty()) of_source[place] = with_images(sources[place], target, device, is_for_here);
  });
  runtime::DeviceCode all;
  for (runtime::DeviceCode& code : of_source) {
    std::vector<uint32_t> numbers;
    for (runtime::DeviceImage& image : code.images) {
      numbers.push_back(static_cast<uint32_t>(all.images.size()));
      all.images.push_back(std::move(image));
    }
    for (runtime::DeviceKernel& kernel : code.kernels) {
      kernel.images = numbers;
      all.kernels.push_back(std::move(kernel));
    }
  }
  return all.kernels.empty() ? "" : bytes_of(all);
}

void verify_limits(const tir::PrimFunc& func, const target::GpuFeatures& gpu, const std::string& name) {
  try {
    analysis::verify_launch_limits(func, gpu);
  } catch (Error& error) {
    error.add_prefix(name);
    throw;
  }
}

Generator host_generator(const ir::Target& target) {
  if (target->host) return make_generator(target->host);
  for (const char* kind : {"llvm", "c"}) {
    for (const TargetInfo* info : all_targets()) {
      if (info->name == kind) return make_generator(target::parse_target(kind));
    }
  }
  throw InternalError("there is no target for the host");
}

}  // namespace

std::string joined_device_code(const std::vector<std::string>& parts) {
  if (parts.size() == 1) return parts[0];
  runtime::DeviceCode all;
  for (const std::string& part : parts) {
    if (part.empty()) continue;
    runtime::DeviceCode code = runtime::DeviceCode::parse(std::as_bytes(std::span(part)), "a kernel");
    const auto first = static_cast<uint32_t>(all.images.size());
    for (runtime::DeviceImage& image : code.images) all.images.push_back(std::move(image));
    for (runtime::DeviceKernel& kernel : code.kernels) {
      for (uint32_t& number : kernel.images) number += first;
      all.kernels.push_back(std::move(kernel));
    }
  }
  return all.kernels.empty() ? "" : bytes_of(all);
}

Generator make_device_generator(const ir::Target& target, const DeviceTarget& device) {
  const Generator host = host_generator(target);
  const std::string kind = target->kind_name, text = target->str();
  Generator generator = host;
  const target::KnownGpuFeatures known = target::gpu_features_of(target);
  const target::GpuFeatures& features = known.features;
  generator.gpu = features;
  generator.feature_sources = known.sources;
  generator.code_key = host.code_key.empty() ? "" : host.code_key + "; " + text + "; " + features.str();
  generator.lower = [=, abi = host.abi, gpu = features](const std::string& name, const tir::PrimFunc& func,
                                                        const lower::StepObserver& observe) {
    const lower::LowerOptions options{.abi = abi, .verify = verifies_passes(), .observe = observe};
    verify_limits(func, gpu, name);  // names the loops of the schedule
    const ir::IRModule lowered = lower::lower_for_gpu(kind, name, func, device.device_type, options);
    for (const ir::BaseFunc& each : lowered->functions) {
      if (is_kernel(each)) verify_limits(ir::ref_as<tir::PrimFuncNode>(each), gpu, name);
    }
    try {
      return with_keys(lowered, device.language, text, kind);
    } catch (Error& error) {
      error.add_prefix(name);
      throw;
    }
  };
  if (host.object)
    generator.object = [host](const ir::IRModule& lowered) { return host.object(host_part(lowered)); };
  if (host.unit_object)
    generator.unit_object = [host](std::span<const ir::IRModule> lowered) {
      return host.unit_object(host_parts(lowered));
    };
  generator.device_source = [=](const ir::IRModule& lowered) { return source_of(lowered, device); };
  generator.device_images = [=](std::span<const std::string> all, bool is_for_here) {
    return images_of(all, target, device, is_for_here);
  };
  generator.device_kind = kind;
  generator.sources = {{target->kind_name, device.ending,
                        [language = device.language, kind](std::span<const ir::IRModule> lowered) {
                          return codegen::emit_device(language, of_kind(lowered, kind));
                        }}};
  for (const SourceFormat& format : host.sources) {
    if (format.name != "lowered")
      generator.sources.push_back(
          {format.name, format.ending, [emit = format.emit](std::span<const ir::IRModule> lowered) {
             return emit(host_parts(lowered));
           }});
  }
  return generator;
}

}  // namespace tilewright::driver
