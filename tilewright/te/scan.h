// Steps one after the other: each computes its states from those of the steps before.
//   Tensor state = placeholder({m, n}), first = compute({1, n}, ...);
//   Tensor next = compute({m, n}, [&](Var t, Var i) { return state(t - 1, i) + X(t, i); });
//   auto [S] = scan("scan", {{first}, {next}, {state}});
#pragma once
#include "tilewright/te/compute.h"

namespace tilewright::te {

struct ScanSpec {
  std::vector<Tensor> init, update, state;  // one of each per state
  std::vector<Tensor> inputs = {};
  AttrMap attrs = {};
};

/// One tensor per state: all steps of it.  Dimension 0 is the step; the inits are the first steps.
///
/// Raises UserError if the shapes or dtypes of a state's three tensors disagree, if states differ in the number of
/// steps, or if a step would read one that is not computed before it.
std::vector<Tensor> scan(std::string name, ScanSpec spec);

/// The operations of one step, producers first: the updates, and what they read that depends on a state.  Raises
/// UserError or Unsupported if one of them cannot be computed step by step.
std::vector<Operation> cell_of(const TeScanNode* scan);
/// The steps that the cell computes: those behind the init.
Range steps_of(const TeScanNode* scan);
/// Raises UserError if an operation of `order` outside of a cell reads a tensor inside of it.
void require_closed_cells(const std::vector<Operation>& order);

}  // namespace tilewright::te
