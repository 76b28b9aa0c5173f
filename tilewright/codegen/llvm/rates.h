// The speed of a processor according to LLVM's scheduling model.
#pragma once
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/TargetRegistry.h>

#include <optional>
#include <string_view>

#include "tilewright/target/features.h"

namespace tilewright::codegen {

/// The rates of the instructions on vectors of `vector_bits` that code for `info` uses.  Nullopt if LLVM has
/// no model of the processor, or a model without these instructions.
std::optional<target::Rates> rates_of(const llvm::Target& backend, const llvm::MCSubtargetInfo& info,
                                      int64_t vector_bits);

}  // namespace tilewright::codegen
