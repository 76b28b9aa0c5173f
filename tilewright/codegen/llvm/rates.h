// How fast a processor is by the scheduling model that LLVM has of it.
#pragma once
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/TargetRegistry.h>

#include <optional>
#include <string_view>

#include "tilewright/target/features.h"

namespace tilewright::codegen {

/// Rates of the instructions on vectors of `vector_bits` that code for `info` consists of.  Nothing where
/// LLVM has no model of the processor, or one without these instructions.
std::optional<target::Rates> rates_of(const llvm::Target& backend, const llvm::MCSubtargetInfo& info,
                                      int64_t vector_bits);

}  // namespace tilewright::codegen
