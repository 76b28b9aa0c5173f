// The plan of a product of matrices by tensor cores.
#pragma once
#include "tilewright/schedule/default/gpu/tile_plan.h"
#include "tilewright/schedule/intrinsics/mma.h"

namespace tilewright::schedule {

/// A block of warps computes [rows, columns], each warp a part of it in its registers, and adds `terms` at a time.
struct MmaPlan {
  ProductAxes axes;
  const MmaElement *row_element = nullptr, *column_element = nullptr;
  DataType sum;
  bool is_column_first = false;  // the program multiplies columns by rows
  bool halves = false;           // by instructions of half the terms
  int64_t step = 1;              // terms of an instruction, or of two by halves
  int64_t terms = 1;
  int64_t warp_rows = kMmaSize, warp_columns = kMmaSize;
  int64_t warps_down = 1, warps_across = 1;

  int64_t rows() const { return warp_rows * warps_down; }
  int64_t columns() const { return warp_columns * warps_across; }
  int64_t warps() const { return warps_down * warps_across; }
};
/// The plan that takes the least time by the features: instructions of tensor cores, shared memory, and the cache that all
/// share; or why tensor cores do not take the product.
OrReason<MmaPlan> plan_mma(const BlockShape& sum, const GpuFeatures& features);

}  // namespace tilewright::schedule
