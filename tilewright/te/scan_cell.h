// What a scan computes in each step: the updates, and all between them and the states, which is the cell of the scan.
//   state(t - 1, i) -> double(t, i) -> next(t, i)        both are in the cell; step t computes row t of both
//   state(t, i) -> copy(t, i); next reads copy(t - 1, i)  step t computes row t - 1 of the copy
#pragma once
#include <vector>

#include "tilewright/te/operation.h"

namespace tilewright::te {

/// An operation of a cell: step t computes row t - `lag` of dimension `dim`.
struct CellPart {
  Operation op;
  size_t dim = 0;
  int64_t lag = 0;
};

/// The cell, producers first.  Raises UserError if a step would read what no earlier one has computed, Unsupported if a
/// part is no te.compute.
std::vector<CellPart> cell_of(const TeScanNode* scan);
/// The steps that the cell computes: those behind the init.
Range steps_of(const TeScanNode* scan);
/// Raises UserError if an operation of `order` outside of a cell reads a tensor inside of it.
void require_closed_cells(const std::vector<Operation>& order);

}  // namespace tilewright::te
