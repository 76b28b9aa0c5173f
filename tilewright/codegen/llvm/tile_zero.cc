// Recognises statements that set to zero the sums of a nest of matrix tiles, or of all nests in a block:
//   for v in range(256): C[v * 32 : v * 32 + 32] = 0
//   for ko in range(4):       # terms
//     for io in range(8):     # tiles of a block
//       for ki in ..          # the nest
#include <cmath>
#include <set>

#include "tilewright/codegen/llvm/tile_nest.h"
#include "tilewright/ir/rewrite.h"
#include "tilewright/tir/builder.h"

namespace tilewright::codegen {
namespace {
using namespace tir;

constexpr size_t kMostElements = 1 << 14;

// Elements of a buffer, as offsets from `index`.
struct Elements {
  PrimExpr index;
  std::set<int64_t> distances;
};

// Extends `elements` to all iterations of `loop`; returns false if the step is not constant, or there are too
// many or duplicate elements.
bool repeat(const ForNode* loop, Elements& elements) {
  int64_t extent = 0;
  const std::optional<int64_t> step = step_of(elements.index, loop->loop_var);
  if (!step || !as_const_int(loop->extent, &extent) || extent < 1 ||
      static_cast<size_t>(extent) > kMostElements / elements.distances.size())
    return false;
  elements.index = substitute(elements.index, {{loop->loop_var.get(), loop->min}});
  std::set<int64_t> all;
  for (int64_t iteration = 0; iteration < extent; ++iteration) {
    for (const int64_t element : elements.distances) all.insert(element + iteration * *step);
  }
  const bool are_different = all.size() == elements.distances.size() * static_cast<size_t>(extent);
  elements.distances = std::move(all);
  return are_different;
}

// The elements of `buffer` that `stmt` sets to zero; nullopt if it does anything else.
std::optional<Elements> zeros_of(const Stmt& stmt, const TileOperand& sum) {
  std::vector<const ForNode*> loops;
  Stmt inner = stmt;
  while (const auto* loop = inner.as<ForNode>()) {
    loops.push_back(loop);
    inner = loop->body;
  }
  const auto* store = inner.as<BufferStoreNode>();
  if (!store || store->predicate || store->buffer->data != sum.buffer->data ||
      store->buffer->dtype != sum.dtype)
    return std::nullopt;
  PrimExpr value = store->value;
  if (const auto* vector = value.as<BroadcastNode>()) value = vector->value;
  Elements elements{store->indices[0], {0}};
  if (const auto* ramp = elements.index.as<RampNode>()) {
    if (!is_one(ramp->stride)) return std::nullopt;
    for (int lane = 1; lane < ramp->lanes; ++lane) elements.distances.insert(lane);
    elements.index = ramp->base;
  }
  const auto* number = value.as<FloatImmNode>();
  if (!(number ? number->value == 0 && !std::signbit(number->value) : is_zero(value))) return std::nullopt;
  for (const ForNode* loop : loops) {
    if (!repeat(loop, elements)) return std::nullopt;
  }
  return elements;
}

bool are_same(const std::optional<Elements>& a, const Elements& b) {
  return a && a->distances == b.distances && is_same_index(a->index, b.index);
}

}  // namespace

bool sets_to_zero(const Stmt& stmt, const TileNest& nest) {
  return are_same(zeros_of(stmt, nest.sum), {nest.sum.index, sum_elements(nest)});
}

const ForNode* block_of_zeros(const Stmt& stmt, const Stmt& block, const ForNode* loop,
                              const TileNest& nest) {
  const auto* terms = block.as<ForNode>();
  int64_t count = 0;
  if (!terms || terms == loop || terms->for_kind != ForKind::kSerial ||
      !as_const_int(terms->extent, &count) || count < 1 || step_of(nest.sum.index, terms->loop_var) != 0)
    return nullptr;
  std::vector<const ForNode*> tiles;
  const auto* inner = terms->body.as<ForNode>();
  for (; inner && inner != loop; inner = inner->body.as<ForNode>()) {
    if (inner->for_kind != ForKind::kSerial) return nullptr;
    tiles.push_back(inner);
  }
  if (!inner) return nullptr;
  Elements elements{nest.sum.index, sum_elements(nest)};
  for (auto tile = tiles.rbegin(); tile != tiles.rend(); ++tile) {
    if (!repeat(*tile, elements)) return nullptr;
  }
  return are_same(zeros_of(stmt, nest.sum), elements) ? terms : nullptr;
}

}  // namespace tilewright::codegen
