// Which values of a dataflow block lie in larger ones: what alias_slices does, apart from doing it.
#pragma once
#include <map>
#include <set>
#include <unordered_map>

#include "tilewright/relax/memory/liveness.h"
#include "tilewright/relax/memory/slice_programs.h"

namespace tilewright::relax {

/// Where a value lies.
struct Place {
  const VarBaseNode* tensor = nullptr;
  size_t axis = 0;
  int64_t begin = 0, extent = 0;  // extent: of the tensor
};

/// A call_tir of a loop program, with tensors one by one.
struct ProgramCall {
  const CallNode* call = nullptr;
  std::string name;
  tir::PrimFunc func;
  std::vector<Expr> inputs;
  bool has_one_output = false;
};

/// A concat that is made of its parts.
struct PlacedConcat {
  Place place;  // of the whole
  ConcatProgram program;
  std::vector<bool> is_placed;  // whether the program that computes a part writes it there; else it is copied
};

struct AliasPlan {
  std::map<size_t, ProgramCall> programs;  // by binding
  std::map<size_t, PlacedConcat> concats;  // by binding
  std::set<size_t> dropped;                // bindings of parts that are only read, where they lie
  std::unordered_map<const VarBaseNode*, Place> places;
  std::unordered_map<const VarBaseNode*, int> num_writes;  // by tensor that is made of parts
  bool is_empty() const { return concats.empty() && dropped.empty(); }
};

/// What of `block` is worth placing; num_uses: of the function that it is in.
AliasPlan plan_aliases(const IRModule& module, const DataflowBlock& block, const NumUses& num_uses);

}  // namespace tilewright::relax
