// Tensor intrinsics: a program that says what a piece of hardware computes (desc) and one that makes it do so
// (impl).
#pragma once
#include "tilewright/tir/tir.h"

namespace tilewright::schedule {
using namespace tir;

/// Two functions with the same parameters: each one block, over buffers of constant shape.
struct TensorIntrin {
  PrimFunc desc, impl;
};

/// Makes an intrinsic known under `name` for the whole process.  Raises UserError if the name is taken and
/// not `may_override`, or if the two functions do not fit.
void register_tensor_intrin(const std::string& name, TensorIntrin intrin, bool may_override = false);
/// Raises UserError with the nearest names.
TensorIntrin get_tensor_intrin(const std::string& name);

}  // namespace tilewright::schedule
