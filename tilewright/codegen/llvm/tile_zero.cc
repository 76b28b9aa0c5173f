// Whether a statement sets to zero what a nest of matrix tiles then adds to.
#include <cmath>
#include <set>

#include "tilewright/codegen/llvm/tile_nest.h"
#include "tilewright/ir/rewrite.h"
#include "tilewright/tir/builder.h"

namespace tilewright::codegen {
namespace {
using namespace tir;

constexpr size_t kMostElements = 8 * 16 * 16;

// Adds to `elements` what they are in all turns of `loop`; false if these are no constant number apart, or
// too many.
bool repeat(const ForNode* loop, PrimExpr& index, std::set<int64_t>& elements) {
  int64_t extent = 0;
  const std::optional<int64_t> step = step_of(index, loop->loop_var);
  if (!step || !as_const_int(loop->extent, &extent) || extent < 1 ||
      static_cast<size_t>(extent) * elements.size() > kMostElements)
    return false;
  index = substitute(index, {{loop->loop_var.get(), loop->min}});
  std::set<int64_t> all;
  for (int64_t turn = 0; turn < extent; ++turn) {
    for (const int64_t element : elements) all.insert(element + turn * *step);
  }
  elements = std::move(all);
  return true;
}

}  // namespace

bool sets_to_zero(const Stmt& stmt, const TileNest& nest) {
  std::vector<const ForNode*> loops;
  Stmt inner = stmt;
  while (const auto* loop = inner.as<ForNode>()) {
    loops.push_back(loop);
    inner = loop->body;
  }
  const auto* store = inner.as<BufferStoreNode>();
  if (!store || store->predicate || store->buffer->data != nest.sum.buffer->data ||
      store->buffer->dtype != nest.sum.dtype)
    return false;
  PrimExpr value = store->value, index = store->indices[0];
  if (const auto* vector = value.as<BroadcastNode>()) value = vector->value;
  std::set<int64_t> elements{0};
  if (const auto* ramp = index.as<RampNode>()) {
    if (!is_one(ramp->stride)) return false;
    for (int lane = 1; lane < ramp->lanes; ++lane) elements.insert(lane);
    index = ramp->base;
  }
  const auto* number = value.as<FloatImmNode>();
  if (!(number ? number->value == 0 && !std::signbit(number->value) : is_zero(value))) return false;
  for (const ForNode* loop : loops) {
    if (!repeat(loop, index, elements)) return false;
  }
  return is_same_index(index, nest.sum.index) && elements == sum_elements(nest);
}

}  // namespace tilewright::codegen
