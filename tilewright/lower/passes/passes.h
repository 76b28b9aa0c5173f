// The passes of the lowering pipelines, one file each; lower/pipeline.cc defines their order.
#pragma once
#include "tilewright/ir/module.h"
#include "tilewright/ir/target.h"
#include "tilewright/lower/abi.h"
#include "tilewright/tir/tir.h"

namespace tilewright::lower {
using namespace tir;

/// Annotation.  On a block: the number of the written buffer that gets two halves; on an allocation: that it
/// does.
inline constexpr std::string_view kDoubleBuffer = "double_buffer_scope";
/// Annotation of storage_align.  On a block: [[number of the written buffer, axis, factor, offset], ...]; on
/// an allocation: the entries for its buffer.
inline constexpr std::string_view kStorageAlign = "buffer_dim_align";

/// Attribute of a function whose accesses are checked at run time; the value is the function's name in
/// messages.
inline constexpr std::string_view kCheckBounds = "check_bounds";

/// The same for a function whose divisions in indices and extents are checked.
inline constexpr std::string_view kCheckDivisions = "check_divisions";

/// Conditions found by with_size_checks (check_sizes.h)  ->  checked at the start.
PrimFunc check_sizes(const PrimFunc& func);

/// Functions with the attribute kCheckBounds  ->  an error before each access that leaves its buffer; with it
/// or kCheckDivisions, an error before each division by 0 in an index or extent.
PrimFunc check_bounds(const PrimFunc& func);
/// True if check_bounds would find such a division in the function called `name`.
bool may_divide_by_zero(const std::string& name, const PrimFunc& func);

/// Returned values  ->  stored for the caller; the function then returns a status.
PrimFunc lower_returns(const PrimFunc& func);
/// Blocks with init  ->  the init runs where all reduce axes are at their first value.
PrimFunc lower_init(const PrimFunc& func);
/// Buffers allocated in blocks  ->  each allocated around the smallest statement that contains its uses and
/// the loops over which its values live.
PrimFunc place_allocations(const PrimFunc& func);
/// Views of match_buffer in blocks  ->  accesses of the viewed buffers.
PrimFunc lower_match_buffer(const PrimFunc& func);
/// Blocks  ->  loops with guards; axes are replaced by their values.
PrimFunc lower_blocks(const PrimFunc& func);
/// Allocations  ->  shrunk to the region that is touched during their lifetime.
PrimFunc compact_buffers(const PrimFunc& func);
/// Loops over virtual threads  ->  unrolled loops, as far inside as possible.
PrimFunc interleave_virtual_threads(const PrimFunc& func);
/// Memory filled and used in each iteration of a loop, where requested  ->  two halves, one filled an
/// iteration ahead.
PrimFunc double_buffer(const PrimFunc& func);
/// Loops with guards that hold for all but their last iterations  ->  two loops, the first without guards.
PrimFunc partition_loops(const PrimFunc& func);
/// A[i, j]  ->  A[i * stride + j]; all buffers have one dimension.
PrimFunc flatten_buffers(const PrimFunc& func);
/// Integers of less than 8 bits  ->  int8 and uint8; in memory they are packed into bytes.
PrimFunc pack_elements(const PrimFunc& func);
/// Buffers that are never live at the same time  ->  one.
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
/// Vectorized loops  ->  vector expressions; bodies without a vector form become serial loops.
PrimFunc vectorize_loops(const PrimFunc& func);
/// Vector expressions  ->  loops over their lanes, for languages without vectors.
PrimFunc scalarize_vectors(const PrimFunc& func);
/// Masks of stores to registers  ->  removed where the other lanes hold no values.
PrimFunc whole_registers(const PrimFunc& func);
/// Statements without effect  ->  removed; blocks stay.
PrimFunc remove_no_op(const PrimFunc& func);
/// Conditions and definitions that are the same in every iteration of a loop  ->  moved before the loop.
PrimFunc hoist_expression(const PrimFunc& func);
/// Selections (T.if_then_else) that no iteration of an unrolled or vectorized loop changes  ->  a branch
/// before it.
PrimFunc unswitch_loops(const PrimFunc& func);
/// Arithmetic that a statement repeats  ->  done once, before it; not in functions with blocks.
PrimFunc common_subexpr_elim(const PrimFunc& func);
/// Unrolled loops  ->  copies of their body.
PrimFunc unroll_loops(const PrimFunc& func);
/// A function  ->  lowered functions (lower/lowered.h): entry with argument checks, compute, parallel bodies.
IRModule split_functions(const std::string& name, const PrimFunc& func, const KernelAbi& abi);

}  // namespace tilewright::lower
