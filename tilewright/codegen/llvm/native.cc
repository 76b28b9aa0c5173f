// Lowered module -> LLVM module -> optimised -> object, assembly or IR text.
#include "tilewright/codegen/llvm/native.h"

#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/DiagnosticPrinter.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Verifier.h>
#include <llvm/IRReader/IRReader.h>
#include <llvm/Linker/Linker.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Object/Archive.h>
#include <llvm/Object/ArchiveWriter.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/InstSimplifyPass.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>
#include <llvm/Transforms/Utils/LCSSA.h>
#include <llvm/Transforms/Utils/LoopSimplify.h>

#include "tilewright/codegen/llvm/emitter.h"
#include "tilewright/codegen/llvm/guarded.h"
#include "tilewright/codegen/llvm/lane_products.h"
#include "tilewright/codegen/llvm/sum_loops.h"
#include "tilewright/codegen/llvm/target.h"
#include "tilewright/lower/lowered.h"
#include "tilewright/runtime/device.h"
#include "tilewright/runtime/interrupt.h"
#include "tilewright/runtime/kernel_abi.h"
#include "tilewright/target/target.h"

namespace tilewright::codegen {
namespace {

/// An LLVM module with its context; nothing of it is shared with other threads.
struct Unit {
  llvm::LLVMContext context;
  std::shared_ptr<llvm::TargetMachine> machine;
  llvm::Module module;

  explicit Unit(const NativeTarget& target) : machine(target_machine(target)), module("tilewright", context) {
    context.setDiagnosticHandlerCallBack(&report, this);
    module.setTargetTriple(target.triple);
    module.setDataLayout(machine->createDataLayout());
    module.setPICLevel(llvm::PICLevel::BigPIC);
  }

  std::string errors;  // LLVM's error messages

  // warnings ("loop not vectorized") do not concern the user
  static void report(const llvm::DiagnosticInfo* info, void* self) {
    if (info->getSeverity() != llvm::DS_Error) return;
    llvm::raw_string_ostream stream(static_cast<Unit*>(self)->errors);
    llvm::DiagnosticPrinterRawOStream printer(stream);
    info->print(printer);
    stream << "\n";
  }
  void check() const {
    if (!errors.empty()) throw InternalError("LLVM: {}", errors);
  }
};

// The message of LLVM's verifier for `module`, "" if it is well formed.
std::string fault_of(const llvm::Module& module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  return llvm::verifyModule(module, &stream) ? text.substr(0, text.find_last_not_of('\n') + 1) : "";
}

void verify(const llvm::Module& module) {
  if (const std::string fault = fault_of(module); !fault.empty())
    throw InternalError("the LLVM IR is malformed: {}", fault);
}

// True for an exported function, which checks arguments and calls a kernel.
bool is_entry(const llvm::Function& function) {
  return function.hasExternalLinkage() && !function.isDeclaration();
}

// The exception that check_interrupt throws; null if none.
std::exception_ptr asked_to_stop() {
  try {
    runtime::check_interrupt();
  } catch (...) {
    return std::current_exception();
  }
  return nullptr;
}

// Runs our passes over sums of products, last, because other passes do not know their results.
void finish_sums(llvm::Module& module, const NativeTarget& target, llvm::FunctionAnalysisManager& analyses) {
  const llvm::Triple triple(target.triple);
  const bool has_lanes = triple.getArch() == llvm::Triple::aarch64 && target.least_register_bits > 0,
             has_rvv = triple.isRISCV() && target.has("v");
  if ((!has_lanes && !has_rvv) || target.opt_level < 2) return;
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::LoopSimplifyPass());
  passes.addPass(llvm::LCSSAPass());
  if (has_lanes)
    passes.addPass(LaneProducts(target.least_register_bits));
  else
    passes.addPass(StepsTogether());
  passes.addPass(llvm::InstSimplifyPass());
  passes.addPass(llvm::SimplifyCFGPass());
  for (llvm::Function& function : module) {
    if (!function.isDeclaration() && !is_entry(function)) passes.run(function, analyses);
  }
}

void optimise(Unit& unit, const NativeTarget& target) {
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = tuning.LoopInterleaving = target.opt_level >= 2;
  // LLVM 19's SLP vectoriser gives wrong results for some fully unrolled nests on processors with AVX-512
  // (tests/codegen/test_unrolled_nests.py); schedules create the vectors anyway
  tuning.SLPVectorization = false;
  llvm::PassInstrumentationCallbacks callbacks;
  // entries have no loops and no values worth all passes, which take a third of a small kernel's compile time
  bool are_entries_done = false;
  std::exception_ptr interruption;  // must not be thrown through LLVM: the remaining passes do nothing
  callbacks.registerShouldRunOptionalPassCallback([&](llvm::StringRef, llvm::Any subject) {
    if (!interruption) interruption = asked_to_stop();
    if (interruption) return false;
    const auto* function = llvm::any_cast<const llvm::Function*>(&subject);
    return are_entries_done || !function || !is_entry(**function);
  });
  llvm::PassBuilder builder(unit.machine.get(), tuning, std::nullopt, &callbacks);
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  static constexpr const llvm::OptimizationLevel* kLevels[] = {
      &llvm::OptimizationLevel::O0, &llvm::OptimizationLevel::O1, &llvm::OptimizationLevel::O2,
      &llvm::OptimizationLevel::O3};
  const llvm::OptimizationLevel level = *kLevels[target.opt_level];
  llvm::ModulePassManager passes = target.opt_level == 0 ? builder.buildO0DefaultPipeline(level)
                                                         : builder.buildPerModuleDefaultPipeline(level);
  passes.run(unit.module, modules);
  finish_sums(unit.module, target, functions);
  if (interruption) std::rethrow_exception(interruption);
  llvm::FunctionPassManager few;
  few.addPass(llvm::EarlyCSEPass());
  few.addPass(llvm::InstCombinePass());
  few.addPass(llvm::SimplifyCFGPass());
  are_entries_done = true;
  for (llvm::Function& function : unit.module) {
    if (is_entry(function)) few.run(function, functions);
  }
  unit.check();
}

// Refuses features that need a library loader, which code linked in memory does not have.
void require_no_loader(const llvm::Module& part) {
  for (const llvm::GlobalVariable& variable : part.globals()) {
    const std::string name = variable.getName().str();
    if (variable.isThreadLocal())
      throw Unsupported("pragma_import_llvm: {} is a thread-local variable", name)
          .help("pass a pointer to memory of the program's own");
    if (name == "llvm.global_ctors" || name == "llvm.global_dtors")
      throw Unsupported("pragma_import_llvm: {} lists code that runs when a library is loaded", name)
          .help("call it where it is needed");
  }
  for (const llvm::GlobalIFunc& function : part.ifuncs())
    throw Unsupported("pragma_import_llvm: {} is resolved when a library is loaded (ifunc)",
                      function.getName().str())
        .help("choose with a branch");
}

// Links functions that the program imports as LLVM IR, with internal linkage.
void import_functions(Unit& unit, const std::string& text) {
  llvm::SMDiagnostic problem;
  std::unique_ptr<llvm::Module> part =
      llvm::parseIR(llvm::MemoryBufferRef(text, "pragma_import_llvm"), problem, unit.context);
  if (!part)
    throw UserError("pragma_import_llvm: line {}: {}", problem.getLineNo(), problem.getMessage().str());
  if (const std::string fault = fault_of(*part); !fault.empty())
    throw UserError("pragma_import_llvm: it is malformed: {}", fault);
  require_no_loader(*part);
  part->setTargetTriple(unit.module.getTargetTriple());
  part->setDataLayout(unit.module.getDataLayout());
  std::vector<std::string> defined;
  for (const llvm::Function& function : *part) {
    if (function.isDeclaration()) continue;
    defined.push_back(function.getName().str());
    const llvm::Function* own = unit.module.getFunction(function.getName());
    if (own && is_entry(*own))
      throw UserError("pragma_import_llvm: it defines {}, which is a function of the library",
                      defined.back());
  }
  for (llvm::GlobalVariable& variable : part->globals()) {
    const bool is_list = variable.hasAppendingLinkage();  // llvm.used
    if (!variable.isDeclaration() && !is_list) variable.setLinkage(llvm::GlobalValue::InternalLinkage);
  }
  if (llvm::Linker::linkModules(unit.module, std::move(part)))
    throw UserError("pragma_import_llvm: it cannot be linked: {}", std::exchange(unit.errors, {}));
  for (const std::string& name : defined) {
    llvm::Function* function = unit.module.getFunction(name);
    if (!function) continue;
    function->setComdat(nullptr);
    function->setLinkage(llvm::GlobalValue::InternalLinkage);
  }
}

void fill(Unit& unit, const ir::IRModule& lowered, const NativeTarget& target, bool optimised) {
  ModuleEmitter(unit.module, target).emit(lowered);
  if (const auto texts = ir::ref_as<ir::ArrayNode>(lowered->attrs.get(lower::kImportLlvm))) {
    for (const ir::ObjectRef& text : texts->items)
      import_functions(unit, text.as<ir::StringImmNode>()->value);
  }
  verify(unit.module);
  if (optimised) optimise(unit, target);
}

std::string write(Unit& unit, llvm::CodeGenFileType type) {
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  if (unit.machine->addPassesToEmitFile(passes, stream, nullptr, type))
    throw Unsupported("LLVM cannot write such a file for {}", unit.module.getTargetTriple());
  passes.run(unit.module);
  unit.check();
  return std::string(bytes.begin(), bytes.end());
}

llvm::GlobalVariable* exported(llvm::Module& module, std::string_view name, llvm::Constant* value,
                               bool is_constant) {
  auto* variable = new llvm::GlobalVariable(module, value->getType(), is_constant,
                                            llvm::GlobalValue::ExternalLinkage, value, std::string(name));
  variable->setVisibility(llvm::GlobalValue::ProtectedVisibility);
  variable->setAlignment(llvm::Align(8));
  return variable;
}

}  // namespace

std::string emit_object(const ir::IRModule& lowered, const NativeTarget& target) {
  return guarded([&] {
    Unit unit(target);
    fill(unit, lowered, target, true);
    return write(unit, llvm::CodeGenFileType::ObjectFile);
  });
}

std::string emit_assembly(const ir::IRModule& lowered, const NativeTarget& target) {
  return guarded([&] {
    Unit unit(target);
    fill(unit, lowered, target, true);
    return write(unit, llvm::CodeGenFileType::AssemblyFile);
  });
}

std::string emit_llvm_ir(const ir::IRModule& lowered, const NativeTarget& target, bool optimised) {
  return guarded([&] {
    Unit unit(target);
    fill(unit, lowered, target, optimised);
    std::string text;
    llvm::raw_string_ostream stream(text);
    unit.module.print(stream, nullptr);
    return text;
  });
}

namespace {

std::string library_object(std::span<const std::string> names, std::span<const ExportedBytes> data,
                           const NativeTarget& target) {
  Unit unit(target);
  std::string lines;
  for (const std::string& name : names) lines += name + "\n";
  llvm::LLVMContext& context = unit.context;
  auto* i32 = llvm::Type::getInt32Ty(context);
  exported(unit.module, TILEWRIGHT_ABI_VERSION_SYMBOL,
           llvm::ConstantInt::get(i32, TILEWRIGHT_KERNEL_ABI_VERSION), true);
  exported(unit.module, TILEWRIGHT_HOST_SYMBOL,
           llvm::ConstantPointerNull::get(llvm::PointerType::getUnqual(context)), false);
  exported(unit.module, TILEWRIGHT_NAMES_SYMBOL, llvm::ConstantDataArray::getString(context, lines), true);
  for (const auto& [name, size_name, bytes] : data) {
    if (bytes.empty()) continue;
    llvm::Constant* content =
        llvm::ConstantDataArray::getString(context, llvm::StringRef(bytes.data(), bytes.size()), false);
    exported(unit.module, name, content, true)->setAlignment(llvm::Align(runtime::kTensorAlignment));
    exported(unit.module, size_name, llvm::ConstantInt::get(llvm::Type::getInt64Ty(context), bytes.size()),
             true);
  }
  return write(unit, llvm::CodeGenFileType::ObjectFile);
}

std::string compiled_llvm_ir(const std::string& text, const std::string& name) {
  Unit unit(native_target(target::parse_target("llvm")));
  llvm::SMDiagnostic problem;
  std::unique_ptr<llvm::Module> parsed =
      llvm::parseIR(llvm::MemoryBufferRef(text, name), problem, unit.context);
  if (!parsed) throw UserError("{}: line {}: {}", name, problem.getLineNo(), problem.getMessage().str());
  std::string fault;
  llvm::raw_string_ostream stream(fault);
  if (llvm::verifyModule(*parsed, &stream)) throw UserError("{}: {}", name, fault);
  if (parsed->getTargetTriple() != unit.module.getTargetTriple())
    throw UserError("{} is for {}, which is not this machine", name, parsed->getTargetTriple());
  TILEWRIGHT_CHECK(!llvm::Linker::linkModules(unit.module, std::move(parsed)), "{} cannot be compiled: {}",
                   name, unit.errors);
  return write(unit, llvm::CodeGenFileType::ObjectFile);
}

std::string archive_of(std::span<const std::string> objects) {
  std::vector<llvm::NewArchiveMember> members;
  for (const std::string& object : objects) {
    auto& member = members.emplace_back();
    member.Buf = llvm::MemoryBuffer::getMemBufferCopy(object, "kernels.o");
    member.MemberName = "kernels.o";
  }
  auto archive = llvm::writeArchiveToBuffer(members, llvm::SymtabWritingMode::NormalSymtab,
                                            llvm::object::Archive::K_GNU, true, false);
  if (!archive) throw InternalError("LLVM: {}", llvm::toString(archive.takeError()));
  return (*archive)->getBuffer().str();
}

std::vector<std::string> members_of(const std::string& archive, const std::string& path) {
  const auto refuse = [&](llvm::Error error) {
    llvm::consumeError(std::move(error));
    throw UserError("cannot load {}: it is not an archive of objects, or damaged", path);
  };
  auto opened = llvm::object::Archive::create(llvm::MemoryBufferRef(archive, path));
  if (!opened) refuse(opened.takeError());
  std::vector<std::string> objects;
  llvm::Error failed = llvm::Error::success();
  for (const auto& child : (*opened)->children(failed)) {
    llvm::Expected<llvm::StringRef> content = child.getBuffer();
    if (!content) refuse(content.takeError());
    // LLVM trusts the member's size in the header
    const char* end = archive.data() + archive.size();
    const bool is_inside = content->data() >= archive.data() && content->data() <= end &&
                           content->size() <= static_cast<size_t>(end - content->data());
    if (!is_inside) refuse(llvm::Error::success());
    objects.push_back(content->str());
  }
  if (failed) refuse(std::move(failed));
  return objects;
}

}  // namespace

std::string emit_library_object(std::span<const std::string> names, std::span<const ExportedBytes> data,
                                const NativeTarget& target) {
  return guarded([&] { return library_object(names, data, target); });
}

std::string object_of_llvm_ir(const std::string& text, const std::string& name) {
  return guarded([&] { return compiled_llvm_ir(text, name); });
}

std::string emit_archive(std::span<const std::string> objects) {
  return guarded([&] { return archive_of(objects); });
}

std::vector<std::string> objects_of_archive(const std::string& archive, const std::string& path) {
  return guarded([&] { return members_of(archive, path); });
}

}  // namespace tilewright::codegen
