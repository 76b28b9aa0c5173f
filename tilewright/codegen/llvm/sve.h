// Vectors of fixed length in registers of SVE, which are as long or longer.
#pragma once
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/IRBuilder.h>

namespace tilewright::codegen {

/// Registers consist of so many bits, once or several times.
inline constexpr unsigned kSegmentBits = 128;

/// How many numbers of a type they hold.
inline unsigned num_lanes(const llvm::Type* element) {
  return kSegmentBits / static_cast<unsigned>(element->getPrimitiveSizeInBits().getFixedValue());
}

/// A register of such numbers.
inline llvm::ScalableVectorType* register_type(llvm::Type* element) {
  return llvm::ScalableVectorType::get(element, num_lanes(element));
}

/// The register that begins with `vector`; the lanes behind it are anything.
inline llvm::Value* in_register(llvm::IRBuilderBase& builder, llvm::Value* vector) {
  llvm::Type* type = register_type(vector->getType()->getScalarType());
  return builder.CreateInsertVector(type, llvm::PoisonValue::get(type), vector, builder.getInt64(0));
}

}  // namespace tilewright::codegen
