// Fixed-length vectors in SVE registers, which have at least their length.
#pragma once
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/IRBuilder.h>

namespace tilewright::codegen {

/// The width of a register is a multiple of this.
inline constexpr unsigned kSegmentBits = 128;

/// The number of elements of a type in one segment.
inline unsigned num_lanes(const llvm::Type* element) {
  return kSegmentBits / static_cast<unsigned>(element->getPrimitiveSizeInBits().getFixedValue());
}

/// The type of a register with such elements.
inline llvm::ScalableVectorType* register_type(llvm::Type* element) {
  return llvm::ScalableVectorType::get(element, num_lanes(element));
}

/// The register that begins with `vector`; the remaining lanes are undefined.
inline llvm::Value* in_register(llvm::IRBuilderBase& builder, llvm::Value* vector) {
  llvm::Type* type = register_type(vector->getType()->getScalarType());
  return builder.CreateInsertVector(type, llvm::PoisonValue::get(type), vector, builder.getInt64(0));
}

}  // namespace tilewright::codegen
