#include "tilewright/schedule/default/gpu/mma_plan.h"

#include <algorithm>
#include <bit>

#include "tilewright/target/gpu_work.h"
#include "tilewright/tir/builder.h"

namespace tilewright::schedule {
namespace {

constexpr int64_t kStepBytes = 32;  // of the terms of an instruction, of a row
constexpr int64_t kRowBytes = 128;  // of a row of a tile in shared memory: a phase of an access by vectors

// The load of a factor, converted to the dtype of the sum or as it is; null for anything else.
const BufferLoadNode* factor_of(const PrimExpr& value) {
  const auto* cast = value.as<CastNode>();
  return cast ? cast->value.as<BufferLoadNode>() : value.as<BufferLoadNode>();
}

bool has(const target::TensorCores& cores, const MmaElement& element) {
  if (element.name == "f16") return cores.float16;
  if (element.name == "bf16") return cores.bfloat16;
  if (element.name == "tf32") return cores.tensor_float32;
  return element.sum == "int32" ? cores.int8 : cores.float8;
}

// What is multiplied, and in which order.
OrReason<MmaPlan> plan_of_types(const BlockShape& sum, const ProductAxes& axes, const GpuFeatures& features) {
  const auto* add = sum.store->value.as<AddNode>();
  const auto* times = add ? add->b.as<MulNode>() : nullptr;
  const BufferLoadNode *first = times ? factor_of(times->a) : nullptr,
                       *second = times ? factor_of(times->b) : nullptr;
  if (!first || !second)
    return Reason(Reason::kForm, "block {} does not add products of two elements", sum.block->name_hint);
  MmaPlan plan;
  plan.axes = axes;
  plan.is_column_first = first->buffer == axes.column_operand;
  const BufferLoadNode *row = plan.is_column_first ? second : first,
                       *column = plan.is_column_first ? first : second;
  plan.sum = sum.store->value->dtype;
  plan.row_element = mma_element(row->dtype, features.allow_tf32 != 0);
  plan.column_element = mma_element(column->dtype, features.allow_tf32 != 0);
  if (row->dtype == kFloat32 && features.allow_tf32 == 0 && features.tensor_cores.tensor_float32)
    return Reason(Reason::kOther, "tensor cores keep 10 bits of a float32, which -allow_tf32=1 would allow");
  for (const auto& [element, dtype] :
       {std::pair(plan.row_element, row->dtype), std::pair(plan.column_element, column->dtype)}) {
    if (!element || !has(features.tensor_cores, *element))
      return Reason(Reason::kOther, "the target has no tensor cores for {}", dtype.str());
  }
  plan.halves = plan.row_element->name == "f16" && !features.tensor_cores.bfloat16;  // sm_75
  plan.step = mma_terms(*plan.row_element);
  if (!mma_intrinsic(mma_product_name(*plan.row_element, *plan.column_element, plan.sum, plan.halves,
                                      plan.is_column_first)))
    return Reason(Reason::kForm, "tensor cores do not add products of {} and {} in {}", row->dtype.str(),
                  column->dtype.str(), plan.sum.str());
  return plan;
}

int64_t rounded_up(int64_t value, int64_t part) { return (value + part - 1) / part * part; }

int64_t element_bytes(const MmaPlan& plan) { return kStepBytes / plan.step; }

int64_t shared_bytes(const MmaPlan& plan) {
  constexpr int64_t kPadding = 32;  // of each row, of columns or of terms
  return (plan.rows() + plan.columns()) * (plan.terms * element_bytes(plan) + kPadding) +
         plan.terms * 2 * kPadding;
}

int64_t registers_of_thread(const MmaPlan& plan) {
  const int64_t sums = plan.warp_rows * plan.warp_columns / kMmaLanes * plan.sum.num_bytes() / 4,
                factors = (plan.warp_rows + plan.warp_columns) * kStepBytes / kMmaLanes / 4;
  return sums + factors + kGpuCosts.other_registers;
}

// The cycles that the busiest multiprocessor takes; nothing if the tiles do not fit.
std::optional<double> cycles_of(const MmaPlan& plan, const ProductSizes& sizes, const GpuFeatures& features) {
  const int64_t blocks =
      product(sizes.batch, product(rounded_up(sizes.rows, plan.rows()) / plan.rows(),
                                   rounded_up(sizes.columns, plan.columns()) / plan.columns()));
  const auto steps = static_cast<double>(rounded_up(sizes.terms, plan.terms) / plan.step),
             tile_bytes = static_cast<double>((plan.rows() + plan.columns()) * kStepBytes),
             read_bytes =
                 static_cast<double>(plan.warps() * (plan.warp_rows + plan.warp_columns) * kStepBytes),
             bank_bytes = static_cast<double>(features.banks * features.bank_bytes),
             issued =
                 static_cast<double>(features.fma_per_cycle_per_sm) / static_cast<double>(features.warp_size);
  // elements of half the bytes are multiplied twice as fast
  const double rate = static_cast<double>(std::max<int64_t>(features.tensor_fma_per_cycle_per_sm, 1)) * 2 /
                      static_cast<double>(element_bytes(plan));
  const double multiplied = static_cast<double>(plan.rows() * plan.columns() * plan.step) / rate,
               copied = 2 * tile_bytes /
                        static_cast<double>(features.vector_load_bytes * features.warp_size) / issued;
  return target::cycles_of({.blocks = blocks,
                            .threads = plan.warps() * kMmaLanes,
                            .registers_per_thread = registers_of_thread(plan),
                            .shared_bytes = shared_bytes(plan),
                            .instructions = steps * (multiplied + copied),
                            .shared = steps * (read_bytes + tile_bytes) / bank_bytes,
                            .cache = steps * tile_bytes * static_cast<double>(features.num_sms) /
                                     static_cast<double>(features.l2_bytes_per_cycle)},
                           features);
}

}  // namespace

OrReason<MmaPlan> plan_mma(const BlockShape& sum, const GpuFeatures& features) {
  if (features.warp_size != kMmaLanes || features.tensor_fma_per_cycle_per_sm == 0)
    return Reason(Reason::kOther, "the target has no tensor cores");
  const OrReason<ProductAxes> axes = product_axes(sum);
  if (!axes) return axes.reason();
  const OrReason<MmaPlan> typed = plan_of_types(sum, *axes, features);
  if (!typed) return typed.reason();
  const ProductSizes sizes = product_sizes(sum, *axes);
  if (const auto reason = too_few_results(sum, sizes)) return *reason;
  MmaPlan plan = *typed;
  plan.terms = std::clamp<int64_t>(static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(sizes.terms))),
                                   plan.step, kRowBytes / element_bytes(plan));
  const int64_t most_warps = std::min(kGpuCosts.block_threads, features.max_threads_per_block) / kMmaLanes;
  std::optional<double> least;
  MmaPlan best = plan;
  for (plan.warp_rows = kMmaSize; plan.warp_rows <= 4 * kMmaSize; plan.warp_rows *= 2) {
    for (plan.warp_columns = kMmaSize; plan.warp_columns <= 4 * kMmaSize; plan.warp_columns *= 2) {
      for (plan.warps_down = 1; plan.warps_down <= most_warps; plan.warps_down *= 2) {
        for (plan.warps_across = 1; plan.warps() <= most_warps; plan.warps_across *= 2) {
          const std::optional<double> cycles = cycles_of(plan, sizes, features);
          if (!cycles || (least && *cycles >= *least)) continue;
          least = cycles;
          best = plan;
        }
      }
    }
  }
  if (!least)
    return Reason(Reason::kForm, "no tile of block {} for tensor cores fits into {} bytes of shared memory",
                  sum.block->name_hint, features.shared_bytes_per_block);
  return best;
}

}  // namespace tilewright::schedule
