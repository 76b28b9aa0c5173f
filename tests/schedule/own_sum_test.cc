// Programs whose T.reads names what a reduction adds to, as older versions print them.
#include "schedule_testing.h"

namespace tilewright::schedule {
namespace {

constexpr std::string_view kMatmul = R"(
    @T.prim_func
    def main(A: T.Buffer((5, 8), "float32"), B: T.Buffer((8, 7), "float32"), Y: T.Buffer((5, 7), "float32")):
        for i, j, k in T.grid(5, 7, 8):
            with T.block("Y"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                T.reads(Y[vi, vj], A[vi, vk], B[vk, vj])
                T.writes(Y[vi, vj])
                with T.init():
                    Y[vi, vj] = T.float32(0)
                Y[vi, vj] = Y[vi, vj] + A[vi, vk] * B[vk, vj]
)";

void check(const Steps& steps) { check_schedule(kMatmul, steps); }

TEST(OwnSum, IsWrittenToACache) {
  check([](Schedule& sch) { sch.call("cache_write", "Y", 0, "local"); });
  check([](Schedule& sch) {
    const BlockRef copy = sch.call("cache_write", "Y", 0, "local").block();
    sch.call("reverse_compute_at", copy, sch.call("get_loops", "Y").loops()[1]);
  });
}

TEST(OwnSum, IsReindexed) {
  check([](Schedule& sch) { sch.call("reindex", "Y", ArgValue{"write", 0}); });
}

TEST(OwnSum, IsFactored) {
  check([](Schedule& sch) {
    const LoopRef k = sch.call("get_loops", "Y").loops()[2];
    sch.call("rfactor", sch.call("split", k, Factors{None{}, int64_t{4}}).loops()[1], 0);
  });
}

TEST(OwnSum, IsPadded) {
  check([](Schedule& sch) { sch.call("pad_einsum", "Y", ArgValue{4, 4, 3}); });
}

TEST(OwnSum, IsDecomposedAndReordered) {
  check([](Schedule& sch) {
    const std::vector<LoopRef> loops = sch.call("get_loops", "Y").loops();
    sch.call("reorder", std::vector<LoopRef>{loops[2], loops[0], loops[1]});
    sch.call("decompose_reduction", "Y", loops[2]);
  });
}

// Without an init, a block that reads what it writes is no sum.
TEST(OwnSum, IsNoneWithoutAnInit) {
  check_refused(
      R"(
    @T.prim_func
    def main(A: T.Buffer((5,), "float32"), Y: T.Buffer((5,), "float32")):
        for i in range(5):
            with T.block("Y"):
                vi = T.axis.spatial(5, i)
                T.reads(Y[vi], A[vi])
                T.writes(Y[vi])
                Y[vi] = Y[vi] + A[vi]
  )",
      [](Schedule& sch) { sch.call("cache_write", "Y", 0, "local"); }, R"(
    error: cache_write: block Y reads Y, which it also writes
      f.py:4:14
       3 |     for i in range(5):
       4 |         with T.block("Y"):
         |              ^^^^^^^^^^^^
       5 |             vi = T.axis.spatial(5, i)
  )");
}

}  // namespace
}  // namespace tilewright::schedule
