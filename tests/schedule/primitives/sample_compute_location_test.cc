// sample_compute_location: a legal loop for a block.
#include "primitive_programs.h"
#include "schedule_testing.h"

namespace tilewright::schedule {
namespace {

TEST(SampleComputeLocation, EveryPlaceIsLegal) {
  for (uint64_t seed = 0; seed < 6; ++seed) {
    const IRModule module = module_of(kChain);
    Schedule sch(module, {.seed = seed, .verify_steps = true});
    const BlockRef block = sch.call("get_block", "B").block();
    sch.call("compute_at", block, sch.call("sample_compute_location", block).loop(), true);
    expect_same_numbers(module, sch.module());
    Schedule again(module);
    Trace::load_json(sch.trace().save_json()).apply_to(again);
    EXPECT_EQ(show(again.module()), show(sch.module()));
  }
}

TEST(SampleComputeLocation, DecisionsNameThePlace) {
  check_schedule(
      kChain,
      [](Schedule& sch) {
        sch.call("compute_at", "B", sch.call("sample_compute_location", "B", 0).loop());
        sch.call("compute_at", "B", sch.call("sample_compute_location", "B", -1).loop());
      },
      R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7), "float32"), C: T.Buffer((5, 7), "float32")):
        B = T.alloc_buffer((5, 7))
        for i in range(5):
            for ax0 in range(7):
                with T.block("B"):
                    vi, vj = T.axis.remap("SS", [i, ax0])
                    B[vi, vj] = A[vi, vj] * T.float32(2)
            for j in range(7):
                with T.block("C"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    C[vi, vj] = B[vi, vj] + T.float32(1)
  )");
  check_schedule(
      kChain,
      [](Schedule& sch) { sch.call("compute_at", "B", sch.call("sample_compute_location", "B", -2).loop()); },
      R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7), "float32"), C: T.Buffer((5, 7), "float32")):
        for i, j in T.grid(5, 7):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = A[vi, vj] * T.float32(2) + T.float32(1)
  )");
}

TEST(SampleComputeLocation, OtherPrimitivesDoNotTakeAPlace) {
  check_refused(
      kChain, [](Schedule& sch) { sch.call("unroll", sch.call("sample_compute_location", "B", -1).loop()); },
      R"(
    error: unroll: l1 stands for a place that is no loop
    help: only compute_at and reverse_compute_at take it
  )");
  check_refused(kChain, [](Schedule& sch) { sch.call("sample_compute_location", "B", 2); }, R"(
    error: sample_compute_location: decision 2 is none of the 2 loops around what reads block B
      f.py:5:14
       4 |     for i, j in T.grid(5, 7):
       5 |         with T.block("B"):
         |              ^^^^^^^^^^^^
       6 |             vi, vj = T.axis.remap("SS", [i, j])
    help: -1 leaves the block where it is, -2 inlines it
  )");
}

}  // namespace
}  // namespace tilewright::schedule
