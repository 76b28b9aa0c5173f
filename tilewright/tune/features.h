// Numbers that describe a scheduled program to a model that learns: what its stores compute, how loops are
// vectorized, written out and shared by threads, and what each access takes from each level of caches.
// In the manner of Zheng et al., Ansor, OSDI 2020, section 5.2, from the loops before lowering.
#pragma once
#include <string>
#include <vector>

#include "tilewright/tune/store_cost.h"

namespace tilewright::tune {

/// A program as cost models see it.
struct Described {
  ProgramCost cost;                        // by the analytic model
  std::vector<std::vector<float>> stores;  // features of each store; logarithms to base 2 of 1 + counts
  std::vector<float> all;                  // features of the store that takes longest, and of the program
};

/// Names of the features of a store, and of the program, in their order.
std::vector<std::string> store_feature_names();
std::vector<std::string> program_feature_names();

Described describe(const ir::IRModule& module, const target::Features& features);

}  // namespace tilewright::tune
