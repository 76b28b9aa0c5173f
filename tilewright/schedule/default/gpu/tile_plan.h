// The plan of a product of matrices, or of what is one when axes are taken together, as a convolution.
#pragma once
#include "tilewright/schedule/default/gpu/rules.h"

namespace tilewright::schedule {

/// Axes of a sum of products by the operands that depend on them.
struct ProductAxes {
  std::vector<size_t> batch, rows, columns, terms;
  Buffer row_operand, column_operand;
};
/// The axes of `sum`; columns are those of the operand that has the last dimension of the result.
OrReason<ProductAxes> product_axes(const BlockShape& sum);

/// The constant or likely extents of a product.
struct ProductSizes {
  int64_t batch, rows, columns, terms;
};
ProductSizes product_sizes(const BlockShape& sum, const ProductAxes& axes);
/// A reason if it has too few rows or columns for tiles.
std::optional<Reason> too_few_results(const BlockShape& sum, const ProductSizes& sizes);

/// Tiles of a product, [rows, columns] by [terms].
struct TilePlan {
  ProductAxes axes;
  int64_t rows = 1, columns = 1, terms = 1;     // of a block of threads, and of a step of its sum
  int64_t thread_rows = 1, thread_columns = 1;  // of a thread
  int64_t registers_per_thread = 0, shared_bytes = 0;
  int64_t threads() const { return rows / thread_rows * (columns / thread_columns); }
};
/// The tiles that take the least time by the features: multiply-adds, shared memory, and the cache that all share,
/// of the blocks that the busiest multiprocessor computes.
OrReason<TilePlan> plan_tiles(const BlockShape& sum, const GpuFeatures& features);

}  // namespace tilewright::schedule
