// The passes of the lowering pipelines, one file each; lower/pipeline.cc is their order.
#pragma once
#include "tilewright/ir/module.h"
#include "tilewright/ir/target.h"
#include "tilewright/lower/abi.h"
#include "tilewright/tir/tir.h"

namespace tilewright::lower {
using namespace tir;

/// Annotation: of a block, which of its writes gets two halves; of an allocation, that it does.
inline constexpr std::string_view kDoubleBuffer = "double_buffer_scope";
/// Annotation of storage_align: of a block, [[which of its writes, axis, factor, offset], ...]; of an
/// allocation, those that are about it.
inline constexpr std::string_view kStorageAlign = "buffer_dim_align";

/// Attribute of a function whose accesses are checked when it runs: what messages call the function.
inline constexpr std::string_view kCheckBounds = "check_bounds";

/// Attribute of a function whose divisions in indices and extents are checked so: what messages call it.
inline constexpr std::string_view kCheckDivisions = "check_divisions";

/// What with_size_checks (check_sizes.h) found  ->  asked at the start.
PrimFunc check_sizes(const PrimFunc& func);

/// Accesses of functions with the attribute kCheckBounds  ->  an error before each that leaves its buffer;
/// with it or kCheckDivisions: an error before each division in an index or extent by what is 0.
PrimFunc check_bounds(const PrimFunc& func);
/// Whether check_bounds would find such a division in the function called `name`.
bool may_divide_by_zero(const std::string& name, const PrimFunc& func);

/// Numbers that the function returns  ->  stored for the caller; what is returned is a status.
PrimFunc lower_returns(const PrimFunc& func);
/// Blocks with init  ->  the init runs where all reduce axes are at their start.
PrimFunc lower_init(const PrimFunc& func);
/// Blocks whose buffers are allocated inside  ->  each allocated around the smallest statement that holds its
/// uses and the loops over which its values live.
PrimFunc place_allocations(const PrimFunc& func);
/// Views of match_buffer in blocks  ->  accesses of what they view.
PrimFunc lower_match_buffer(const PrimFunc& func);
/// Blocks  ->  loops with guards; axes are replaced by their values.
PrimFunc lower_blocks(const PrimFunc& func);
/// Allocations  ->  only as large as what is touched while they live.
PrimFunc compact_buffers(const PrimFunc& func);
/// Loops over virtual threads  ->  unrolled loops, as far inside as they can go.
PrimFunc interleave_virtual_threads(const PrimFunc& func);
/// Memory filled and used in each turn of a loop, where asked for  ->  two halves, one filled a turn ahead.
PrimFunc double_buffer(const PrimFunc& func);
/// Loops with guards that hold for all but their last iterations  ->  two loops, the first without guards.
PrimFunc partition_loops(const PrimFunc& func);
/// A[i, j]  ->  A[i * stride + j]; all buffers have one dimension.
PrimFunc flatten_buffers(const PrimFunc& func);
/// Integers of less than 8 bits  ->  int8 and uint8; their elements lie side by side in bytes.
PrimFunc pack_elements(const PrimFunc& func);
/// Buffers that do not live at the same time  ->  one.
PrimFunc share_storage(const PrimFunc& func);
/// Loops and indices of int64  ->  of int32, where all values fit.
PrimFunc narrow_indices(const PrimFunc& func);
struct WidenFloatsOptions {
  bool keep_float16 = false;
  static constexpr auto fields() {
    return std::tuple{ir::field<&WidenFloatsOptions::keep_float16>(
        "keep_float16",
        "whether the machine has the arithmetic of float16; its functions (exp, pow) are widened still")};
  }
};
/// Arithmetic on floats of 8 and 16 bits  ->  on float32, each result rounded.
PrimFunc widen_floats(const PrimFunc& func, const WidenFloatsOptions& options = {});
/// Calls of functions that machines lack (ldexp, q_multiply_shift)  ->  arithmetic.
PrimFunc spell_out_calls(const PrimFunc& func);
/// Vectorized loops  ->  vector expressions; bodies that have no vector form become serial loops.
PrimFunc vectorize_loops(const PrimFunc& func);
/// Vector expressions  ->  loops over their lanes, for languages without vectors.
PrimFunc scalarize_vectors(const PrimFunc& func);
/// Masks of stores to registers  ->  gone where the other lanes hold nothing.
PrimFunc whole_registers(const PrimFunc& func);
/// Statements that compute nothing  ->  gone; blocks stay.
PrimFunc remove_no_op(const PrimFunc& func);
/// Conditions and definitions that are the same in every turn of a loop  ->  before the loop.
PrimFunc hoist_expression(const PrimFunc& func);
/// Choices (T.if_then_else) that no turn of an unrolled or vectorized loop changes  ->  a branch before it.
PrimFunc unswitch_loops(const PrimFunc& func);
/// Arithmetic that a statement does several times  ->  done once, before it; not in functions with blocks.
PrimFunc common_subexpr_elim(const PrimFunc& func);
/// Unrolled loops  ->  copies of their body.
PrimFunc unroll_loops(const PrimFunc& func);
/// The function  ->  lowered functions (lower/lowered.h): entry with argument checks, compute, parallel
/// bodies.
IRModule split_functions(const std::string& name, const PrimFunc& func, const KernelAbi& abi);

}  // namespace tilewright::lower
