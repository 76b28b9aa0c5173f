// Target c: C99 source, which the C compiler of this machine compiles when it is first called or exported.
#include "tilewright/codegen/c/c.h"

#include <fmt/format.h>

#include "tilewright/driver/c_compiler.h"
#include "tilewright/driver/c_library.h"
#include "tilewright/driver/processor.h"
#include "tilewright/driver/target.h"
#include "tilewright/driver/verify_passes.h"
#include "tilewright/lower/lower.h"
#include "tilewright/support/error.h"
#include "tilewright/target/target.h"
#include "tilewright/target/vector_width.h"

namespace tilewright::driver {
namespace {

// kernels do not need errno and floating-point traps, which prevent vectorisation
std::vector<std::string> compiler_flags(const ir::Target& target) {
  const int64_t level = target->attrs.get_int("opt-level", 3);
  for (const char* name : {"mattr", "fast-math"}) {
    if (target->attrs.get(name))
      throw Unsupported("target c: -{} does not apply to a C compiler", name)
          .help("use -mcpu, or target \"llvm\"");
  }
  if (level < 0 || level > 3) throw UserError("target c: -opt-level must be 0..3, but is {}", level);
  // GCC 12 at -O3 -march=native miscompiles a vectorised selection by bool elements; at -O2 it does not
  return {fmt::format("-O{}", std::min<int64_t>(level, 2)),
          "-march=" + target->attrs.get_string("mcpu", "native"), "-fno-math-errno", "-fno-trapping-math",
          "-ffp-contract=" + target->attrs.get_string("fp-contract", "fast")};
}

// This machine, or the CPU that -mcpu selects for the C compiler.
target::Processor processor(const ir::Target& target) {
  const std::string cpu = target->attrs.get_string("mcpu", "native");
  target::Processor here;
  try {
    here = cpu == "native" ? this_processor() : processor_of_compiler(cpu);
  } catch (Error& error) {
    error.add_prefix("target c");
    throw;
  }
  here.vector_bits = target::vector_width(here, target).bits;
  return here;
}

// True if `triple` is this machine; the vendor between architecture and system does not count
// (x86_64-linux-gnu, x86_64-pc-linux-gnu).
bool is_this_machine(const std::string& triple, const target::Processor& here) {
  const auto architecture = [](std::string_view text) { return text.substr(0, text.find('-')); };
  return architecture(triple) == architecture(here.triple) && triple.find("linux") != std::string::npos;
}

// Lowers the function, and refuses programs that cannot be printed as C now instead of at the first call.
ir::IRModule lowered(const std::string& name, const tir::PrimFunc& func, const lower::StepObserver& observe) {
  ir::IRModule module = lower::lower_for_c(name, func, {.verify = verifies_passes(), .observe = observe});
  try {
    codegen::emit_c({&module, 1});
  } catch (Error& error) {
    error.add_prefix(name);
    throw;
  }
  return module;
}

Generator make(const ir::Target& target) {
  const std::vector<std::string> flags = compiler_flags(target);
  const target::Processor here = processor(target);
  Generator generator;
  generator.machine = target->attrs.get_string("mtriple", here.triple);
  generator.is_host = is_this_machine(generator.machine, here);
  if (generator.is_host && !target->attrs.get("mcpu")) generator.needed_features = here.features;
  auto [features, sources] = target::features_of(here, target);
  generator.features = features;
  generator.feature_sources = std::move(sources);
  generator.features.dots = {};  // C has no operators for them
  generator.features.has_masks = false;
  // nor for shuffles: compilers take minutes for them element by element
  generator.features.can_shuffle = false;
  generator.lower = lowered;
  generator.unit_object = [flags, machine = generator.machine,
                           is_host = generator.is_host](std::span<const ir::IRModule> lowered) {
    if (!is_host)
      throw Unsupported("target c: this C compiler does not generate code for {}", machine)
          .help("export a .c and compile it there");
    return compile_c(codegen::emit_c(lowered), flags);
  };
  generator.library_object = assemble_library_object;
  generator.load = load_linked;
  generator.archive = archive_by_ar;
  generator.sources = {{"c", ".c", codegen::emit_c, codegen::emit_c_exports}};
  return generator;
}

}  // namespace

extern constinit const TargetInfo c_info = {"c", "C99 source, and code that the C compiler makes of it",
                                            make};

}  // namespace tilewright::driver
