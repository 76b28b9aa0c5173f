// Functions that each module contains for errors and temporary memory: they use the host's services if there
// is a host.
#include <llvm/TargetParser/Triple.h>

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
  return builder.CreateAlignedLoad(pointer, host,
                                   llvm::Align(static_cast<uint64_t>(target.abi.pointer_bytes)), "host");
}

llvm::Value* ModuleEmitter::host_member(llvm::IRBuilder<>& builder, llvm::Value* host, HostMember member) {
  const auto offset = static_cast<uint64_t>(target.abi.host_member(static_cast<int64_t>(member)));
  llvm::Value* place = builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), host, offset);
  return builder.CreateAlignedLoad(builder.getPtrTy(), place,
                                   llvm::Align(static_cast<uint64_t>(target.abi.pointer_bytes)));
}

llvm::IntegerType* ModuleEmitter::size_type() {
  return llvm::IntegerType::get(module.getContext(), static_cast<unsigned>(target.abi.pointer_bytes * 8));
}

// A number that does not fit in 32 bits saturates, so that the allocation fails instead of being too small.
llvm::Value* ModuleEmitter::as_size(llvm::IRBuilder<>& builder, llvm::Value* bytes) {
  if (size_type() == bytes->getType()) return bytes;
  constexpr uint64_t kMost = 0xfffff000;
  llvm::Value* is_too_large = builder.CreateICmpUGT(bytes, builder.getInt64(kMost));
  return builder.CreateTrunc(builder.CreateSelect(is_too_large, builder.getInt64(kMost), bytes), size_type());
}

llvm::Function* ModuleEmitter::helper(const char* name, llvm::Type* result, std::vector<llvm::Type*> params,
                                      bool is_variadic) {
  auto* type = llvm::FunctionType::get(result, params, is_variadic);
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
  llvm::Function* function = helper(kName, llvm::Type::getInt32Ty(context), {pointer, pointer});
  function->addFnAttr(llvm::Attribute::Cold);
  llvm::Value* args[] = {function->getArg(0), function->getArg(1)};
  auto* type = llvm::FunctionType::get(none, {pointer, pointer}, false);
  with_or_without_host(
      *this, function,
      [&](llvm::IRBuilder<>& builder, llvm::Value* host) {
        builder.CreateCall(type, host_member(builder, host, HostMember::kSetError), args);
        builder.CreateRet(builder.getInt32(-1));
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
        builder.CreateRet(builder.getInt32(-1));
        builder.SetInsertPoint(missing);
        builder.CreateRet(builder.getInt32(-1));
      });
  return function;
}

namespace {

// A va_list in the form that v*printf takes: its address, or the pointer that it is.
llvm::Value* list_argument(llvm::IRBuilder<>& builder, llvm::Value* list, const llvm::Triple& triple) {
  const bool is_record = (triple.getArch() == llvm::Triple::x86_64 && !triple.isOSWindows()) ||
                         (triple.isAArch64() && !triple.isOSWindows() && !triple.isOSDarwin());
  return is_record ? list : builder.CreateLoad(builder.getPtrTy(), list);
}

}  // namespace

llvm::Function* ModuleEmitter::raise_format_function(bool is_long) {
  constexpr uint64_t kListBytes = 32;
  const uint64_t message_bytes = is_long ? 4096 : 512;
  const char* name = is_long ? "tilewright_raise_long_format" : "tilewright_raise_format";
  if (llvm::Function* known = module.getFunction(name)) return known;
  llvm::LLVMContext& context = module.getContext();
  llvm::Type *pointer = llvm::PointerType::getUnqual(context), *i32 = llvm::Type::getInt32Ty(context),
             *size = size_type();
  llvm::Function* raise = raise_function();
  llvm::Function* function = helper(name, i32, {pointer, pointer}, true);
  function->addFnAttr(llvm::Attribute::Cold);
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(context, "entry", function));
  auto bytes = [&](uint64_t count) {
    llvm::AllocaInst* space = builder.CreateAlloca(llvm::ArrayType::get(builder.getInt8Ty(), count));
    space->setAlignment(llvm::Align(16));
    return space;
  };
  llvm::Value *message = bytes(message_bytes), *list = bytes(kListBytes);
  builder.CreateIntrinsic(llvm::Intrinsic::vastart, {pointer}, {list});
  builder.CreateCall(external("vsnprintf", i32, {pointer, size, pointer, pointer}),
                     {message, llvm::ConstantInt::get(size, message_bytes), function->getArg(1),
                      list_argument(builder, list, llvm::Triple(module.getTargetTriple()))});
  builder.CreateIntrinsic(llvm::Intrinsic::vaend, {pointer}, {list});
  builder.CreateRet(builder.CreateCall(raise, {function->getArg(0), message}));
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
        // aligned_alloc needs a multiple of the alignment
        llvm::Value* mask = builder.CreateSub(alignment, builder.getInt64(1));
        llvm::Value* rounded = builder.CreateAnd(builder.CreateAdd(bytes, mask), builder.CreateNot(mask));
        llvm::Value* memory =
            builder.CreateCall(external("aligned_alloc", pointer, {size_type(), size_type()}),
                               {as_size(builder, alignment), as_size(builder, rounded)});
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

// Searches a table of {i32 bits, text} up to its last row, "unknown".
llvm::Function* ModuleEmitter::dtype_text_function() {
  constexpr const char* kName = "tilewright_dtype_text";
  if (llvm::Function* known = module.getFunction(kName)) return known;
  constexpr size_t kTextBytes = 16;
  llvm::LLVMContext& context = module.getContext();
  llvm::IntegerType *i32 = llvm::Type::getInt32Ty(context), *i64 = llvm::Type::getInt64Ty(context);
  std::vector<DtypeText> texts = dtype_texts();
  texts.push_back({0, "unknown"});
  std::vector<llvm::Constant*> rows;
  for (const DtypeText& dtype : texts) {
    TILEWRIGHT_CHECK(dtype.text.size() < kTextBytes, "the name of {} is too long", dtype.text);
    std::string text = dtype.text;
    text.resize(kTextBytes);
    rows.push_back(llvm::ConstantStruct::getAnon({llvm::ConstantInt::get(i32, dtype.packed),
                                                  llvm::ConstantDataArray::getString(context, text, false)}));
  }
  auto* type = llvm::ArrayType::get(rows[0]->getType(), rows.size());
  auto* table = new llvm::GlobalVariable(module, type, true, llvm::GlobalValue::PrivateLinkage,
                                         llvm::ConstantArray::get(type, rows), "dtypes");
  llvm::Function* function = helper(kName, llvm::PointerType::getUnqual(context), {i32});
  function->addFnAttr(llvm::Attribute::Cold);
  auto* entry = llvm::BasicBlock::Create(context, "entry", function);
  auto *search = llvm::BasicBlock::Create(context, "search", function),
       *found = llvm::BasicBlock::Create(context, "found", function);
  llvm::IRBuilder<> builder(entry);
  builder.CreateBr(search);
  builder.SetInsertPoint(search);
  llvm::PHINode* row = builder.CreatePHI(i64, 2);
  row->addIncoming(builder.getInt64(0), entry);
  row->addIncoming(builder.CreateAdd(row, builder.getInt64(1)), search);
  const auto member = [&](unsigned n) {
    return builder.CreateInBoundsGEP(type, table, {builder.getInt64(0), row, builder.getInt32(n)});
  };
  llvm::Value* is_found =
      builder.CreateOr(builder.CreateICmpEQ(builder.CreateLoad(i32, member(0)), function->getArg(0)),
                       builder.CreateICmpEQ(row, builder.getInt64(rows.size() - 1)));
  builder.CreateCondBr(is_found, found, search);
  builder.SetInsertPoint(found);
  builder.CreateRet(member(1));
  return function;
}

}  // namespace tilewright::codegen
