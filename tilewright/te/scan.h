// Steps one after the other: each computes its states from those of the steps before.
//   Tensor state = placeholder({m, n}), first = compute({1, n}, ...);
//   Tensor next = compute({m, n}, [&](Var t, Var i) { return state(t - 1, i) + X(t, i); });
//   Tensor all = scan("scan", {{first}, {next}, {state}})[0];
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
/// steps, or if a step would read one that is not computed before it; Unsupported if a step computes something that is
/// no te.compute.
std::vector<Tensor> scan(std::string name, ScanSpec spec);

}  // namespace tilewright::te
