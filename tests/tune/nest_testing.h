// Programs for tests of cost models.
#pragma once
#include <gtest/gtest.h>

#include "tilewright/script/parse.h"
#include "tilewright/target/features.h"
#include "tilewright/tune/nest.h"

namespace tilewright::tune {

inline ir::IRModule module_of(const std::string& text) {
  const auto func =
      ir::ref_as<tir::PrimFuncNode>(script::parse(Ref<Source>(new Source("f.py", "@T.prim_func\n" + text))));
  return ir::with_function(ir::IRModuleNode::make(), "main", func);
}

/// A machine of round numbers: vectors of 16 float32, one multiply-add, load and store of them in a cycle.
inline target::Features round_machine() {
  target::Features features;
  features.vector_bytes = 64;
  features.num_vector_registers = 32;
  features.rates = {.fma_per_cycle = 1, .loads_per_cycle = 1, .stores_per_cycle = 1, .issue_width = 6};
  features.l2_bytes = 1 << 20;
  return features;
}

}  // namespace tilewright::tune
