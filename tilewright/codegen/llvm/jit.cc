// Object files -> functions of this process, linked in memory by LLVM's ORC.
#include <llvm/ExecutionEngine/Orc/ExecutionUtils.h>
#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/ExecutionEngine/Orc/MapperJITLinkMemoryManager.h>
#include <llvm/ExecutionEngine/Orc/MemoryMapper.h>
#include <llvm/ExecutionEngine/Orc/ObjectLinkingLayer.h>
#include <llvm/ExecutionEngine/Orc/Shared/ExecutorSymbolDef.h>

#include "tilewright/codegen/llvm/native.h"
#include "tilewright/codegen/llvm/target.h"
#include "tilewright/support/error.h"

namespace tilewright::codegen {
namespace {

template <class T>
T unwrap(llvm::Expected<T> value, std::string_view what) {
  if (value) return std::move(*value);
  throw InternalError("{}: {}", what, llvm::toString(value.takeError()));
}

/// Symbols that may be missing from the process; tvm-ffi's error function is there only under its hosts.
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

// The objects refer to each other with 32 bits: all their memory is in one reserved range.
std::unique_ptr<llvm::jitlink::JITLinkMemoryManager> one_range_for(std::span<const std::string> objects) {
  constexpr size_t kPerObject = size_t{1} << 17;  // its segments begin on pages of their own
  size_t bytes = size_t{1} << 20;
  for (const std::string& object : objects) bytes += 2 * object.size() + kPerObject;
  return unwrap(
      llvm::orc::MapperJITLinkMemoryManager::CreateWithMapper<llvm::orc::InProcessMemoryMapper>(bytes),
      "JIT");
}

}  // namespace

runtime::Module load_objects(const std::string& name, std::span<const std::string> objects) {
  const HostCpu host = host_cpu();
  initialize_targets();
  llvm::orc::JITTargetMachineBuilder machine((llvm::Triple(host.triple)));
  machine.setRelocationModel(llvm::Reloc::PIC_);
  auto jit = std::shared_ptr<llvm::orc::LLJIT>(unwrap(
      llvm::orc::LLJITBuilder()
          .setJITTargetMachineBuilder(std::move(machine))
          .setObjectLinkingLayerCreator([&](llvm::orc::ExecutionSession& session, const llvm::Triple&) {
            return std::make_unique<llvm::orc::ObjectLinkingLayer>(session, one_range_for(objects));
          })
          .create(),
      "JIT"));
  llvm::orc::JITDylib& library = jit->getMainJITDylib();
  library.addGenerator(unwrap(
      llvm::orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(jit->getDataLayout().getGlobalPrefix()),
      "JIT"));
  library.addGenerator(std::make_unique<MissingIsNull>());
  for (const std::string& object : objects) {
    if (llvm::Error error = jit->addObjectFile(llvm::MemoryBuffer::getMemBufferCopy(object, name))) {
      llvm::consumeError(std::move(error));
      throw UserError("cannot load {}: it is no object file of this machine", name);
    }
  }
  // ORC gives the name of a missing function, and the cause of other failures, only to its reporter
  auto missing_names = std::make_shared<std::string>(), causes = std::make_shared<std::string>();
  jit->getExecutionSession().setErrorReporter([missing_names, causes](llvm::Error error) {
    llvm::handleAllErrors(
        std::move(error),
        [&](const llvm::orc::SymbolsNotFound& info) {
          for (const auto& wanted : info.getSymbols())
            *missing_names += (missing_names->empty() ? "" : ", ") + (*wanted).str();
        },
        [&](const llvm::ErrorInfoBase& info) { *causes += info.message() + "; "; });
  });
  auto lookup = [jit = jit.get(), name, missing_names, causes](const std::string& symbol) -> void* {
    llvm::Expected<llvm::orc::ExecutorAddr> address = jit->lookup(symbol);
    if (address) return address->toPtr<void*>();
    llvm::Error error = address.takeError();
    if (error.isA<llvm::orc::SymbolsNotFound>()) {
      llvm::consumeError(std::move(error));
      return nullptr;
    }
    if (!missing_names->empty()) {
      llvm::consumeError(std::move(error));
      throw UserError("{}: there is no C function {} in this process", name,
                      std::exchange(*missing_names, ""))
          .help("load the library that has it first");
    }
    throw InternalError("JIT: {}{}", *causes, llvm::toString(std::move(error)));
  };
  return runtime::Module::from_symbols({name, "jit", lookup, jit});
}

}  // namespace tilewright::codegen
