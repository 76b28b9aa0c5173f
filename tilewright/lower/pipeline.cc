// The order of the steps.  steps/ says what each of them does, needs and removes; check_order (step.h)
// compares the order with that.
#include "tilewright/lower/pipeline.h"

#include <map>

#include "tilewright/support/error.h"

namespace tilewright::lower {
namespace {

// The step called `name`; called `place` where a pipeline has it several times.
Step step(std::string_view name, std::string_view place = {}) {
  return {&find_step(name), {}, kNothing, place};
}

std::vector<Step> steps(std::initializer_list<std::string_view> names) {
  std::vector<Step> all;
  for (std::string_view name : names) all.push_back(step(name));
  return all;
}

// ---- for all CPUs

Group flat_loops() {
  return {"flat loops", "blocks and buffers of several dimensions become loops over flat memory",
          steps({
              "check_sizes",
              "check_bounds",
              "lower_returns",
              "lower_match_buffer",
              "init_empty_reductions",
              "lower_init",
              "place_allocations",
              "lower_blocks",
              "simplify",
              "compact_buffers",
              "interleave_virtual_threads",
              "partition_loops",
              "flatten_buffers",
              "pack_elements",
              "double_buffer",
              "software_pipeline",
              "share_storage",
              "unswitch_loops",
          })};
}

Group calls() {
  return {"calls",
          "functions that machines lack become arithmetic",
          {
              step("simplify", "simplify_copies"),  // guards that hold in a copy go
              step("spell_out_calls"),
          }};
}

Group less_work() {
  return {"less work", "nothing is computed twice or for nothing",
          steps({"hoist_expression", "remove_no_op"})};
}

// Floats of 16 and 8 bits, all of them or but for the arithmetic of float16.
Step widened_floats(bool keeps_float16) {
  return {&find_step("widen_floats"),
          {{"keep_float16", ir::attr(keeps_float16)}},
          keeps_float16 ? kHalfFloats : kNothing};
}

// ---- additional steps for machine code

Group copies() {
  return {"copies", "bodies of unrolled loops stand one after the other", steps({"unroll_loops"})};
}

Group vectors() {
  return {"vectors",
          "loops become vectors",
          {
              step("vectorize_loops"),
              widened_floats(true),
              step("simplify", "simplify_flat"),
              step("whole_registers"),
          }};
}

// ---- additional steps for C: loops that are marked vectorized or unrolled stay loops

Group scalars() {
  return {"scalars",
          "vectors, which C does not have, become numbers",
          {
              step("narrow_indices"),
              step("scalarize_vectors"),
              widened_floats(false),
              step("simplify", "simplify_flat"),
          }};
}

Group names() {
  return {"names", "what is computed several times has a name", steps({"common_subexpr_elim"})};
}

// ---- for GPUs

// What a device language has.
struct GpuLanguage {
  std::string_view kind;     // of target
  int64_t warp_size;         // threads that exchange registers; 0: none can
  bool has_async_copies;     // to shared memory
  bool has_half_arithmetic;  // of float16
  int64_t vector_bytes;      // the longest vectors in memory
};
// OpenCL: subgroups and halves are extensions, which PoCL and others lack.
constexpr GpuLanguage kGpuLanguages[] = {
    {"cuda", 32, true, true, 16}, {"metal", 32, false, true, 16}, {"opencl", 0, false, false, 16}};

Step with_options(std::string_view name, ir::AttrMap options, Constructs keeps = kNothing) {
  return {&find_step(name), std::move(options), keeps};
}

Group kernels(const GpuLanguage& language) {
  return {"kernels",
          "blocks become kernels over flat memory, whose threads wait for each other",
          {
              step("check_sizes"),
              step("lower_returns"),
              step("lower_match_buffer"),
              with_options("lower_thread_reductions", {{"warp_size", ir::attr(language.warp_size)}}),
              step("init_empty_reductions"),
              step("lower_init"),
              step("place_allocations"),
              step("lower_blocks"),
              step("remove_unit_loops"),
              step("simplify"),
              step("unify_threads"),
              with_options("lower_warp_memory", {{"warp_size", ir::attr(language.warp_size)}}),
              step("compact_buffers"),
              step("interleave_virtual_threads"),
              step("flatten_buffers"),
              step("pack_elements"),
              step("double_buffer"),
              with_options("software_pipeline", {{"async_copies", ir::attr(language.has_async_copies)}}),
              step("lift_shared_memory"),
              step("share_storage"),
              step("insert_barriers"),
          }};
}

Group lanes(const GpuLanguage& language) {
  return {"lanes",
          "vectors are as long as those of the language",
          {
              step("vectorize_loops"),
              step("narrow_indices"),
              with_options("scalarize_vectors", {{"keep_bytes", ir::attr(language.vector_bytes)}}, kVectors),
              widened_floats(language.has_half_arithmetic),
              step("simplify", "simplify_flat"),
          }};
}

Pipeline pipeline_of(const GpuLanguage& language) {
  return {language.kind,
          {kernels(language), calls(), lanes(language), less_work()},
          kUnrolledLoops | kVectors | kHalfFloats};
}

}  // namespace

const Pipeline& gpu_pipeline(std::string_view kind) {
  static const std::map<std::string_view, Pipeline> pipelines = [] {
    std::map<std::string_view, Pipeline> all;
    for (const GpuLanguage& language : kGpuLanguages) all.emplace(language.kind, pipeline_of(language));
    return all;
  }();
  const auto found = pipelines.find(kind);
  TILEWRIGHT_CHECK(found != pipelines.end(), "there is no pipeline for target {}", kind);
  return found->second;
}

std::vector<const Pipeline*> all_pipelines() {
  std::vector<const Pipeline*> all = {&llvm_pipeline(), &c_pipeline()};
  for (const GpuLanguage& language : kGpuLanguages) all.push_back(&gpu_pipeline(language.kind));
  return all;
}

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
