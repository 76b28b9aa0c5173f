// Translates dtypes to LLVM types.
#include "tilewright/codegen/llvm/emitter.h"
#include "tilewright/support/small_float.h"

namespace tilewright::codegen {
namespace {

llvm::Type* element_type(llvm::LLVMContext& context, DataType dtype) {
  if (dtype.is_bool()) return llvm::Type::getInt1Ty(context);
  if (dtype.is_void()) return llvm::Type::getVoidTy(context);
  if (dtype.is_handle()) return llvm::PointerType::getUnqual(context);
  const bool is_whole = dtype.bits == 8 || dtype.bits == 16 || dtype.bits == 32 || dtype.bits == 64;
  if (dtype.is_integral() && is_whole) return llvm::Type::getIntNTy(context, dtype.bits);
  if (is_bits_only(dtype)) return llvm::Type::getIntNTy(context, static_cast<unsigned>(register_bits(dtype)));
  if (dtype.code == DataType::kFloat && dtype.bits == 16) return llvm::Type::getHalfTy(context);
  if (dtype.code == DataType::kFloat && dtype.bits == 32) return llvm::Type::getFloatTy(context);
  if (dtype.code == DataType::kFloat && dtype.bits == 64) return llvm::Type::getDoubleTy(context);
  throw InternalError("lowering let values of dtype {} through", dtype.element().str());
}

}  // namespace

bool is_bits_only(DataType dtype) { return is_small_float(dtype) && dtype.code != DataType::kFloat; }

llvm::Type* llvm_type(llvm::LLVMContext& context, DataType dtype) {
  TILEWRIGHT_CHECK(!dtype.is_scalable(), "lowering let scalable vectors ({}) through", dtype.str());
  llvm::Type* element = element_type(context, dtype);
  if (dtype.lanes <= 1) return element;
  return llvm::FixedVectorType::get(element, dtype.lanes);
}

llvm::Type* llvm_memory_type(llvm::LLVMContext& context, DataType dtype) {
  return llvm_type(context, dtype.is_bool() ? DataType::uint(8, dtype.lanes) : dtype);
}

}  // namespace tilewright::codegen
