// Translates calls of tir/op.h operators to LLVM IR.
#include <llvm/IR/Intrinsics.h>
#include <llvm/TargetParser/Triple.h>

#include "tilewright/codegen/llvm/emitter.h"
#include "tilewright/ir/walk.h"
#include "tilewright/support/one_of.h"
#include "tilewright/support/small_float.h"
#include "tilewright/tir/builder.h"
#include "tilewright/tir/op.h"

namespace tilewright::codegen {
namespace {

// math operators that are one LLVM intrinsic, possibly followed by one instruction
struct MathRow {
  std::string_view name;
  llvm::Intrinsic::ID id;
};
constexpr MathRow kMath[] = {
    {"sqrt", llvm::Intrinsic::sqrt},       {"floor", llvm::Intrinsic::floor},
    {"ceil", llvm::Intrinsic::ceil},       {"trunc", llvm::Intrinsic::trunc},
    {"round", llvm::Intrinsic::roundeven}, {"nearbyint", llvm::Intrinsic::roundeven},
    {"fabs", llvm::Intrinsic::fabs},       {"copysign", llvm::Intrinsic::copysign},
    {"fma", llvm::Intrinsic::fma},         {"popcount", llvm::Intrinsic::ctpop},
};

// C library functions, called lane by lane; the float32 form has the suffix `f`
constexpr std::string_view kLibm[] = {"exp",   "exp2", "exp10", "log",      "log2",  "log10", "log1p",
                                      "sin",   "cos",  "tan",   "asin",     "acos",  "atan",  "sinh",
                                      "cosh",  "tanh", "asinh", "acosh",    "atanh", "erf",   "pow",
                                      "atan2", "fmod", "hypot", "nextafter"};

}  // namespace

std::vector<llvm::Value*> FunctionEmitter::emit_args(const CallNode* node, size_t begin) {
  std::vector<llvm::Value*> args;
  for (size_t n = begin; n < node->args.size(); ++n) args.push_back(emit(node->args[n]));
  return args;
}

llvm::Value* FunctionEmitter::emit_call(const CallNode* node) {
  if (const auto* callee = node->op.as<GlobalVarNode>()) return emit_call_function(node, callee);
  const auto* op = node->op.as<OpNode>();
  TILEWRIGHT_CHECK(op, "a call of something that is neither an operator nor a function");
  std::string_view name = op->name;
  if (name.starts_with("tir.")) name.remove_prefix(4);
  // the result of a call is data, also inside an index
  const bool outer = std::exchange(in_index_, false);
  llvm::Value* value = emit_builtin(node, name);
  in_index_ = outer;
  return value;
}

llvm::Value* FunctionEmitter::emit_builtin(const CallNode* node, std::string_view name) {
  for (const MathRow& row : kMath) {
    if (row.name == name) return emit_math(node, name);
  }
  if (llvm::Value* value = emit_polynomial(node, name)) return value;
  if (llvm::Value* value = emit_classify(node, name)) return value;
  if (name == "pow" && node->dtype.is_integral()) return emit_integer_power(node);
  if (is_one_of(name, kLibm)) return emit_libm(node, name);
  if (name == "if_then_else") return emit_if_then_else(node);
  if (name == "likely" || name == "tvm_thread_invariant") return emit(node->args[0]);
  if (name == "reinterpret") {
    llvm::Value* value = emit(node->args[0]);
    if (node->dtype.is_handle() || node->args[0]->dtype.is_handle())
      return emit_cast(node->args[0]->dtype, node->dtype, value);
    const DataType from = node->args[0]->dtype, to = node->dtype;
    if (register_bits(from) * from.lanes != register_bits(to) * to.lanes)
      throw UserError(node, "reinterpret: {} has {} bits, {} has {}", from.str(), from.bits * from.lanes,
                      to.str(), to.bits * to.lanes);
    return builder_.CreateBitCast(value, llvm_type(context_, to));
  }
  if (name == "call_extern" || name == "call_pure_extern") return emit_extern(node);
  if (name == "call_llvm_intrin" || name == "call_llvm_pure_intrin") return emit_intrinsic(node);
  if (name == "call_packed" || name == "call_cpacked") return emit_call_packed(node);
  if (name == "call_parallel") return emit_call_parallel(node);
  if (name == "raise_error") return emit_raise(node);
  if (name == "dtype_text") return builder_.CreateCall(module_.dtype_text_function(), {emit(node->args[0])});
  if (name == "peek") return emit_peek(node);
  if (name == "poke") return emit_poke(node);
  if (name == "prefetch") return emit_prefetch(node);
  if (name == "break_loop" || name == "continue_loop") return emit_loop_control(name);
  if (name == "vectorlow" || name == "vectorhigh" || name == "vectorcombine")
    return emit_vector_halves(node, name);
  if (name == "dot_add") return emit_dot_add(node);
  if (name == "undef") return llvm::UndefValue::get(llvm_type(context_, node->dtype));
  if (name == "isnullptr") return builder_.CreateIsNull(emit(node->args[0]));
  if (name == "assume") return builder_.CreateAssumption(emit(node->args[0])), nullptr;
  if (name == "address_of") {
    const auto* element = node->args[0].as<BufferLoadNode>();
    if (!element) throw UserError(node, "address_of takes a buffer element, e.g. A[0]");
    TILEWRIGHT_CHECK(element->indices.size() == 1, "buffer {} was not flattened before code generation",
                     element->buffer->name);
    return element_pointer(element->buffer, element->indices[0]);
  }
  if (name == "ret") {
    emit_return(node->args.empty() ? builder_.getInt32(0) : emit(node->args[0]));
    return nullptr;
  }
  if (name == "large_uint_imm") {
    int64_t low = 0, high = 0;
    if (!as_const_int(node->args[0], &low) || !as_const_int(node->args[1], &high))
      throw UserError(node, "large_uint_imm takes two literals");
    return builder_.getInt64((static_cast<uint64_t>(high) << 32) + static_cast<uint64_t>(low));
  }
  if (llvm::Value* value = emit_integer_op(node, name)) return value;
  throw Unsupported(node, "operator {} is not supported on CPUs", name);
}

llvm::Value* FunctionEmitter::emit_math(const CallNode* node, std::string_view name) {
  for (const MathRow& row : kMath) {
    if (row.name != name) continue;
    return builder_.CreateIntrinsic(llvm_type(context_, node->dtype), row.id, emit_args(node, 0));
  }
  return nullptr;
}

// Operators expressed by other operations: sigmoid, rsqrt and the tests of floats.
llvm::Value* FunctionEmitter::emit_classify(const CallNode* node, std::string_view name) {
  static constexpr std::string_view kNames[] = {"sigmoid", "rsqrt", "isnan", "isinf", "isfinite"};
  if (!is_one_of(name, kNames)) return nullptr;
  const PrimExpr& arg = node->args[0];
  if (name == "sigmoid") {
    const PrimExpr one = make_const(arg->dtype, 1);
    return emit(div(one, one + tir::call(arg->dtype, "exp", {make_const(arg->dtype, 0) - arg})));
  }
  llvm::Value* x = emit(arg);
  llvm::Type* type = x->getType();
  if (name == "rsqrt")
    return builder_.CreateFDiv(llvm::ConstantFP::get(type, 1),
                               builder_.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, x));
  if (!arg->dtype.is_float())
    return llvm::ConstantInt::get(llvm_type(context_, node->dtype), name == "isfinite");
  if (name == "isnan") return builder_.CreateFCmpUNO(x, x);
  llvm::Value* magnitude = builder_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x);
  llvm::Value* infinity = llvm::ConstantFP::getInfinity(type);
  return name == "isinf" ? builder_.CreateFCmpOEQ(magnitude, infinity)
                         : builder_.CreateFCmpONE(magnitude, infinity);
}

// Calls the C library function f(x) lane by lane.
llvm::Value* FunctionEmitter::emit_libm(const CallNode* node, std::string_view name) {
  const DataType element = node->dtype.element();
  if (element != kFloat32 && element != DataType::float_(64))
    throw Unsupported(node, "{} of dtype {} is not supported on CPUs", name, node->dtype.str())
        .help("cast to float32 first");
  return emit_libm(node->dtype, name, emit_args(node, 0));
}

llvm::Value* FunctionEmitter::emit_libm(DataType dtype, std::string_view name,
                                        const std::vector<llvm::Value*>& args) {
  const DataType element = dtype.element();
  llvm::Type* type = llvm_type(context_, element);
  const std::string symbol = std::string(name) + (element == kFloat32 ? "f" : "");
  llvm::FunctionCallee function = module_.external(symbol, type, std::vector<llvm::Type*>(args.size(), type));
  auto* callee = llvm::cast<llvm::Function>(function.getCallee());
  callee->setDoesNotAccessMemory();
  callee->setWillReturn();
  if (dtype.is_scalar()) return builder_.CreateCall(function, args);
  llvm::Value* result = llvm::PoisonValue::get(llvm_type(context_, dtype));
  for (int lane = 0; lane < dtype.lanes; ++lane) {
    std::vector<llvm::Value*> scalars;
    for (llvm::Value* arg : args) scalars.push_back(builder_.CreateExtractElement(arg, lane));
    result = builder_.CreateInsertElement(result, builder_.CreateCall(function, scalars), lane);
  }
  return result;
}

// In LLVM, shifts by the width or more are undefined; here x << n is then 0, and x >> n is all sign bits.
llvm::Value* FunctionEmitter::emit_integer_op(const CallNode* node, std::string_view name) {
  static constexpr std::string_view kNames[] = {"bitwise_and", "bitwise_or",  "bitwise_xor", "bitwise_not",
                                                "shift_left",  "shift_right", "abs",         "clz"};
  if (!is_one_of(name, kNames)) return nullptr;
  const DataType dtype = node->args[0]->dtype;
  llvm::Value* a = emit(node->args[0]);
  if (name == "bitwise_not") return builder_.CreateNot(a);
  if (name == "abs") {
    if (dtype.is_float()) return builder_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, a);
    return dtype.is_int() ? builder_.CreateBinaryIntrinsic(llvm::Intrinsic::abs, a, builder_.getFalse()) : a;
  }
  if (name == "clz") {
    llvm::Value* zeros = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::ctlz, a, builder_.getFalse());
    return builder_.CreateIntCast(zeros, llvm_type(context_, node->dtype), false);
  }
  llvm::Value* b = emit(node->args[1]);
  if (name == "bitwise_and") return builder_.CreateAnd(a, b);
  if (name == "bitwise_or") return builder_.CreateOr(a, b);
  if (name == "bitwise_xor") return builder_.CreateXor(a, b);
  llvm::Type* type = a->getType();
  const bool is_left = name == "shift_left";
  int64_t count;
  const bool fits = as_const_int(node->args[1], &count) && count >= 0 && count < dtype.bits;
  llvm::Value* last = llvm::ConstantInt::get(type, static_cast<uint64_t>(dtype.bits - 1));
  llvm::Value* in_range = fits ? nullptr : builder_.CreateICmpULE(b, last);
  if (!is_left && dtype.is_int())
    return builder_.CreateAShr(a, fits ? b : builder_.CreateSelect(in_range, b, last));
  llvm::Value* amount = fits ? b : builder_.CreateSelect(in_range, b, last);
  llvm::Value* shifted = is_left ? builder_.CreateShl(a, amount) : builder_.CreateLShr(a, amount);
  return fits ? shifted : builder_.CreateSelect(in_range, shifted, llvm::Constant::getNullValue(type));
}

llvm::Value* FunctionEmitter::emit_if_then_else(const CallNode* node) {
  llvm::Value* condition = emit(node->args[0]);
  if (!node->args[0]->dtype.is_scalar()) {
    llvm::Value* true_value = emit(node->args[1]);
    return builder_.CreateSelect(condition, true_value, emit(node->args[2]));
  }
  return emit_branches(condition, [&] { return emit(node->args[1]); }, [&] { return emit(node->args[2]); });
}

llvm::Value* FunctionEmitter::emit_branches(llvm::Value* condition,
                                            const std::function<llvm::Value*()>& if_true,
                                            const std::function<llvm::Value*()>& if_false) {
  llvm::BasicBlock *then_block = new_block("then"), *else_block = new_block("else"),
                   *done = new_block("done");
  builder_.CreateCondBr(condition, then_block, else_block);
  builder_.SetInsertPoint(then_block);
  llvm::Value* true_value = if_true();
  then_block = builder_.GetInsertBlock();
  builder_.CreateBr(done);
  builder_.SetInsertPoint(else_block);
  llvm::Value* false_value = if_false();
  else_block = builder_.GetInsertBlock();
  builder_.CreateBr(done);
  builder_.SetInsertPoint(done);
  llvm::PHINode* result = builder_.CreatePHI(true_value->getType(), 2);
  result->addIncoming(true_value, then_block);
  result->addIncoming(false_value, else_block);
  return result;
}

llvm::Value* FunctionEmitter::emit_extern(const CallNode* node) {
  const auto* name = node->args.empty() ? nullptr : node->args[0].as<StringImmNode>();
  if (!name) throw UserError(node, "call_extern: the function must be a string literal");
  const std::vector<llvm::Value*> args = emit_args(node, 1);
  std::vector<llvm::Type*> types;
  for (llvm::Value* arg : args) types.push_back(arg->getType());
  llvm::Type* result = llvm_type(context_, node->dtype);
  if (llvm::Function* known = module_.module.getFunction(name->value)) {
    const auto* type = known->getFunctionType();
    if (type->getReturnType() != result || type->params() != llvm::ArrayRef<llvm::Type*>(types))
      throw UserError(node, "call_extern: {} is called with other types than before", name->value);
  }
  return builder_.CreateCall(module_.external(name->value, result, types), args);
}

// call_llvm_intrin("llvm.name" or its number, [number of arguments that select the overload,] args...)
llvm::Value* FunctionEmitter::emit_intrinsic(const CallNode* node) {
  const auto* name = node->args.empty() ? nullptr : node->args[0].as<StringImmNode>();
  if (!name)
    throw Unsupported(node, "call_llvm_intrin: the intrinsic must be given by name, e.g. \"llvm.fma\"");
  const llvm::Intrinsic::ID id = llvm::Function::lookupIntrinsicID(name->value);
  if (id == llvm::Intrinsic::not_intrinsic)
    throw UserError(node, "call_llvm_intrin: there is no intrinsic \"{}\"", name->value);
  // LLVM cannot compile intrinsics of another architecture, and ends the process
  const llvm::Triple triple(module_.module.getTargetTriple());
  const std::string ours = llvm::Triple::getArchTypePrefix(triple.getArch()).str();
  if (llvm::Function::isTargetIntrinsic(id) &&
      !std::string_view(name->value).starts_with("llvm." + ours + "."))
    throw UserError(node, "call_llvm_intrin: {} is not an intrinsic of {}", name->value,
                    triple.getArchName().str())
        .help("the intrinsics of this architecture are called llvm.{}.*", ours);
  const std::vector<llvm::Value*> args = emit_args(node, 1);
  std::vector<llvm::Type*> types;
  for (llvm::Value* arg : args) types.push_back(arg->getType());
  auto* wanted = llvm::FunctionType::get(llvm_type(context_, node->dtype), types, false);
  llvm::SmallVector<llvm::Intrinsic::IITDescriptor, 8> table;
  llvm::Intrinsic::getIntrinsicInfoTableEntries(id, table);
  llvm::ArrayRef<llvm::Intrinsic::IITDescriptor> rest(table);
  llvm::SmallVector<llvm::Type*, 4> overloads;
  if (llvm::Intrinsic::matchIntrinsicSignature(wanted, rest, overloads) !=
          llvm::Intrinsic::MatchIntrinsicTypes_Match ||
      !rest.empty())
    throw UserError(node, "call_llvm_intrin: {} does not take these arguments or does not return {}",
                    name->value, node->dtype.str());
  llvm::Function* intrinsic = llvm::Intrinsic::getDeclaration(&module_.module, id, overloads);
  for (unsigned n = 0; n < args.size(); ++n) {
    if (intrinsic->hasParamAttribute(n, llvm::Attribute::ImmArg) && !llvm::isa<llvm::Constant>(args[n]))
      throw UserError(node, "call_llvm_intrin: argument {} of {} must be a constant", n + 1, name->value);
  }
  return builder_.CreateCall(intrinsic, args);
}

llvm::Value* FunctionEmitter::emit_vector_halves(const CallNode* node, std::string_view name) {
  llvm::Value* a = emit(node->args[0]);
  std::vector<int> lanes;
  const int count = node->dtype.lanes, begin = name == "vectorhigh" ? count : 0;
  for (int lane = 0; lane < count; ++lane) lanes.push_back(begin + lane);
  if (name == "vectorcombine") return builder_.CreateShuffleVector(a, emit(node->args[1]), lanes);
  return builder_.CreateShuffleVector(a, lanes);
}

// The alignment of a struct member.
llvm::Align FunctionEmitter::member_align(DataType dtype) const {
  const lower::KernelAbi& abi = module_.target.abi;
  const int64_t bytes = dtype.num_bytes();
  return llvm::Align(static_cast<uint64_t>(dtype.is_handle() ? abi.pointer_bytes
                                           : bytes == 8      ? abi.int64_alignment
                                                             : bytes));
}

llvm::Value* FunctionEmitter::emit_peek(const CallNode* node) {
  llvm::Value* offset = builder_.CreateIntCast(emit(node->args[1]), i64_, true);
  llvm::Value* place = builder_.CreateGEP(i8_, emit(node->args[0]), offset);
  llvm::Type* type = llvm_memory_type(context_, node->dtype);
  return from_memory(builder_.CreateAlignedLoad(type, place, member_align(node->dtype)), node->dtype);
}

llvm::Value* FunctionEmitter::emit_poke(const CallNode* node) {
  llvm::Value* offset = builder_.CreateIntCast(emit(node->args[1]), i64_, true);
  llvm::Value* place = builder_.CreateGEP(i8_, emit(node->args[0]), offset);
  llvm::Value* value = to_memory(emit(node->args[2]), node->args[2]->dtype);
  builder_.CreateAlignedStore(value, place, member_align(node->args[2]->dtype));
  return nullptr;
}

// prefetch(element, write, locality)
llvm::Value* FunctionEmitter::emit_prefetch(const CallNode* node) {
  const auto* element = node->args.empty() ? nullptr : node->args[0].as<BufferLoadNode>();
  if (!element) throw UserError(node, "prefetch takes a buffer element, e.g. A[0]");
  int64_t write = 0, locality = 3;
  if (node->args.size() > 1 && !as_const_int(node->args[1], &write))
    throw UserError(node, "prefetch: read or write must be 0 or 1");
  if (node->args.size() > 2 && !as_const_int(node->args[2], &locality))
    throw UserError(node, "prefetch: locality must be 0..3");
  llvm::Value* args[] = {element_pointer(element->buffer, element->indices[0]), builder_.getInt32(write != 0),
                         builder_.getInt32(static_cast<uint32_t>(locality & 3)), builder_.getInt32(1)};
  builder_.CreateIntrinsic(llvm::Intrinsic::prefetch, {ptr_}, args);
  return nullptr;
}

}  // namespace tilewright::codegen
