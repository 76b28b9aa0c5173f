#include "tilewright/schedule/default/gpu/product_parts.h"

#include <algorithm>

#include "tilewright/schedule/steps.h"
#include "tilewright/tir/builder.h"

namespace tilewright::schedule {
int64_t place_of_read(const Schedule& sch, BlockRef block, const Buffer& buffer) {
  const std::vector<BufferRegion>& reads = sch.get(block)->reads;
  const auto found =
      std::ranges::find_if(reads, [&](const BufferRegion& read) { return read->buffer == buffer; });
  TILEWRIGHT_CHECK(found != reads.end(), "block {} does not read {}", sch.get(block)->name_hint,
                   buffer->name);
  return found - reads.begin();
}

Buffer copied_buffer(const Schedule& sch, BlockRef copy) { return sch.get(copy)->writes[0]->buffer; }

namespace {

// [batch, rows, columns, terms] of the axes of `sum`, without batch where it has none.
IndexMap matrix_map(const BlockShape& sum, const ProductAxes& axes) {
  std::vector<Var> from;
  for (const IterVar& axis : sum.block->iter_vars) from.push_back(make_var("a", axis->var->dtype));
  std::vector<PrimExpr> to;
  for (const auto& group : {axes.batch, axes.rows, axes.columns, axes.terms}) {
    PrimExpr index;
    for (size_t axis : group)
      index = index ? index * sum.block->iter_vars[axis]->dom->extent + from[axis] : PrimExpr(from[axis]);
    if (index) to.push_back(index);
  }
  return IndexMapNode::make(from, to);
}

// The copy of an operand, zeros beyond its elements, with the values before it computed in it.
BlockRef padded_copy(Schedule& sch, BlockRef sum, BlockRef copy) {
  const Buffer buffer = copied_buffer(sch, copy);
  const std::vector<BufferRegion> reads = sch.get(sum)->reads;
  const bool is_read =
      std::ranges::any_of(reads, [&](const BufferRegion& read) { return read->buffer == buffer; });
  if (is_read) return copy;
  const std::vector<BlockRef> padded = sch.call("get_consumers", copy).blocks();
  TILEWRIGHT_CHECK(padded.size() == 1, "{} blocks read {}", padded.size(), buffer->name);
  steps::compute_inline(sch, copy);
  return padded[0];
}

// Padding that only `copy` reads is computed where it is read.
void inline_padding(Schedule& sch, BlockRef copy) {
  for (BlockRef maker : sch.call("get_producers", copy).blocks()) {
    const OrReason<BlockShape> shape = shape_of(sch, maker);
    const bool is_alone = sch.call("get_consumers", maker).blocks().size() == 1;
    if (shape && is_padding(*shape) && is_alone) steps::compute_inline(sch, maker);
  }
}

}  // namespace

ProductParts make_product_parts(Schedule& sch, const BlockShape& sum, const ProductAxes& axes,
                                std::vector<int64_t> padding, const std::optional<BlockShape>& epilogue) {
  ProductParts parts;
  parts.sum = sum.ref;
  steps::transform_block_layout(sch, sum.ref, matrix_map(sum, axes));
  const auto copy_of = [&](const Buffer& buffer) {
    return steps::reindex(sch, sum.ref, steps::read_buffer(place_of_read(sch, sum.ref, buffer)));
  };
  const BlockRef row_copy = copy_of(axes.row_operand), column_copy = copy_of(axes.column_operand);
  parts.result_copy = steps::reindex(sch, sum.ref, steps::written_buffer(0));
  for (BlockRef copy : {row_copy, column_copy}) inline_padding(sch, copy);
  if (epilogue) steps::reverse_compute_inline(sch, epilogue->ref);
  if (!axes.batch.empty()) padding.insert(padding.begin(), 1);
  steps::pad_einsum(sch, sum.ref, padding);
  parts.row_copy = padded_copy(sch, sum.ref, row_copy);
  parts.column_copy = padded_copy(sch, sum.ref, column_copy);
  const std::vector<BlockRef> results = sch.call("get_consumers", sum.ref).blocks();
  TILEWRIGHT_CHECK(results.size() == 1, "{} blocks read the sums of a product", results.size());
  if (sch.state()[results[0]] != sch.state()[parts.result_copy]) {
    steps::reverse_compute_inline(sch, parts.result_copy);
    parts.result_copy = results[0];
  }
  return parts;
}

void put_terms_first(Schedule& sch, BlockRef sum, BlockRef copy) {
  const Buffer buffer = copied_buffer(sch, copy);
  std::vector<Var> from;
  for (const PrimExpr& extent : buffer->shape) from.push_back(make_var("a", extent->dtype));
  std::vector<PrimExpr> to(from.begin(), from.end());
  std::swap(to[to.size() - 1], to[to.size() - 2]);
  steps::transform_layout(sch, sum, steps::read_buffer(place_of_read(sch, sum, buffer)),
                          IndexMapNode::make(from, to));
}

}  // namespace tilewright::schedule
