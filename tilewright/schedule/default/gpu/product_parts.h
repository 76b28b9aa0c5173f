// A product of matrices taken apart: copies of its operands and of its result, in the order of a matrix.
#pragma once
#include "tilewright/schedule/default/gpu/tile_plan.h"

namespace tilewright::schedule {

/// A product of matrices and what copies its operands and result.
struct ProductParts {
  BlockRef sum;
  BlockRef row_copy, column_copy;  // from memory to shared memory
  BlockRef result_copy;            // from registers to memory
};

/// `sum` as a block over [batch, rows, columns, terms], with copies of what it reads and writes, zeros beyond their
/// elements.
///
/// padding   multiples that rows, columns and terms are filled up to
/// epilogue  an element by element block that is the only reader of the sum and becomes its copy, or nothing
ProductParts make_product_parts(Schedule& sch, const BlockShape& sum, const ProductAxes& axes,
                                std::vector<int64_t> padding, const std::optional<BlockShape>& epilogue);

/// The number of `buffer` among what `block` reads.
int64_t place_of_read(const Schedule& sch, BlockRef block, const Buffer& buffer);
/// The buffer that `block` reads for an operand whose copy is `copy`.
Buffer copied_buffer(const Schedule& sch, BlockRef copy);

/// Terms before rows in what `copy` writes, in memory that neighbouring threads read side by side.
void put_terms_first(Schedule& sch, BlockRef sum, BlockRef copy);

}  // namespace tilewright::schedule
