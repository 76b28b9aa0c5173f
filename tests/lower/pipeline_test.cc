// The pipelines as lists: order, options, what steps are told and what is checked after them.
#include "tilewright/lower/pipeline.h"

#include <gmock/gmock.h>

#include <set>

#include "lower_testing.h"
#include "tilewright/lower/lower.h"
#include "tilewright/lower/verify_step.h"
#include "tilewright/support/error.h"
#include "tilewright/tir/builder.h"

namespace tilewright::lower {
namespace {

using testing::ElementsAre;

std::vector<std::string> groups_of(const Pipeline& pipeline) {
  std::vector<std::string> names;
  for (const Group& group : pipeline.groups) names.emplace_back(group.name);
  return names;
}

template <class Run>
std::string error_of(Run run) {
  try {
    run();
  } catch (const Error& error) {
    return error.text();
  }
  return "";
}

constexpr std::string_view kScaled = R"(
  @T.prim_func
  def main(A: T.Buffer((5, 7), "float32"), B: T.Buffer((5, 7), "float32")):
      for i, j in T.grid(5, 7):
          with T.block("B"):
              vi, vj = T.axis.remap("SS", [i, j])
              B[vi, vj] = A[vi, vj] * T.float32(2)
)";

TEST(Pipeline, OfLlvm) {
  EXPECT_THAT(groups_of(llvm_pipeline()),
              ElementsAre("flat loops", "copies", "calls", "vectors", "less work"));
  check_order(llvm_pipeline());
}

TEST(Pipeline, OfC) {
  EXPECT_THAT(groups_of(c_pipeline()), ElementsAre("flat loops", "calls", "scalars", "less work", "names"));
  check_order(c_pipeline());
}

TEST(Pipeline, OfGpus) {
  for (const char* kind : {"cuda", "opencl", "metal"}) {
    EXPECT_THAT(groups_of(gpu_pipeline(kind)), ElementsAre("kernels", "calls", "lanes", "less work"));
    check_order(gpu_pipeline(kind));
  }
  EXPECT_EQ(error_of([] { gpu_pipeline("webgpu"); }), "there is no pipeline for target webgpu");
}

TEST(Pipeline, PlacesHaveNamesOfTheirOwn) {
  for (const Pipeline* pipeline : all_pipelines()) {
    std::set<std::string_view> names;
    for (const Step* step : pipeline->steps()) EXPECT_TRUE(names.insert(step->name()).second) << step->name();
  }
}

TEST(Pipeline, EachStepHasAPlace) {
  std::set<std::string_view> placed;
  for (const Pipeline* pipeline : all_pipelines()) {
    for (const Step* step : pipeline->steps()) placed.insert(step->info->name);
  }
  for (size_t n = 0; n < k_steps_count; ++n)
    EXPECT_TRUE(placed.contains(k_steps[n]->name)) << k_steps[n]->name << " is in no list of pipeline.cc";
  EXPECT_EQ(error_of([] { find_step("lower_blockz"); }), "there is no lowering step \"lower_blockz\"");
}

const Step& step_of_llvm(std::string_view name) {
  for (const Step* step : llvm_pipeline().steps()) {
    if (step->name() == name) return *step;
  }
  throw InternalError("no step");
}

Pipeline pipeline_of(std::vector<std::string_view> names, Constructs takes) {
  Group group{.name = "some", .doc = "", .steps = {}};
  for (std::string_view name : names) group.steps.push_back(step_of_llvm(name));
  return {"test", {group}, takes};
}

TEST(Pipeline, OrderIsChecked) {
  EXPECT_EQ(
      error_of([] { check_order(pipeline_of({"lower_match_buffer", "lower_blocks"}, kAnything)); }),
      "pipeline test: lower_blocks takes programs without inits of reductions, buffers of blocks, which "
      "nothing before it removes");
  EXPECT_EQ(error_of([] {
              check_order(pipeline_of({"lower_match_buffer", "lower_init", "place_allocations",
                                       "lower_blocks", "place_allocations"},
                                      kAnything));
            }),
            "pipeline test: place_allocations works on blocks, which is gone before it");
  EXPECT_EQ(error_of([] { check_order(pipeline_of({"lower_returns"}, kAnything & ~kReturns & ~kVectors)); }),
            "pipeline test leaves vectors, for which there is no code");
}

TEST(Pipeline, StepsHaveOptions) {
  const Step& step = step_of_llvm("widen_floats");
  ASSERT_EQ(step.info->schema().size(), 1u);
  EXPECT_EQ(step.info->schema()[0].name, "keep_float16");
  EXPECT_TRUE(step.options.get_bool("keep_float16", false));
  const PrimFunc func = func_of(kScaled);
  EXPECT_EQ(error_of([&] { step.info->run(func, {{"keep_float8", bool_imm(true)}}); }),
            "step widen_floats: there is no option \"keep_float8\"");
  EXPECT_EQ(error_of([&] { find_step("simplify").run(func, {{"speed", imm(3)}}); }),
            "this step: there is no option \"speed\"");
}

TEST(Pipeline, EachStepIsTimed) {
  for (const bool is_c : {false, true}) {
    std::vector<std::string> seen;
    const LowerOptions options{
        .observe = [&](const Step& step, const PrimFunc& after, const ir::PassRecord& record) {
          EXPECT_EQ(step.name(), record.name);
          EXPECT_GE(record.seconds, 0);
          EXPECT_TRUE(after);
          if (record.changed) seen.emplace_back(record.name);
        }};
    is_c ? lower_for_c("f", func_of(kScaled), options) : lower_for_cpu("f", func_of(kScaled), options);
    std::vector<std::string> expected = {"lower_blocks", "flatten_buffers"};
    if (is_c) expected.emplace_back("common_subexpr_elim");
    EXPECT_EQ(seen, expected);
  }
}

constexpr std::string_view kEverything = R"(
  @T.prim_func
  def main(A: T.Buffer((5, 7), "bfloat16"), B: T.Buffer((5, 8), "float32")) -> T.int64:
      with T.block("root"):
          S = T.alloc_buffer((5,), "int4")
          for i in T.unroll(5):
              for j in T.vectorized(7):
                  with T.block("B"):
                      vi, vj = T.axis.remap("SR", [i, j])
                      W = T.match_buffer(B[vi, vj], (1, 1), offset_factor=1)
                      with T.init():
                          B[vi, 0] = T.float32(0)
                      B[vi, 0] = B[vi, 0] + T.Cast("float32", A[vi, vj] * A[vi, vj])
          for v in T.thread_binding(5, "vthread.x"):
              S[v] = T.int4(1)
              B[v, 0:8] = T.ldexp(B[v, 0:8], T.Broadcast(1, 8))
          T.evaluate(T.ret(T.int64(3)))
)";

TEST(Constructs, AreFound) {
  EXPECT_EQ(constructs_text(constructs_of(func_of(kEverything))),
            "returns of numbers, blocks, views of regions, inits of reductions, buffers of blocks, virtual "
            "threads, "
            "accesses of several dimensions, elements of less than 8 bits, unrolled loops, vectorized loops, "
            "vectors, "
            "functions that machines lack, arithmetic on floats of 8 bits and bfloat16");
  EXPECT_EQ(constructs_of(func_of(R"(
    @T.prim_func
    def main(A: T.Buffer((5,), "float16")):
        for i in range(5):
            A[i] = A[i] + A[i]
            T.evaluate(T.ret(0))
  )")),
            kHalfFloats);
}

TEST(VerifyStep, RefusesWhatIsNotGone) {
  const PrimFunc func = func_of(kScaled);
  EXPECT_EQ(error_of([&] { verify_step(step_of_llvm("lower_blocks"), func, kAnything & ~kBlocks); }),
            "lowering step lower_blocks left blocks");
  verify_step(step_of_llvm("lower_blocks"), func, kAnything);
}

TEST(VerifyStep, RefusesMalformedPrograms) {
  const PrimFunc func = func_of(kScaled);
  const Var lost = make_var("lost", kInt32);
  const PrimFunc wrong = with(
      func, [&](PrimFuncNode& changed) { changed.body = seq({EvaluateNode::make(lost), changed.body}); });
  EXPECT_EQ(error_of([&] { verify_step(step_of_llvm("simplify"), wrong, kAnything); }),
            "lowering step simplify made a malformed program: variable lost is used, but nothing defines it");
  EXPECT_EQ(error_of([&] { verify_lowered("f", with_function(IRModuleNode::make(), "f_compute", wrong)); }),
            "the functions that f was cut into are malformed: variable lost is used, but nothing defines it");
}

TEST(VerifyStep, FollowsWholePipelines) {
  const PrimFunc returning = func_of(R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7), "bfloat16"), n: T.int32) -> T.int64:
        for i, j in T.grid(5, 7):
            with T.block("A"):
                vi, vj = T.axis.remap("SS", [i, j])
                A[vi, vj] = A[vi, vj] * A[vi, vj]
        T.evaluate(T.ret(T.Cast("int64", n)))
  )");
  for (const PrimFunc& func : {func_of(kScaled), returning}) {
    lower_for_cpu("f", func, {.verify = true});
    lower_for_c("f", func, {.verify = true});
  }
}

TEST(KernelAbi, PlacesOfMembersFollowThePointers) {
  const KernelAbi wide, narrow{.pointer_bytes = 4}, i386{.pointer_bytes = 4, .int64_alignment = 4};
  EXPECT_THAT((std::vector{wide.shape(), wide.strides(), wide.byte_offset(), wide.tensor_bytes()}),
              ElementsAre(24, 32, 40, 48));
  EXPECT_THAT((std::vector{narrow.shape(), narrow.strides(), narrow.byte_offset(), narrow.tensor_bytes()}),
              ElementsAre(20, 24, 32, 40));
  EXPECT_THAT((std::vector{i386.shape(), i386.strides(), i386.byte_offset(), i386.tensor_bytes()}),
              ElementsAre(20, 24, 28, 36));
  EXPECT_EQ(narrow.host_member(2), 16);
}

}  // namespace
}  // namespace tilewright::lower
