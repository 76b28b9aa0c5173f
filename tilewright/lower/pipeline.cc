#include "tilewright/lower/pipeline.h"

#include "tilewright/analysis/empty_reductions.h"
#include "tilewright/arith/analyzer.h"
#include "tilewright/lower/passes/passes.h"

namespace tilewright::lower {
namespace {

tir::PrimFunc simplify(const tir::PrimFunc& func) { return arith::simplify(func); }

// ---- for all CPUs

Group flat_loops() {
  return {"flat loops",
          "blocks and buffers of several dimensions become loops over flat memory",
          {
              {.name = "check_sizes",
               .doc = "what indices need of the sizes of a call is asked at the start",
               .run = without_options<check_sizes>},
              {.name = "check_bounds",
               .doc = "accesses that are not proved to be in their buffers, and divisions by 0, are checked, "
                      "where asked for",
               .uses = kManyDimensions,
               .run = without_options<check_bounds>},
              {.name = "lower_returns",
               .doc = "numbers that are returned are stored for the caller",
               .ends = kReturns,
               .run = without_options<lower_returns>},
              {.name = "lower_match_buffer",
               .doc = "views of regions become accesses of what they view",
               .uses = kBlocks,
               .ends = kViews,
               .run = without_options<lower_match_buffer>},
              {.name = "init_empty_reductions",
               .doc = "reductions over nothing get their init",
               .uses = kBlocks | kInits,
               .run = without_options<analysis::init_empty_reductions>},
              {.name = "lower_init",
               .doc = "inits of reductions run at their start",
               .uses = kBlocks,
               .ends = kInits,
               .run = without_options<lower_init>},
              {.name = "place_allocations",
               .doc = "buffers are allocated where they are used",
               .uses = kBlocks,
               .without = kViews,
               .ends = kBlockBuffers,
               .run = without_options<place_allocations>},
              {.name = "lower_blocks",
               .doc = "blocks become loops with guards",
               .without = kViews | kInits | kBlockBuffers,
               .ends = kBlocks,
               .run = without_options<lower_blocks>},
              {.name = "simplify",
               .doc = "expressions are simplified under loop ranges",
               .run = without_options<simplify>},
              {.name = "compact_buffers",
               .doc = "each buffer is only as large as its touched region",
               .uses = kManyDimensions,
               .without = kBlocks,
               .run = without_options<compact_buffers>},
              {.name = "interleave_virtual_threads",
               .doc = "virtual threads are interleaved",
               .without = kBlocks,
               .ends = kVirtualThreads,
               .run = without_options<interleave_virtual_threads>},
              {.name = "double_buffer",
               .doc = "memory is filled an iteration ahead, where asked for",
               .without = kBlocks,
               .run = without_options<double_buffer>},
              {.name = "partition_loops",
               .doc = "guards that only the last iterations need leave the others",
               .without = kBlocks,
               .run = without_options<partition_loops>},
              {.name = "flatten_buffers",
               .doc = "A[i, j] becomes A[i * 128 + j]",
               .without = kBlocks,
               .ends = kManyDimensions,
               .run = without_options<flatten_buffers>},
              {.name = "pack_elements",
               .doc = "integers of less than 8 bits become parts of bytes",
               .without = kManyDimensions,
               .ends = kPartsOfBytes,
               .run = without_options<pack_elements>},
              {.name = "share_storage",
               .doc = "buffers that do not live at the same time share memory",
               .without = kManyDimensions | kPartsOfBytes,
               .run = without_options<share_storage>},
              {.name = "unswitch_loops",
               .doc = "choices that all copies of a body share are made before them",
               .uses = kUnrolledLoops | kVectorLoops,
               .run = without_options<unswitch_loops>},
          }};
}

Group calls() {
  return {"calls",
          "what no machine has is spelled out",
          {
              {.name = "simplify_copies",
               .doc = "guards that hold in a copy go",
               .run = without_options<simplify>},
              {.name = "spell_out_calls",
               .doc = "functions that machines lack are spelled out",
               .ends = kMissingCalls,
               .run = without_options<spell_out_calls>},
          }};
}

Step simplify_flat() {
  return {.name = "simplify_flat",
          .doc = "flat indices are simplified",
          .without = kManyDimensions,
          .run = without_options<simplify>};
}

Group less_work() {
  return {"less work",
          "nothing is computed twice or for nothing",
          {
              {.name = "hoist_expression",
               .doc = "what no iteration of a loop changes is decided before it",
               .without = kBlocks,
               .run = without_options<hoist_expression>},
              {.name = "remove_no_op",
               .doc = "statements that compute nothing are gone",
               .run = without_options<remove_no_op>},
          }};
}

// Floats computed in float32: all small ones, or all but float16 arithmetic.
Step widened_floats(bool keeps_float16) {
  return {.name = "widen_floats",
          .doc = "floats of 8 and 16 bits are computed in float32",
          .without = kMissingCalls,
          .ends = kSmallFloats | (keeps_float16 ? kNothing : kHalfFloats),
          .run =
              [](const tir::PrimFunc& func, const ir::AttrMap& options) {
                return widen_floats(func, ir::from_attrs<WidenFloatsOptions>(options, "step widen_floats"));
              },
          .schema = &ir::option_schema<WidenFloatsOptions>,
          .options = ir::to_attrs(WidenFloatsOptions{.keep_float16 = keeps_float16})};
}

// ---- additional steps for machine code

Group copies() {
  return {"copies",
          "bodies of unrolled loops stand one after the other",
          {{.name = "unroll_loops",
            .doc = "unrolled loops become copies",
            .ends = kUnrolledLoops,
            .run = without_options<unroll_loops>}}};
}

Group vectors() {
  return {"vectors",
          "loops become vectors",
          {
              {.name = "vectorize_loops",
               .doc = "vectorized loops become vector expressions",
               .uses = kVectorLoops,
               .without = kManyDimensions | kPartsOfBytes,
               .ends = kVectorLoops,
               .makes = kVectors,
               .run = without_options<vectorize_loops>},
              widened_floats(true),
              simplify_flat(),
              {.name = "whole_registers",
               .doc = "lanes of registers that hold nothing need no mask",
               .uses = kVectors,
               .without = kVectorLoops,
               .run = without_options<whole_registers>},
          }};
}

// ---- additional steps for C: loops that are marked vectorized or unrolled stay loops

Group scalars() {
  return {"scalars",
          "what C has no values of becomes numbers",
          {
              {.name = "narrow_indices",
               .doc = "int64 becomes int32 where all values fit",
               .without = kManyDimensions,
               .run = without_options<narrow_indices>},
              {.name = "scalarize_vectors",
               .doc = "vector expressions become loops over lanes",
               .uses = kVectors,
               .without = kManyDimensions,
               .ends = kVectors,
               .run = without_options<scalarize_vectors>},
              widened_floats(false),
              simplify_flat(),
          }};
}

Group names() {
  return {"names",
          "what is computed several times has a name",
          {{.name = "common_subexpr_elim",
            .doc = "what is computed several times is computed once",
            .without = kBlocks,
            .run = without_options<common_subexpr_elim>}}};
}

}  // namespace

const Pipeline& llvm_pipeline() {
  static const Pipeline pipeline = {
      "llvm", {flat_loops(), copies(), calls(), vectors(), less_work()}, kVectors | kHalfFloats};
  return pipeline;
}

const Pipeline& c_pipeline() {
  static const Pipeline pipeline = {
      "c", {flat_loops(), calls(), scalars(), less_work(), names()}, kUnrolledLoops | kVectorLoops};
  return pipeline;
}

}  // namespace tilewright::lower
