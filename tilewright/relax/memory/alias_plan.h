// Decides for alias_slices which values of a dataflow block are views of larger tensors.
#pragma once
#include <map>
#include <set>
#include <unordered_map>

#include "tilewright/relax/memory/liveness.h"
#include "tilewright/relax/memory/slice_programs.h"

namespace tilewright::relax {

/// The position of a value in a tensor.
struct Place {
  const VarBaseNode* tensor = nullptr;
  size_t axis = 0;
  int64_t begin = 0, extent = 0;  // extent: of the tensor
};

/// A call_tir of a loop program, with its input tensors as a list.
struct ProgramCall {
  const CallNode* call = nullptr;
  std::string name;
  tir::PrimFunc func;
  std::vector<Expr> inputs;
  bool has_one_output = false;
};

/// A concat whose parts are written directly into its result.
struct PlacedConcat {
  Place place;  // position of the whole
  ConcatProgram program;
  std::vector<bool> is_placed;  // its program writes the part into the whole; else the part is copied
};

struct AliasPlan {
  std::map<size_t, ProgramCall> programs;  // by binding
  std::map<size_t, PlacedConcat> concats;  // by binding
  std::set<size_t> dropped;                // bindings of slices that are read in place
  std::unordered_map<const VarBaseNode*, Place> places;
  std::unordered_map<const VarBaseNode*, int> num_writes;  // by tensor that parts are written into
  bool is_empty() const { return concats.empty() && dropped.empty(); }
};

/// The values of `block` that are worth placing.  num_uses: uses in the function that contains the block.
AliasPlan plan_aliases(const IRModule& module, const DataflowBlock& block, const NumUses& num_uses);

}  // namespace tilewright::relax
