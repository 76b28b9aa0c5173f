// Links object files in memory and gives access to their functions, with LLVM's ORC.
#include <llvm/ExecutionEngine/Orc/ExecutionUtils.h>
#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/ExecutionEngine/Orc/MapperJITLinkMemoryManager.h>
#include <llvm/ExecutionEngine/Orc/MemoryMapper.h>
#include <llvm/ExecutionEngine/Orc/ObjectLinkingLayer.h>
#include <llvm/ExecutionEngine/Orc/Shared/ExecutorSymbolDef.h>

#include <cerrno>
#include <cstring>
#include <mutex>
#include <new>

#include "tilewright/codegen/llvm/guarded.h"
#include "tilewright/codegen/llvm/native.h"
#include "tilewright/codegen/llvm/target.h"
#include "tilewright/runtime/interrupt.h"
#include "tilewright/support/error.h"

namespace tilewright::codegen {
namespace {

// Raises std::bad_alloc if memory cannot be mapped, else InternalError.
[[noreturn]] void raise_failure(const std::string& causes, llvm::Error error) {
  const std::string text = causes + llvm::toString(std::move(error));
  if (text.find(std::strerror(ENOMEM)) != std::string::npos) throw std::bad_alloc();
  throw InternalError("JIT: {}", text);
}

template <class T>
T unwrap(llvm::Expected<T> value) {
  if (value) return std::move(*value);
  raise_failure("", value.takeError());
}

/// Resolves symbols that may be missing from the process to null; tvm-ffi's error function exists only under
/// its hosts.
class MissingIsNull final : public llvm::orc::DefinitionGenerator {
 public:
  llvm::Error tryToGenerate(llvm::orc::LookupState&, llvm::orc::LookupKind, llvm::orc::JITDylib& library,
                            llvm::orc::JITDylibLookupFlags,
                            const llvm::orc::SymbolLookupSet& wanted) override {
    llvm::orc::SymbolMap symbols;
    for (const auto& [name, flags] : wanted) {
      if (flags == llvm::orc::SymbolLookupFlags::WeaklyReferencedSymbol)
        symbols[name] = {llvm::orc::ExecutorAddr(), llvm::JITSymbolFlags::Exported};
    }
    return symbols.empty() ? llvm::Error::success()
                           : library.define(llvm::orc::absoluteSymbols(std::move(symbols)));
  }
};

// Allocates all objects in one reserved range, because they refer to each other with 32-bit offsets.
std::unique_ptr<llvm::jitlink::JITLinkMemoryManager> one_range_for(std::span<const std::string> objects) {
  constexpr size_t kPerObject = size_t{1} << 17;  // its segments begin on pages of their own
  size_t bytes = size_t{1} << 20;
  for (const std::string& object : objects) bytes += 2 * object.size() + kPerObject;
  return unwrap(
      llvm::orc::MapperJITLinkMemoryManager::CreateWithMapper<llvm::orc::InProcessMemoryMapper>(bytes));
}

/// Objects linked in memory, by guarded calls: once a guarded call failed, the linker's state is never
/// touched again.
class Linked {
 public:
  /// Raises UserError for data that is not an object file of this machine.
  Linked(std::string name, std::span<const std::string> objects) : name_(std::move(name)) {
    run([&] { create(objects); });
  }
  Linked(const Linked&) = delete;
  Linked& operator=(const Linked&) = delete;
  ~Linked() {
    try {
      run([&] { jit_.reset(); });
    } catch (const std::bad_alloc&) {  // leak the remains
    }
  }
  /// The address of `symbol`, null if there is none.  Raises UserError if it needs a C function that the
  /// process lacks.
  void* lookup(const std::string& symbol) {
    const std::lock_guard lock(mutex_);
    return run([&] { return find(symbol); });
  }

 private:
  template <class Body>
  std::invoke_result_t<Body> run(Body body) {
    if (is_broken_) throw std::bad_alloc();
    try {
      return guarded(body);
    } catch (const std::bad_alloc&) {
      is_broken_ = true;
      (void)jit_.release();
      throw;
    }
  }
  void create(std::span<const std::string> objects);
  void* find(const std::string& symbol);

  std::string name_;
  std::string missing_names_, causes_;  // ORC only passes them to its error reporter
  std::unique_ptr<llvm::orc::LLJIT> jit_;
  std::mutex mutex_;
  bool is_broken_ = false;
};

void Linked::create(std::span<const std::string> objects) {
  const HostCpu host = host_cpu();
  llvm::orc::JITTargetMachineBuilder machine((llvm::Triple(host.triple)));
  machine.setRelocationModel(llvm::Reloc::PIC_);
  jit_ = unwrap(
      llvm::orc::LLJITBuilder()
          .setJITTargetMachineBuilder(std::move(machine))
          .setObjectLinkingLayerCreator([&](llvm::orc::ExecutionSession& session, const llvm::Triple&) {
            return std::make_unique<llvm::orc::ObjectLinkingLayer>(session, one_range_for(objects));
          })
          .create());
  llvm::orc::JITDylib& library = jit_->getMainJITDylib();
  library.addGenerator(unwrap(llvm::orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(
      jit_->getDataLayout().getGlobalPrefix())));
  library.addGenerator(std::make_unique<MissingIsNull>());
  for (const std::string& object : objects) {
    runtime::check_interrupt();
    if (llvm::Error error = jit_->addObjectFile(llvm::MemoryBuffer::getMemBufferCopy(object, name_))) {
      llvm::consumeError(std::move(error));
      throw UserError("cannot load {}: it is not an object file for this machine", name_);
    }
  }
  jit_->getExecutionSession().setErrorReporter([this](llvm::Error error) {
    llvm::handleAllErrors(
        std::move(error),
        [&](const llvm::orc::SymbolsNotFound& info) {
          for (const auto& wanted : info.getSymbols())
            missing_names_ += (missing_names_.empty() ? "" : ", ") + (*wanted).str();
        },
        [&](const llvm::ErrorInfoBase& info) { causes_ += info.message() + "; "; });
  });
}

void* Linked::find(const std::string& symbol) {
  llvm::Expected<llvm::orc::ExecutorAddr> address = jit_->lookup(symbol);
  if (address) return address->toPtr<void*>();
  llvm::Error error = address.takeError();
  if (error.isA<llvm::orc::SymbolsNotFound>()) {
    llvm::consumeError(std::move(error));
    return nullptr;
  }
  if (!missing_names_.empty()) {
    llvm::consumeError(std::move(error));
    throw UserError("{}: there is no C function {} in this process", name_, std::exchange(missing_names_, ""))
        .help("load the library that has it first");
  }
  raise_failure(causes_, std::move(error));
}

}  // namespace

runtime::Module load_objects(const std::string& name, std::span<const std::string> objects) {
  const auto linked = std::make_shared<Linked>(name, objects);
  auto lookup = [linked = linked.get()](const std::string& symbol) { return linked->lookup(symbol); };
  return runtime::Module::from_symbols({name, "jit", lookup, linked});
}

}  // namespace tilewright::codegen
