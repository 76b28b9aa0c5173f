// Functions that each module carries for errors and temporary memory: they use the host's services, or do
// without.
#include "tilewright/codegen/llvm/emitter.h"
#include "tilewright/codegen/source/dtype_texts.h"
#include "tilewright/runtime/kernel_abi.h"

namespace tilewright::codegen {

llvm::Value* ModuleEmitter::load_host(llvm::IRBuilder<>& builder) {
  llvm::PointerType* pointer = builder.getPtrTy();
  llvm::GlobalVariable* host = module.getGlobalVariable(TILEWRIGHT_HOST_SYMBOL);
  if (!host) {
    host = new llvm::GlobalVariable(module, pointer, false, llvm::GlobalValue::ExternalLinkage, nullptr,
                                    TILEWRIGHT_HOST_SYMBOL);
    host->setVisibility(llvm::GlobalValue::ProtectedVisibility);
    host->setDSOLocal(true);
  }
  return builder.CreateAlignedLoad(pointer, host, llvm::Align(8), "host");
}

llvm::Value* ModuleEmitter::host_member(llvm::IRBuilder<>& builder, llvm::Value* host, HostMember member) {
  constexpr uint64_t kHeaderBytes = 8;
  const uint64_t offset = kHeaderBytes + sizeof(void*) * static_cast<uint64_t>(member);
  llvm::Value* place = builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), host, offset);
  return builder.CreateAlignedLoad(builder.getPtrTy(), place, llvm::Align(8));
}

llvm::Function* ModuleEmitter::helper(const char* name, llvm::Type* result, std::vector<llvm::Type*> params) {
  auto* type = llvm::FunctionType::get(result, params, false);
  auto* function = llvm::Function::Create(type, llvm::Function::InternalLinkage, name, module);
  set_attributes(function, nullptr);
  function->addFnAttr(llvm::Attribute::NoInline);
  return function;
}

namespace {

// if (host) { with_host(host) } else { without() }; both end in a return
template <class With, class Without>
void with_or_without_host(ModuleEmitter& emitter, llvm::Function* function, With with_host,
                          Without without_host) {
  llvm::LLVMContext& context = function->getContext();
  llvm::BasicBlock* entry = llvm::BasicBlock::Create(context, "entry", function);
  llvm::BasicBlock* with = llvm::BasicBlock::Create(context, "with_host", function);
  llvm::BasicBlock* without = llvm::BasicBlock::Create(context, "without_host", function);
  llvm::IRBuilder<> builder(entry);
  llvm::Value* host = emitter.load_host(builder);
  builder.CreateCondBr(builder.CreateIsNull(host), without, with);
  builder.SetInsertPoint(with);
  with_host(builder, host);
  builder.SetInsertPoint(without);
  without_host(builder);
}

}  // namespace

llvm::Function* ModuleEmitter::raise_function() {
  constexpr const char* kName = "tilewright_raise";
  if (llvm::Function* known = module.getFunction(kName)) return known;
  llvm::LLVMContext& context = module.getContext();
  llvm::Type *none = llvm::Type::getVoidTy(context), *pointer = llvm::PointerType::getUnqual(context);
  llvm::Function* function = helper(kName, none, {pointer, pointer});
  function->addFnAttr(llvm::Attribute::Cold);
  llvm::Value* args[] = {function->getArg(0), function->getArg(1)};
  auto* type = llvm::FunctionType::get(none, {pointer, pointer}, false);
  with_or_without_host(
      *this, function,
      [&](llvm::IRBuilder<>& builder, llvm::Value* host) {
        builder.CreateCall(type, host_member(builder, host, HostMember::kSetError), args);
        builder.CreateRetVoid();
      },
      [&](llvm::IRBuilder<>& builder) {
        auto* ffi = llvm::cast<llvm::Function>(
            external("TVMFFIErrorSetRaisedFromCStr", none, {pointer, pointer}).getCallee());
        ffi->setLinkage(llvm::Function::ExternalWeakLinkage);
        auto* found = llvm::BasicBlock::Create(context, "found", function);
        auto* missing = llvm::BasicBlock::Create(context, "missing", function);
        builder.CreateCondBr(builder.CreateIsNull(ffi), missing, found);
        builder.SetInsertPoint(found);
        builder.CreateCall(ffi, args);
        builder.CreateRetVoid();
        builder.SetInsertPoint(missing);
        builder.CreateRetVoid();
      });
  return function;
}

llvm::Function* ModuleEmitter::workspace_alloc_function() {
  constexpr const char* kName = "tilewright_workspace_alloc";
  if (llvm::Function* known = module.getFunction(kName)) return known;
  llvm::LLVMContext& context = module.getContext();
  llvm::Type *pointer = llvm::PointerType::getUnqual(context), *i64 = llvm::Type::getInt64Ty(context);
  llvm::Function* function = helper(kName, pointer, {i64, i64});
  llvm::Value *bytes = function->getArg(0), *alignment = function->getArg(1);
  auto* type = llvm::FunctionType::get(pointer, {i64, i64}, false);
  with_or_without_host(
      *this, function,
      [&](llvm::IRBuilder<>& builder, llvm::Value* host) {
        builder.CreateRet(builder.CreateCall(type, host_member(builder, host, HostMember::kWorkspaceAlloc),
                                             {bytes, alignment}));
      },
      [&](llvm::IRBuilder<>& builder) {
        // aligned_alloc wants a multiple of the alignment
        llvm::Value* mask = builder.CreateSub(alignment, builder.getInt64(1));
        llvm::Value* rounded = builder.CreateAnd(builder.CreateAdd(bytes, mask), builder.CreateNot(mask));
        llvm::Value* memory =
            builder.CreateCall(external("aligned_alloc", pointer, {i64, i64}), {alignment, rounded});
        auto* failed = llvm::BasicBlock::Create(context, "failed", function);
        auto* done = llvm::BasicBlock::Create(context, "done", function);
        builder.CreateCondBr(builder.CreateIsNull(memory), failed, done);
        builder.SetInsertPoint(failed);
        builder.CreateCall(raise_function(), {text("MemoryError"),
                                              text("temporary memory of a kernel could not be allocated")});
        builder.CreateBr(done);
        builder.SetInsertPoint(done);
        builder.CreateRet(memory);
      });
  return function;
}

llvm::Function* ModuleEmitter::workspace_free_function() {
  constexpr const char* kName = "tilewright_workspace_free";
  if (llvm::Function* known = module.getFunction(kName)) return known;
  llvm::LLVMContext& context = module.getContext();
  llvm::Type *none = llvm::Type::getVoidTy(context), *pointer = llvm::PointerType::getUnqual(context);
  llvm::Function* function = helper(kName, none, {pointer});
  llvm::Value* memory = function->getArg(0);
  auto* type = llvm::FunctionType::get(none, {pointer}, false);
  with_or_without_host(
      *this, function,
      [&](llvm::IRBuilder<>& builder, llvm::Value* host) {
        builder.CreateCall(type, host_member(builder, host, HostMember::kWorkspaceFree), {memory});
        builder.CreateRetVoid();
      },
      [&](llvm::IRBuilder<>& builder) {
        builder.CreateCall(external("free", none, {pointer}), {memory});
        builder.CreateRetVoid();
      });
  return function;
}

llvm::Function* ModuleEmitter::dtype_text_function() {
  constexpr const char* kName = "tilewright_dtype_text";
  if (llvm::Function* known = module.getFunction(kName)) return known;
  llvm::LLVMContext& context = module.getContext();
  llvm::IntegerType* i32 = llvm::Type::getInt32Ty(context);
  llvm::Function* function = helper(kName, llvm::PointerType::getUnqual(context), {i32});
  function->addFnAttr(llvm::Attribute::Cold);
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(context, "entry", function));
  auto* unknown = llvm::BasicBlock::Create(context, "unknown", function);
  llvm::SwitchInst* choice = builder.CreateSwitch(function->getArg(0), unknown);
  for (const DtypeText& dtype : dtype_texts()) {
    auto* block = llvm::BasicBlock::Create(context, dtype.text, function);
    choice->addCase(llvm::ConstantInt::get(i32, dtype.packed), block);
    builder.SetInsertPoint(block);
    builder.CreateRet(text(dtype.text));
  }
  builder.SetInsertPoint(unknown);
  builder.CreateRet(text("unknown"));
  return function;
}

}  // namespace tilewright::codegen
