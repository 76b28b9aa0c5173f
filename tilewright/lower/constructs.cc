#include "tilewright/lower/constructs.h"

#include <algorithm>
#include <utility>

#include "tilewright/ir/walk.h"
#include "tilewright/support/small_float.h"
#include "tilewright/tir/builder.h"
#include "tilewright/tir/op.h"

namespace tilewright::lower {
namespace {
using namespace tir;

// True for a T.ret of a value; T.ret(0), which lowering leaves in, is the function's own status.
bool returns_number(const CallNode* call) {
  return is_call_of(call, "tir.ret") && !is_zero(call->args.at(0));
}

bool is_missing(const CallNode* call) {
  static constexpr std::string_view kNames[] = {"tir.ldexp", "tir.q_multiply_shift",
                                                "tir.q_multiply_shift_per_axis"};
  return std::any_of(std::begin(kNames), std::end(kNames),
                     [&](std::string_view name) { return is_call_of(call, name); });
}

Constructs of_access(const Buffer& buffer, const std::vector<PrimExpr>& indices) {
  return (indices.size() > 1 ? kManyDimensions : kNothing) |
         (is_part_of_byte(buffer->dtype) ? kPartsOfBytes : kNothing);
}

Constructs of_block(const BlockNode* block) {
  return kBlocks | (block->match_buffers.empty() ? kNothing : kViews) | (block->init ? kInits : kNothing) |
         (block->alloc_buffers.empty() ? kNothing : kBlockBuffers);
}

Constructs of_loop(const ForNode* loop) {
  switch (loop->for_kind) {
    case ForKind::kUnrolled: return kUnrolledLoops;
    case ForKind::kVectorized: return kVectorLoops;
    case ForKind::kThreadBinding: return loop->thread_tag.starts_with("vthread") ? kVirtualThreads : kNothing;
    default: return kNothing;
  }
}

Constructs of_arithmetic(const BinaryOpNode* node) {
  const DataType dtype = node->a->dtype;
  if (!is_small_float(dtype)) return kNothing;
  return dtype.code == DataType::kFloat && dtype.bits == 16 ? kHalfFloats : kSmallFloats;
}

}  // namespace

Constructs constructs_of(const PrimFunc& func) {
  Constructs found = kNothing;
  ir::walk(
      func->body, [&](const BlockNode* block) { found |= of_block(block); },
      [&](const ForNode* loop) { found |= of_loop(loop); },
      [&](const BufferLoadNode* load) { found |= of_access(load->buffer, load->indices); },
      [&](const BufferStoreNode* store) { found |= of_access(store->buffer, store->indices); },
      [&](const CallNode* call) {
        found |= (returns_number(call) ? kReturns : kNothing) | (is_missing(call) ? kMissingCalls : kNothing);
      },
      [&](const RampNode*) { found |= kVectors; }, [&](const BroadcastNode*) { found |= kVectors; },
      [&](const BinaryOpNode* node) { found |= of_arithmetic(node); });
  return found;
}

std::string constructs_text(Constructs constructs) {
  static constexpr std::pair<Constructs, std::string_view> kNames[] = {
      {kReturns, "returns of numbers"},
      {kBlocks, "blocks"},
      {kViews, "views of regions"},
      {kInits, "inits of reductions"},
      {kBlockBuffers, "buffers of blocks"},
      {kVirtualThreads, "virtual threads"},
      {kManyDimensions, "accesses of several dimensions"},
      {kPartsOfBytes, "elements of less than 8 bits"},
      {kUnrolledLoops, "unrolled loops"},
      {kVectorLoops, "vectorized loops"},
      {kVectors, "vectors"},
      {kMissingCalls, "functions that machines lack"},
      {kSmallFloats, "arithmetic on floats of 8 bits and bfloat16"},
      {kHalfFloats, "arithmetic on float16"}};
  std::string text;
  for (const auto& [construct, name] : kNames) {
    if (constructs & construct) text += (text.empty() ? "" : ", ") + std::string(name);
  }
  return text;
}

}  // namespace tilewright::lower
