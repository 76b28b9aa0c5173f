// Calls of the services in TilewrightHost (kernel_abi.h), with fallbacks for other hosts.
#include "tilewright/codegen/llvm/emitter.h"
#include "tilewright/lower/lowered.h"
#include "tilewright/runtime/kernel_abi.h"
#include "tilewright/tir/builder.h"
#include "tilewright/tir/tensor_argument.h"

namespace tilewright::codegen {
namespace {

constexpr uint64_t kAnyBytes = sizeof(TilewrightAny), kPayloadOffset = 8;

std::string text_of(const PrimExpr& expr, std::string_view what) {
  const auto* text = expr.as<StringImmNode>();
  if (!text) throw UserError(expr, "{} must be a string literal", what);
  return text->value;
}

}  // namespace

// ---- parallel loops: call_parallel("name", extent, grain, captured...)

// i32 trampoline(closure, begin, end) { return body(begin, end, closure->captured...); }
llvm::Function* FunctionEmitter::parallel_trampoline(llvm::Function* body, llvm::StructType* closure) {
  auto* type = llvm::FunctionType::get(i32_, {ptr_, i64_, i64_}, false);
  auto* function = llvm::Function::Create(type, llvm::Function::InternalLinkage, body->getName() + ".range",
                                          module_.module);
  function->copyAttributesFrom(function_);
  function->setAttributes(
      llvm::AttributeList::get(context_, llvm::AttributeList::FunctionIndex,
                               llvm::AttrBuilder(context_, body->getAttributes().getFnAttrs())));
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(context_, "entry", function));
  std::vector<llvm::Value*> args = {function->getArg(1), function->getArg(2)};
  for (unsigned n = 0; n < closure->getNumElements(); ++n) {
    llvm::Value* place = builder.CreateStructGEP(closure, function->getArg(0), n);
    args.push_back(builder.CreateLoad(closure->getElementType(n), place));
  }
  builder.CreateRet(builder.CreateCall(body, args));
  return function;
}

llvm::Value* FunctionEmitter::emit_call_parallel(const CallNode* node) {
  llvm::Function* body = module_.function(text_of(node->args[0], "call_parallel: the function"));
  llvm::Value* extent = emit_offset(node->args[1]);
  llvm::Value* grain = emit_offset(node->args[2]);
  std::vector<llvm::Value*> captured = emit_args(node, 3);
  std::vector<llvm::Type*> types;
  for (llvm::Value* value : captured) types.push_back(value->getType());
  llvm::StructType* closure_type = llvm::StructType::get(context_, types);
  llvm::AllocaInst* closure = entry_alloca(closure_type, 1, 16, "closure");
  for (size_t n = 0; n < captured.size(); ++n)
    builder_.CreateStore(captured[n],
                         builder_.CreateStructGEP(closure_type, closure, static_cast<unsigned>(n)));
  llvm::Function* trampoline = parallel_trampoline(body, closure_type);

  llvm::Value* host = module_.load_host(builder_);
  llvm::BasicBlock *parallel = new_block("parallel"), *serial = new_block("serial"),
                   *done = new_block("done");
  branch_rarely(builder_.CreateIsNull(host), serial, parallel);
  builder_.SetInsertPoint(parallel);
  auto* type = llvm::FunctionType::get(i32_, {ptr_, ptr_, i64_, i64_}, false);
  llvm::Value* status =
      builder_.CreateCall(type, module_.host_member(builder_, host, HostMember::kParallelFor),
                          {trampoline, closure, extent, grain});
  builder_.CreateBr(done);
  builder_.SetInsertPoint(serial);
  llvm::Value* serial_status = builder_.CreateCall(trampoline, {closure, builder_.getInt64(0), extent});
  builder_.CreateBr(done);
  builder_.SetInsertPoint(done);
  llvm::PHINode* result = builder_.CreatePHI(i32_, 2);
  result->addIncoming(status, parallel);
  result->addIncoming(serial_status, serial);
  return_if_failed(result);
  return builder_.getInt32(0);
}

// ---- another function of the lowered module
llvm::Value* FunctionEmitter::emit_call_function(const CallNode* node, const GlobalVarNode* callee) {
  llvm::Function* function = module_.function(callee->name_hint);
  std::vector<llvm::Value*> args = emit_args(node, 0);
  TILEWRIGHT_CHECK(args.size() == function->arg_size(), "{} takes {} arguments, but is called with {}",
                   callee->name_hint, function->arg_size(), args.size());
  for (size_t n = 0; n < args.size(); ++n)
    TILEWRIGHT_CHECK(args[n]->getType() == function->getArg(static_cast<unsigned>(n))->getType(),
                     "{}: argument {} has dtype {}, which does not match the function", callee->name_hint,
                     n + 1, node->args[n]->dtype.str());
  return_if_failed(builder_.CreateCall(function, args));
  return builder_.getInt32(0);
}

// ---- the registry: call_packed("name", values...)

// tvm_stack_make_array(data, shape, strides or 0, ndim, example, offset): a DLTensor in the stack frame
llvm::Value* FunctionEmitter::emit_tensor_argument(const CallNode* node) {
  const TensorArgument tensor = tensor_argument_of(node);
  const lower::KernelAbi& abi = module_.target.abi;
  llvm::AllocaInst* described = entry_alloca(i8_, static_cast<uint64_t>(abi.tensor_bytes()), 8, "tensor");
  auto store_at = [&](int64_t offset, llvm::Value* value) {
    builder_.CreateStore(value,
                         builder_.CreateConstInBoundsGEP1_64(i8_, described, static_cast<uint64_t>(offset)));
  };
  auto number = [&](const PrimExpr& value) {
    return builder_.CreateIntCast(emit(value), i64_, value->dtype.is_int());
  };
  auto numbers = [&](const std::vector<PrimExpr>& list, const char* name) {
    llvm::AllocaInst* place = entry_alloca(i64_, std::max<uint64_t>(list.size(), 1), 8, name);
    for (size_t n = 0; n < list.size(); ++n)
      builder_.CreateStore(number(list[n]), builder_.CreateConstInBoundsGEP1_64(i64_, place, n));
    return place;
  };
  llvm::Value* bytes =
      builder_.CreateMul(number(tensor.offset), builder_.getInt64(static_cast<uint64_t>(tensor.num_bytes)));
  store_at(abi.data(), builder_.CreateGEP(i8_, emit(tensor.data), bytes));
  store_at(abi.device(), builder_.getInt32(kDLCPU));
  store_at(abi.device() + 4, builder_.getInt32(0));
  store_at(abi.ndim(), builder_.getInt32(static_cast<uint32_t>(tensor.shape.size())));
  store_at(abi.dtype(), builder_.getInt8(tensor.dtype.code));
  store_at(abi.dtype() + 1, builder_.getInt8(tensor.dtype.bits));
  store_at(abi.dtype() + 2, builder_.getInt16(tensor.dtype.lanes));
  store_at(abi.shape(), numbers(tensor.shape, "shape"));
  llvm::Value* strides =
      tensor.strides.empty()
          ? static_cast<llvm::Value*>(llvm::ConstantPointerNull::get(llvm::cast<llvm::PointerType>(ptr_)))
          : numbers(tensor.strides, "strides");
  store_at(abi.strides(), strides);
  store_at(abi.byte_offset(), builder_.getInt64(0));
  return described;
}

llvm::Value* FunctionEmitter::emit_packed_args(const CallNode* node) {
  const size_t count = node->args.size() - 1;
  llvm::AllocaInst* anys = entry_alloca(i8_, std::max<uint64_t>(count, 1) * kAnyBytes, 16, "args");
  for (size_t n = 0; n < count; ++n) {
    const PrimExpr& arg = node->args[n + 1];
    const DataType dtype = arg->dtype;
    const bool is_tensor = is_tensor_argument(arg);
    llvm::Value* value = is_tensor ? emit_tensor_argument(arg.as<CallNode>()) : emit(arg);
    int32_t code = is_tensor ? kTilewrightDLTensor : kTilewrightPointer;
    if (arg.as<StringImmNode>())
      code = kTilewrightRawStr;
    else if (dtype.is_bool())
      code = kTilewrightBool, value = builder_.CreateZExt(value, i64_);
    else if (dtype.is_integral())
      code = kTilewrightInt, value = builder_.CreateIntCast(value, i64_, dtype.is_int());
    else if (dtype.is_float())
      code = kTilewrightFloat, value = builder_.CreateFPCast(value, builder_.getDoubleTy());
    const uint64_t offset = n * kAnyBytes;
    builder_.CreateStore(builder_.getInt64(static_cast<uint64_t>(code)),
                         builder_.CreateConstInBoundsGEP1_64(i8_, anys, offset));
    llvm::Value* payload = builder_.CreateConstInBoundsGEP1_64(i8_, anys, offset + kPayloadOffset);
    // all 64 bits are read, so extend pointers of 32 bits
    if (value->getType()->isPointerTy() && !module_.target.abi.has_wide_pointers())
      value = builder_.CreatePtrToInt(value, i64_);
    builder_.CreateStore(value, payload);
  }
  return anys;
}

llvm::Value* FunctionEmitter::read_packed_result(DataType dtype, llvm::Value* result) {
  if (dtype.is_void()) return nullptr;
  llvm::Value* payload = builder_.CreateConstInBoundsGEP1_64(i8_, result, kPayloadOffset);
  if (dtype.is_handle()) return builder_.CreateLoad(ptr_, payload);
  if (!dtype.is_float()) return emit_cast(kInt64, dtype, builder_.CreateLoad(i64_, payload));
  llvm::Value* code = builder_.CreateLoad(i32_, result);
  llvm::Value* real = builder_.CreateLoad(builder_.getDoubleTy(), payload);
  llvm::Value* whole = builder_.CreateSIToFP(builder_.CreateLoad(i64_, payload), builder_.getDoubleTy());
  llvm::Value* is_real = builder_.CreateICmpEQ(code, builder_.getInt32(kTilewrightFloat));
  return emit_cast(DataType::float_(64), dtype, builder_.CreateSelect(is_real, real, whole));
}

llvm::Value* FunctionEmitter::emit_call_packed(const CallNode* node) {
  const std::string name = text_of(node->args.empty() ? PrimExpr() : node->args[0], "call_packed: the name");
  llvm::Value* args = emit_packed_args(node);
  llvm::AllocaInst* result = entry_alloca(i8_, kAnyBytes, 16, "result");
  builder_.CreateStore(builder_.getInt64(kTilewrightNone), result);
  builder_.CreateStore(builder_.getInt64(0),
                       builder_.CreateConstInBoundsGEP1_64(i8_, result, kPayloadOffset));
  llvm::Value* host = module_.load_host(builder_);
  llvm::BasicBlock *missing = new_block("missing"), *found = new_block("found");
  branch_rarely(builder_.CreateIsNull(host), missing, found);
  builder_.SetInsertPoint(missing);
  const std::string message =
      "function \"" + name + "\" is in the registry of tilewright's runtime, which did not load this code";
  emit_raise(call(DataType::void_(), "tir.raise_error", {string_imm("RuntimeError"), string_imm(message)})
                 .as<CallNode>());
  builder_.SetInsertPoint(found);
  auto* type = llvm::FunctionType::get(i32_, {ptr_, ptr_, i32_, ptr_}, false);
  llvm::Value* count = builder_.getInt32(static_cast<uint32_t>(node->args.size() - 1));
  return_if_failed(builder_.CreateCall(type, module_.host_member(builder_, host, HostMember::kCallPacked),
                                       {module_.text(name), args, count, result}));
  return read_packed_result(node->dtype, result);
}

// ---- errors: raise_error(kind, format, values...)

// Formats the message if it has values, reports it to the host or to tvm-ffi if there is either, and returns
// -1.
llvm::Value* FunctionEmitter::emit_raise(const CallNode* node) {
  const std::string format = text_of(node->args[1], "raise_error: the message");
  std::vector<llvm::Value*> args = {module_.text(text_of(node->args[0], "raise_error: the kind")),
                                    module_.text(format)};
  for (size_t n = 2; n < node->args.size(); ++n) {
    llvm::Value* value = emit(node->args[n]);
    const DataType dtype = node->args[n]->dtype;
    const bool is_text = dtype.is_handle() || node->args[n].as<StringImmNode>();
    // %d reads 32 bits; on 64-bit machines, a 64-bit argument takes a single slot as well
    const bool is_short = dtype.bits <= 32 && !module_.target.abi.has_wide_pointers();
    args.push_back(is_text ? value : builder_.CreateIntCast(value, is_short ? i32_ : i64_, dtype.is_int()));
  }
  llvm::Function* raise = args.size() > 2 ? module_.raise_format_function(lower::is_long_format(format))
                                          : module_.raise_function();
  emit_return(builder_.CreateCall(raise, args));
  return nullptr;
}

// ---- temporary memory

llvm::Value* FunctionEmitter::workspace_alloc(llvm::Value* bytes, uint64_t alignment) {
  llvm::CallInst* memory =
      builder_.CreateCall(module_.workspace_alloc_function(), {bytes, builder_.getInt64(alignment)});
  memory->addRetAttr(llvm::Attribute::NoAlias);
  memory->addRetAttr(llvm::Attribute::getWithAlignment(context_, llvm::Align(alignment)));
  llvm::BasicBlock *failed = new_block("failed"), *done = new_block("done");
  branch_rarely(builder_.CreateIsNull(memory), failed, done);
  builder_.SetInsertPoint(failed);
  emit_return(builder_.getInt32(-1));
  builder_.SetInsertPoint(done);
  return memory;
}

void FunctionEmitter::workspace_free(llvm::Value* pointer) {
  builder_.CreateCall(module_.workspace_free_function(), {pointer});
}

}  // namespace tilewright::codegen
