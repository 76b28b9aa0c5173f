// The architectures of NVIDIA's GPUs that a target names, and how fast their clocks are.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "tilewright/ir/target.h"

namespace tilewright::target {

/// Those of -arch in the order in which they are written, "sm_80,sm_90a" two of them; none if it is not given.  Raises
/// UserError if one is no "sm_<number>", or is there twice.
std::vector<std::string> cuda_architectures(const ir::Target& target);

/// The clock that its maker promises for the chip that stands for `target`, a GPU, by which rates per cycle become
/// rates per second.
double clock_hz(const ir::Target& target);

}  // namespace tilewright::target
