// Makes the LLVM target from a Target, or from the machine this runs on.
#include "tilewright/codegen/llvm/target.h"

#include <llvm/ADT/StringMap.h>
#include <llvm/InitializePasses.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/PassRegistry.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/TargetParser/Host.h>
#include <llvm/TargetParser/SubtargetFeature.h>
#include <llvm/TargetParser/Triple.h>

#if defined(__x86_64__) && defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

#include <algorithm>
#include <map>
#include <tuple>

#include "tilewright/codegen/llvm/guarded.h"
#include "tilewright/codegen/llvm/rates.h"
#include "tilewright/ir/expr.h"
#include "tilewright/support/error.h"
#include "tilewright/support/near.h"
#include "tilewright/target/cores.h"
#include "tilewright/target/vector_width.h"

namespace tilewright::codegen {

// Initialises the architectures that codegen/CMakeLists.txt lists.
void initialize_targets() {
  static const bool done = [] {
#define INITIALIZE(Name)              \
  LLVMInitialize##Name##TargetInfo(); \
  LLVMInitialize##Name##Target();     \
  LLVMInitialize##Name##TargetMC();   \
  LLVMInitialize##Name##AsmPrinter();
    INITIALIZE(X86)
    INITIALIZE(AArch64)
    INITIALIZE(ARM)
    INITIALIZE(RISCV)
    INITIALIZE(WebAssembly)
    INITIALIZE(NVPTX)
#undef INITIALIZE
    // now, not during the compilation of the first kernel, which may run out of memory in the middle of it
    llvm::PassRegistry& passes = *llvm::PassRegistry::getPassRegistry();
    llvm::initializeCore(passes);
    llvm::initializeAnalysis(passes);
    llvm::initializeTransformUtils(passes);
    llvm::initializeScalarOpts(passes);
    llvm::initializeCodeGen(passes);
    llvm::initializeGlobalISel(passes);
    llvm::initializeTarget(passes);
    return true;
  }();
  (void)done;
}

namespace {

const llvm::Target& find_target(const std::string& triple) {
  initialize_targets();
  std::string reason;
  if (const llvm::Target* found = llvm::TargetRegistry::lookupTarget(triple, reason)) return *found;
  std::string names;
  for (const llvm::Target& known : llvm::TargetRegistry::targets())
    names += (names.empty() ? "" : ", ") + std::string(known.getName());
  throw Unsupported("target llvm: cannot generate code for -mtriple={}", triple)
      .help("this build knows {}", names);
}

void check_cpu(const llvm::MCSubtargetInfo& info, const std::string& triple, const std::string& cpu) {
  if (cpu.empty() || info.isCPUStringValid(cpu)) return;
  std::vector<std::string_view> names;
  for (const llvm::SubtargetSubTypeKV& known : info.getAllProcessorDescriptions()) names.push_back(known.Key);
  throw UserError("target llvm: {} has no CPU \"{}\"", triple, cpu)
      .help("{}", nearest_names_text(cpu, names));
}

void check_features(const llvm::MCSubtargetInfo& info, const std::string& triple,
                    const std::vector<std::string>& features) {
  std::vector<std::string_view> names;
  for (const llvm::SubtargetFeatureKV& known : info.getAllProcessorFeatures()) names.push_back(known.Key);
  for (const std::string& feature : features) {
    if (!feature.starts_with('+') && !feature.starts_with('-'))
      throw UserError("target llvm: feature \"{}\" of -mattr must begin with + or -", feature);
    const std::string_view name = std::string_view(feature).substr(1);
    if (std::find(names.begin(), names.end(), name) == names.end())
      throw UserError("target llvm: {} has no feature \"{}\"", triple, name)
          .help("{}", nearest_names_text(name, names));
  }
}

std::vector<std::string> enabled_features(const llvm::MCSubtargetInfo& info) {
  std::vector<std::string> enabled;
  for (const llvm::SubtargetFeatureKV& known : info.getAllProcessorFeatures()) {
    if (info.hasFeature(known.Value)) enabled.emplace_back(known.Key);
  }
  std::sort(enabled.begin(), enabled.end());
  return enabled;
}

lower::KernelAbi abi_of(const llvm::Triple& triple) {
  const bool is_i386 = triple.getArch() == llvm::Triple::x86 && !triple.isOSWindows();
  return {.pointer_bytes = triple.isArch64Bit() && !triple.isX32() ? 8 : 4,
          .int64_alignment = is_i386 ? 4 : 8};
}

std::vector<std::string> strings_of(const ir::Target& target, std::string_view key) {
  std::vector<std::string> values;
  const ir::ObjectRef list = target->attrs.get(key);
  if (const auto* array = list.as<ir::ArrayNode>()) {
    for (const ir::ObjectRef& item : array->items) {
      if (const auto* text = item.as<ir::StringImmNode>()) values.push_back(text->value);
    }
  }
  return values;
}

void check_fast_math(const std::vector<std::string>& flags) {
  static constexpr std::string_view kFlags[] = {"reassoc", "nnan", "ninf", "nsz", "arcp", "afn"};
  for (const std::string& flag : flags) {
    if (std::find(std::begin(kFlags), std::end(kFlags), flag) == std::end(kFlags))
      throw UserError("target llvm: -fast-math has no flag \"{}\"", flag)
          .help("{}", nearest_names_text(
                          flag, std::vector<std::string_view>(std::begin(kFlags), std::end(kFlags))));
  }
}

// True if code generation uses the feature by itself; other features are for operating systems and
// intrinsics, and machines in the cloud hide them.
bool is_used_by_code(const llvm::Triple& triple, llvm::StringRef feature) {
  if (!triple.isX86()) return true;
  static constexpr llvm::StringLiteral kUsed[] = {"sse", "ssse",  "avx",    "fma",       "f16c",
                                                  "bmi", "lzcnt", "popcnt", "movbe",     "amx",
                                                  "xop", "gfni",  "vaes",   "vpclmulqdq"};
  return llvm::any_of(kUsed, [&](llvm::StringRef used) { return feature.starts_with(used); });
}

// True if Linux lets this process use the tile registers of AMX; checked before any kernel is made.  Source:
// Documentation/arch/x86/xstate.rst of Linux.
bool may_use_tiles() {
#if defined(__x86_64__) && defined(__linux__)
  constexpr long kRequestPermission = 0x1023, kTileData = 18;
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
#else
  return true;
#endif
}

// The features of this machine: true if code may use them.
const llvm::StringMap<bool>& host_features() {
  static const llvm::StringMap<bool> features = [] {
    llvm::StringMap<bool> found = llvm::sys::getHostCPUFeatures();
    if (found.lookup("amx-tile") && !may_use_tiles()) {
      for (auto& feature : found) feature.second &= !feature.first().starts_with("amx");
    }
    return found;
  }();
  return features;
}

std::vector<std::string> needed_features(const NativeTarget& native, const llvm::Triple& triple) {
  std::vector<std::string> needed;
  for (const auto& [name, enabled] : host_features()) {
    if (is_used_by_code(triple, name) && native.has({name.data(), name.size()})) needed.push_back(name.str());
  }
  std::sort(needed.begin(), needed.end());
  return needed;
}

}  // namespace

std::vector<std::string> lacking_features(std::span<const std::string> needed) {
  std::vector<std::string> lacking;
  for (const std::string& feature : needed) {
    if (!host_features().lookup(feature)) lacking.push_back(feature);
  }
  return lacking;
}

HostCpu host_cpu() {
  std::vector<std::string> features;
  for (const auto& [name, enabled] : host_features()) features.push_back((enabled ? "+" : "-") + name.str());
  std::sort(features.begin(), features.end());
  std::string text;
  for (const std::string& feature : features) text += (text.empty() ? "" : ",") + feature;
  return {llvm::sys::getDefaultTargetTriple(), llvm::sys::getHostCPUName().str(), text};
}

bool NativeTarget::has(std::string_view feature) const {
  return std::binary_search(enabled.begin(), enabled.end(), feature);
}

namespace {

NativeTarget parsed(const ir::Target& target) {
  const HostCpu host = host_cpu();
  NativeTarget native;
  native.triple = llvm::Triple::normalize(target->attrs.get_string("mtriple", host.triple));
  const llvm::Target& backend = find_target(native.triple);
  const llvm::Triple triple(native.triple), host_triple(host.triple);
  native.abi = abi_of(triple);
  const bool same_machine =
      triple.getArch() == host_triple.getArch() && triple.getOS() == host_triple.getOS();
  native.cpu = target->attrs.get_string("mcpu", same_machine ? "native" : "");
  if (native.cpu == "native") {
    if (!same_machine)
      throw UserError("target llvm: -mcpu=native is this machine, but -mtriple={} is another", native.triple);
    native.cpu = host.cpu;
    native.features = host.features;
  }
  std::unique_ptr<llvm::MCSubtargetInfo> known(backend.createMCSubtargetInfo(native.triple, "", ""));
  if (!known) throw Unsupported("target llvm: cannot generate code for -mtriple={}", native.triple);
  check_cpu(*known, native.triple, native.cpu);
  const std::vector<std::string> features = strings_of(target, "mattr");
  check_features(*known, native.triple, features);
  for (const std::string& feature : features)
    native.features += (native.features.empty() ? "" : ",") + feature;
  native.fast_math = strings_of(target, "fast-math");
  check_fast_math(native.fast_math);
  native.contracts = target->attrs.get_string("fp-contract", "fast") == "fast";
  native.opt_level = static_cast<int>(target->attrs.get_int("opt-level", 3));
  if (native.opt_level < 0 || native.opt_level > 3)
    throw UserError("target llvm: -opt-level must be 0..3, but is {}", native.opt_level);
  std::unique_ptr<llvm::MCSubtargetInfo> info(
      backend.createMCSubtargetInfo(native.triple, native.cpu, native.features));
  native.enabled = enabled_features(*info);
  const target::VectorWidth width = target::vector_width(native.processor(), target);
  native.vector_bits = width.bits;
  native.least_register_bits = width.least_register_bits;
  // only if no manual has them
  const target::Core* core = target::find_core(native.cpu);
  if (!core || !core->rates(native.vector_bits)) native.rates = rates_of(backend, *info, native.vector_bits);
  if (same_machine) native.needed = needed_features(native, triple);
  native.is_host = same_machine && lacking_features(native.needed).empty();
  native.line_bytes = target::features_of(native.processor(), target).features.line_bytes;
  return native;
}

std::unique_ptr<llvm::TargetMachine> new_machine(const NativeTarget& target) {
  static constexpr llvm::CodeGenOptLevel kLevels[] = {
      llvm::CodeGenOptLevel::None, llvm::CodeGenOptLevel::Less, llvm::CodeGenOptLevel::Default,
      llvm::CodeGenOptLevel::Aggressive};
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Standard;
  // RISC-V needs the float registers that may pass arguments
  const llvm::Triple triple(target.triple);
  if (triple.isRISCV64()) options.MCOptions.ABIName = "lp64d";
  if (triple.isRISCV32())
    options.MCOptions.ABIName = target.has("d") ? "ilp32d" : target.has("f") ? "ilp32f" : "ilp32";
  // addresses in wasm are known at link time
  const llvm::Reloc::Model model = triple.isWasm() ? llvm::Reloc::Static : llvm::Reloc::PIC_;
  std::unique_ptr<llvm::TargetMachine> machine(
      find_target(target.triple)
          .createTargetMachine(target.triple, target.cpu, target.features, options, model, std::nullopt,
                               kLevels[target.opt_level]));
  if (!machine) throw Unsupported("target llvm: cannot generate code for -mtriple={}", target.triple);
  return machine;
}

using MachineKey = std::tuple<std::string, std::string, std::string, int>;
using Machines = std::map<MachineKey, std::shared_ptr<llvm::TargetMachine>>;

std::unique_ptr<Machines>& machines_of_thread() {
  thread_local std::unique_ptr<Machines> machines;
  return machines;
}

}  // namespace

NativeTarget native_target(const ir::Target& target) {
  return guarded([&] { return parsed(target); });
}

// Cached: each new machine parses the features again, once more for the first function, which takes a tenth
// of a small kernel's compile time.
std::shared_ptr<llvm::TargetMachine> target_machine(const NativeTarget& target) {
  constexpr size_t kMostMachines = 8;
  std::unique_ptr<Machines>& machines = machines_of_thread();
  if (!machines) machines = std::make_unique<Machines>();
  const MachineKey key(target.triple, target.cpu, target.features, target.opt_level);
  if (const auto known = machines->find(key); known != machines->end()) return known->second;
  if (machines->size() >= kMostMachines) machines->clear();
  std::shared_ptr<llvm::TargetMachine> made = new_machine(target);
  return machines->emplace(key, std::move(made)).first->second;
}

void forget_target_machines() { (void)machines_of_thread().release(); }

}  // namespace tilewright::codegen
