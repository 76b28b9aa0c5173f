// Loads, stores and allocations.  Buffers are flat here: one index, in elements of the buffer's scalar dtype.
#include <algorithm>

#include "tilewright/codegen/llvm/emitter.h"
#include "tilewright/ir/services.h"
#include "tilewright/lower/lowered.h"
#include "tilewright/runtime/device.h"
#include "tilewright/tir/builder.h"
#include "tilewright/tir/loop_hints.h"
#include "tilewright/tir/uses.h"

namespace tilewright::codegen {
namespace {

// The limit for all constant-size buffers on the stack of one function together.
constexpr uint64_t kMaxStackBytes = lower::kMaxStackBytes;
// The largest stride of a strided load that uses whole vectors and a shuffle.
constexpr int64_t kMaxShuffledStride = 4;

// The alignment that an access may assume: arguments are aligned to their element size (the entry checks it);
// LLVM derives larger alignments of local memory itself.
llvm::Align element_align(DataType dtype) {
  return llvm::Align(static_cast<uint64_t>(std::max<int64_t>(1, dtype.element().num_bytes())));
}

const PrimExpr& flat_index(const Buffer& buffer, const std::vector<PrimExpr>& indices) {
  TILEWRIGHT_CHECK(indices.size() == 1, "buffer {} was not flattened before code generation", buffer->name);
  return indices[0];
}

}  // namespace

llvm::Value* FunctionEmitter::pointer_of(const Buffer& buffer) {
  auto found = values_.find(buffer->data.get());
  TILEWRIGHT_CHECK(found != values_.end(), "lowering let {} through, whose memory nothing defines",
                   buffer->name);
  return found->second;
}

llvm::Value* FunctionEmitter::element_pointer(const Buffer& buffer, llvm::Value* offset, bool may_leave) {
  llvm::Type* element = llvm_memory_type(context_, buffer->dtype);
  // a vector of offsets gives a vector of pointers
  return builder_.CreateGEP(element, pointer_of(buffer), offset, "",
                            may_leave ? llvm::GEPNoWrapFlags::none() : llvm::GEPNoWrapFlags::inBounds());
}

llvm::Value* FunctionEmitter::element_pointer(const Buffer& buffer, const PrimExpr& index, bool may_leave) {
  return element_pointer(buffer, emit_offset(index), may_leave);
}

llvm::Value* FunctionEmitter::to_memory(llvm::Value* value, DataType dtype) {
  return dtype.is_bool() ? builder_.CreateZExt(value, llvm_memory_type(context_, dtype)) : value;
}

llvm::Value* FunctionEmitter::from_memory(llvm::Value* value, DataType dtype) {
  return dtype.is_bool() ? builder_.CreateIsNotNull(value) : value;
}

void FunctionEmitter::fetch_line(llvm::Value* pointer, uint32_t place, bool is_written) {
  constexpr uint32_t kData = 1;
  builder_.CreateIntrinsic(
      llvm::Intrinsic::prefetch, {ptr_},
      {pointer, builder_.getInt32(is_written), builder_.getInt32(place), builder_.getInt32(kData)});
}

void FunctionEmitter::prefetch_ahead(llvm::Value* pointer, const BufferLoadNode* load) {
  const auto line_bytes = static_cast<uint64_t>(module_.target.line_bytes);
  const auto moves_with = [&](const Prefetch& hint) {
    return hint.loop_var && uses(load->indices[0], hint.loop_var);
  };
  // each row of a tile reads the same vectors
  const auto is_same = [&](const BufferLoadNode* other) {
    return other->buffer == load->buffer && structural_equal(other->indices[0], load->indices[0]);
  };
  if (moves_with(near_) && std::none_of(near_.fetched.begin(), near_.fetched.end(), is_same)) {
    // vectors that are shorter than a line share it
    const auto before =
        std::count_if(near_.fetched.begin(), near_.fetched.end(),
                      [&](const BufferLoadNode* other) { return other->buffer == load->buffer; });
    const auto bytes = static_cast<uint64_t>(before * load->dtype.num_bytes());
    if (bytes % line_bytes == 0) fetch_line(builder_.CreateGEP(i8_, pointer, near_.distance), near_.place);
    near_.fetched.push_back(load);
  }
  if (!moves_with(next_panel_)) return;
  llvm::Value* ahead = builder_.CreateGEP(i8_, pointer, next_panel_.distance);
  for (uint64_t begin = 0; begin < next_panel_.bytes; begin += line_bytes)
    fetch_line(builder_.CreateConstGEP1_64(i8_, ahead, begin), next_panel_.place);
  next_panel_ = {};  // once in each iteration
}

void FunctionEmitter::begin_hints(const ForNode* node) {
  // hand-written programs may contain any value
  const auto hint = [&](std::string_view key) {
    constexpr int64_t kMost = int64_t{1} << 30;
    const int64_t value = node->annotations.get_int(key, 0);
    return static_cast<uint64_t>(value > 0 && value <= kMost ? value : 0);
  };
  const auto iteration = [&] {
    return builder_.CreateSExtOrTrunc(values_[node->loop_var.get()], builder_.getInt64Ty());
  };
  if (const uint64_t count = hint(kPanelIterations)) {
    llvm::Value* own = builder_.CreateURem(iteration(), builder_.getInt64(count));
    llvm::Value* outer = panel_iteration_.number;
    panel_iteration_.number =
        outer ? builder_.CreateAdd(builder_.CreateMul(outer, builder_.getInt64(count)), own) : own;
    panel_iteration_.count = std::max<uint64_t>(1, panel_iteration_.count * count);
  }
  if (const uint64_t ahead = hint(kPrefetchAhead)) {
    const uint32_t place = hint(kPrefetchLevel) == 2 ? kL2Cache : kAllCaches;
    near_ = {node->loop_var.get(), builder_.getInt64(ahead), place};
  }
  if (const uint64_t ahead = hint(kPrefetchWrites))
    writes_ = {node->loop_var.get(), builder_.getInt64(ahead)};
  const uint64_t panel = hint(kPrefetchPanel), row = hint(kPanelRow);
  int64_t num_rows = 0;
  constexpr uint64_t kMostBytes = 1024;  // in one iteration
  if (panel == 0 || row == 0 || row > kMostBytes || !panel_iteration_.number ||
      !as_const_int(node->extent, &num_rows))
    return;
  // iteration t prefetches from t * share on, one step per row; the next vector is `row` bytes further
  const uint64_t step = (row - 1) / panel_iteration_.count + 1,
                 share = step * static_cast<uint64_t>(num_rows);
  llvm::Value* first = builder_.CreateAdd(
      builder_.CreateMul(panel_iteration_.number, builder_.getInt64(share)), builder_.getInt64(panel));
  llvm::Value* distance =
      builder_.CreateAdd(first, builder_.CreateMul(iteration(), builder_.getInt64(step - row)));
  next_panel_ = {node->loop_var.get(), distance, kL2Cache, step};
}

llvm::Value* FunctionEmitter::emit_load(const BufferLoadNode* node) {
  const PrimExpr& index = flat_index(node->buffer, node->indices);
  const DataType dtype = node->dtype;
  llvm::Type* type = llvm_memory_type(context_, dtype);
  const llvm::Align align = element_align(dtype);
  if (const auto* vector = index.as<BroadcastNode>(); vector && !node->predicate) {
    llvm::Value* pointer = element_pointer(node->buffer, vector->value);
    llvm::Value* scalar = builder_.CreateAlignedLoad(type->getScalarType(), pointer, align);
    return splat(from_memory(scalar, dtype.element()), dtype.lanes);
  }
  const auto* ramp = index.as<RampNode>();
  llvm::Value* mask = node->predicate ? emit(node->predicate) : nullptr;
  if (index->dtype.is_scalar() || (ramp && is_one(ramp->stride))) {
    llvm::Value* pointer = element_pointer(node->buffer, ramp ? ramp->base : index, mask != nullptr);
    if (ramp && !mask) prefetch_ahead(pointer, node);
    llvm::Value* value =
        mask ? builder_.CreateMaskedLoad(type, pointer, align, mask, llvm::Constant::getNullValue(type))
             : static_cast<llvm::Value*>(builder_.CreateAlignedLoad(type, pointer, align));
    return from_memory(value, dtype);
  }
  if (ramp && is_const_int(ramp->stride, -1) && !mask) {
    llvm::Value* last = emit_offset(ramp->base + (1 - ramp->lanes));
    llvm::Value* value = builder_.CreateAlignedLoad(type, element_pointer(node->buffer, last), align);
    return from_memory(builder_.CreateVectorReverse(value), dtype);
  }
  // without AVX512BW, masked 8- and 16-bit loads compile to a branch per lane (without AVX, all masked loads
  // do)
  const auto has_masks = [&] {
    return module_.target.has("avx512bw") || (module_.target.has("avx") && dtype.element().num_bytes() >= 4);
  };
  int64_t stride;
  if (ramp && as_const_int(ramp->stride, &stride)) {
    if (loads_by_stride(module_.target, dtype, stride))
      return from_memory(load_by_stride(node->buffer, ramp, stride, type, mask), dtype);
    if (stride >= 2 && stride <= kMaxShuffledStride && (!mask || has_masks()))
      return from_memory(strided_load(node->buffer, ramp, stride, type, mask), dtype);
  }
  llvm::Value* lanes = element_pointer(node->buffer, index, mask != nullptr);
  if (mask)
    return from_memory(
        builder_.CreateMaskedGather(type, lanes, align, mask, llvm::Constant::getNullValue(type)), dtype);
  llvm::Value* value = llvm::PoisonValue::get(type);
  for (int lane = 0; lane < dtype.lanes; ++lane) {
    llvm::Value* pointer = builder_.CreateExtractElement(lanes, lane);
    value = builder_.CreateInsertElement(
        value, builder_.CreateAlignedLoad(type->getScalarType(), pointer, align), lane);
  }
  return from_memory(value, dtype);
}

// Loads every second (third, fourth) element: loads everything from the first to the last (or with a mask
// only the wanted elements) and selects the wanted ones.
llvm::Value* FunctionEmitter::strided_load(const Buffer& buffer, const RampNode* ramp, int64_t stride,
                                           llvm::Type* type, llvm::Value* mask) {
  const int lanes = llvm::cast<llvm::FixedVectorType>(type)->getNumElements(),
            step = static_cast<int>(stride);
  const auto all_lanes = static_cast<unsigned>(mask ? lanes * step : (lanes - 1) * step + 1);
  auto* all = llvm::FixedVectorType::get(type->getScalarType(), all_lanes);
  llvm::Value* pointer = element_pointer(buffer, ramp->base, mask != nullptr);
  const llvm::Align align = element_align(buffer->dtype);
  llvm::Value* loaded = nullptr;
  if (mask) {
    llvm::SmallVector<int> wanted;
    for (int lane = 0; lane < lanes * step; ++lane) wanted.push_back(lane % step == 0 ? lane / step : lanes);
    llvm::Value* none = llvm::Constant::getNullValue(mask->getType());
    loaded = builder_.CreateMaskedLoad(all, pointer, align, builder_.CreateShuffleVector(mask, none, wanted),
                                       llvm::Constant::getNullValue(all));
  } else {
    loaded = builder_.CreateAlignedLoad(all, pointer, align);
  }
  llvm::SmallVector<int> chosen;
  for (int lane = 0; lane < lanes; ++lane) chosen.push_back(lane * step);
  return builder_.CreateShuffleVector(loaded, chosen);
}

void FunctionEmitter::emit_store(const BufferStoreNode* node) {
  const PrimExpr& index = flat_index(node->buffer, node->indices);
  const DataType dtype = node->value->dtype;
  const llvm::Align align = element_align(dtype);
  llvm::Value* value = to_memory(emit(node->value), dtype);
  llvm::Value* mask = node->predicate ? emit(node->predicate) : nullptr;
  const auto* ramp = index.as<RampNode>();
  if (index->dtype.is_scalar() || (ramp && is_one(ramp->stride))) {
    llvm::Value* pointer = element_pointer(node->buffer, ramp ? ramp->base : index, mask != nullptr);
    if (ramp && !mask && writes_.loop_var && uses(index, writes_.loop_var))
      fetch_line(builder_.CreateGEP(i8_, pointer, writes_.distance), kAllCaches, true);
    if (mask)
      builder_.CreateMaskedStore(value, pointer, align, mask);
    else
      builder_.CreateAlignedStore(value, pointer, align);
    return;
  }
  llvm::Value* lanes = element_pointer(node->buffer, index, mask != nullptr);
  if (mask) {
    builder_.CreateMaskedScatter(value, lanes, align, mask);
    return;
  }
  for (int lane = 0; lane < dtype.lanes; ++lane)
    builder_.CreateAlignedStore(builder_.CreateExtractElement(value, lane),
                                builder_.CreateExtractElement(lanes, lane), align);
}

llvm::AllocaInst* FunctionEmitter::entry_alloca(llvm::Type* type, uint64_t count, uint64_t alignment,
                                                const char* name) {
  llvm::IRBuilder<> entry(&function_->getEntryBlock(), function_->getEntryBlock().begin());
  llvm::AllocaInst* memory = entry.CreateAlloca(llvm::ArrayType::get(type, count), nullptr, name);
  memory->setAlignment(llvm::Align(alignment));
  return memory;
}

void FunctionEmitter::emit_alloc(const AllocBufferNode* node) {
  const Buffer& buffer = node->buffer;
  TILEWRIGHT_CHECK(buffer->shape.size() == 1, "buffer {} was not flattened before code generation",
                   buffer->name);
  const uint64_t element_bytes = static_cast<uint64_t>(buffer->dtype.num_bytes());
  const uint64_t alignment =
      static_cast<uint64_t>(std::max<int64_t>(runtime::kTensorAlignment, buffer->data_alignment));
  int64_t count;
  const bool is_constant = as_const_int(buffer->shape[0], &count);
  const uint64_t bytes = is_constant ? static_cast<uint64_t>(std::max<int64_t>(count, 1)) * element_bytes : 0;
  if (is_constant && stack_bytes_ + bytes <= kMaxStackBytes) {
    stack_bytes_ += bytes;
    llvm::AllocaInst* memory = entry_alloca(llvm_memory_type(context_, buffer->dtype), bytes / element_bytes,
                                            alignment, buffer->name.c_str());
    llvm::ConstantInt* size = builder_.getInt64(bytes);
    values_[buffer->data.get()] = memory;
    builder_.CreateLifetimeStart(memory, size);
    emit(node->body);
    if (!has_ended()) builder_.CreateLifetimeEnd(memory, size);
    return;
  }
  llvm::Value* total = emit_offset(buffer->shape[0]);
  total = builder_.CreateMul(total, builder_.getInt64(element_bytes));
  llvm::Value* memory = workspace_alloc(total, alignment);
  values_[buffer->data.get()] = memory;
  workspaces_.push_back(memory);
  emit(node->body);
  workspaces_.pop_back();
  if (!has_ended()) workspace_free(memory);
}

}  // namespace tilewright::codegen
