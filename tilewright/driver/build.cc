// Kernels: each loop program is lowered and compiled on its own, on several threads, then all are linked in memory.
#include "tilewright/driver/build.h"

#include <atomic>
#include <chrono>
#include <thread>

#include "tilewright/codegen/llvm/native.h"
#include "tilewright/lower/pipeline.h"
#include "tilewright/runtime/cpu_count.h"
#include "tilewright/script/print.h"
#include "tilewright/support/error.h"
#include "tilewright/tir/tir.h"

namespace tilewright::driver {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

struct Kernel {
  std::string name;
  tir::PrimFunc func;
  IRModule lowered;
  std::string object;
  std::exception_ptr failure;
};

std::vector<Kernel> kernels_of(const IRModule& module) {
  std::vector<Kernel> kernels;
  for (size_t n = 0; n < module->functions.size(); ++n) {
    const auto func = ref_as<tir::PrimFuncNode>(module->functions[n]);
    if (!func) continue;
    kernels.push_back({func->attrs.get_string("global_symbol", module->global_vars[n]->name_hint), func, nullptr, {}, nullptr});
    for (size_t other = 0; other + 1 < kernels.size(); ++other) {
      if (kernels[other].name == kernels.back().name)
        throw UserError(func, "two functions have the global_symbol \"{}\"", kernels.back().name).help("give each function its own name");
    }
  }
  return kernels;
}

void compile(Kernel& kernel, const codegen::NativeTarget& native) {
  try {
    kernel.lowered = lower::lower_for_cpu(kernel.name, kernel.func);
    kernel.object = codegen::emit_object(kernel.lowered, native);
  } catch (...) {
    kernel.failure = std::current_exception();
  }
}

void compile_all(std::vector<Kernel>& kernels, const codegen::NativeTarget& native) {
  std::atomic<size_t> next{0};
  auto work = [&] {
    for (size_t n = next++; n < kernels.size(); n = next++) compile(kernels[n], native);
  };
  const size_t num_threads = std::min<size_t>(kernels.size(), static_cast<size_t>(std::max(1, runtime::count_usable_cpus())));
  std::vector<std::thread> threads;
  for (size_t n = 1; n < num_threads; ++n) threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();
  for (const Kernel& kernel : kernels) {
    if (kernel.failure) std::rethrow_exception(kernel.failure);
  }
}

}  // namespace

Library build(const IRModule& module, const Target& target) {
  if (target->kind_name != "llvm")
    throw Unsupported("target \"{}\" has no code generator in build", target->kind_name).help("use target \"llvm\"");
  Library library;
  library.target = target;
  const codegen::NativeTarget native = codegen::native_target(target);
  const auto start = Clock::now();
  std::vector<Kernel> kernels = kernels_of(module);
  compile_all(kernels, native);
  for (Kernel& kernel : kernels) {
    library.names.push_back(kernel.name);
    library.lowered[kernel.name] = kernel.lowered;
    library.objects.push_back(std::move(kernel.object));
  }
  library.times.push_back({"compile", seconds_since(start), fmt::format("{} kernels", kernels.size())});
  if (!native.is_host) return library;
  const auto link_start = Clock::now();
  std::vector<std::string> objects = library.objects;
  objects.push_back(codegen::emit_library_object(library.names, {}, native));
  library.module = codegen::load_objects("jit", objects);
  library.times.push_back({"link", seconds_since(link_start), ""});
  return library;
}

std::string Library::source(std::string_view format) const {
  const codegen::NativeTarget native = codegen::native_target(target);
  std::string text;
  for (const std::string& name : names) {
    const IRModule& code = lowered.at(name);
    if (format == "ll") text += codegen::emit_llvm_ir(code, native);
    else if (format == "asm" || format == "s") text += codegen::emit_assembly(code, native);
    else if (format == "tir") text += script::print(code);
    else throw UserError("there is no source format \"{}\"", format).help("the formats are \"ll\", \"asm\" and \"tir\"");
  }
  return text;
}

}  // namespace tilewright::driver
