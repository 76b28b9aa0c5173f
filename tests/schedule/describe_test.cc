// A schedule's view of its program.
#include "tilewright/schedule/describe.h"

#include "schedule_testing.h"

namespace tilewright::schedule {
namespace {

constexpr std::string_view kTwoBlocks = R"(
    @T.prim_func
    def main(A: T.Buffer((8, 7), "float32"), C: T.Buffer((8,), "float32")):
        Y = T.alloc_buffer((8,))
        for i, k in T.grid(8, 7):
            with T.block("Y"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    Y[vi] = T.float32(0)
                Y[vi] = Y[vi] + A[vi, vk]
        for i in range(8):
            with T.block("C"):
                vi = T.axis.spatial(8, i)
                C[vi] = T.max(Y[vi], T.float32(0))
)";

TEST(Describe, TreeShowsLoopsBlocksAndLivingHandles) {
  Schedule sch(module_of(kTwoBlocks));
  const BlockRef c = sch.call("get_block", "C").block();
  const LoopRef i = sch.call("get_loops", c).loops()[0];
  sch.call("split", i, Factors{None{}, int64_t{4}});
  sch.call("parallel", sch.call("get_loops", c).loops()[0]);
  EXPECT_EQ(tree_text(sch.state()), dedent(R"(
    main:
      block root
        for i in [0, 8)
          for k in [0, 7)
            block Y SR
        for i_0 in [0, 2) parallel  # l2 l4
          for i_1 in [0, 4)  # l3 l5
            block C S  # b0
  )"));
}

TEST(Describe, DependencesAreListedByBuffer) {
  const Schedule sch(module_of(kTwoBlocks));
  const std::vector<Dependence> found = dependences_of(sch.state(), sch.state().funcs()[0].root);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].from + " " + found[0].to + " " + found[0].kind + " " + found[0].buffer, "Y C RAW Y");
}

TEST(Describe, PropertiesOfBlocksHaveReasons) {
  Schedule sch(module_of(R"(
    @T.prim_func
    def main(A: T.Buffer((8,), "float32")):
        for i in range(7):
            with T.block("A"):
                vi = T.axis.spatial(7, i)
                A[vi + 1] = A[vi] + T.float32(1)
  )"));
  const NodeId block = sch.state()[sch.call("get_block", "A").block()];
  const auto properties = properties_of(sch.state(), block);
  EXPECT_EQ(properties[0].second, "");
  EXPECT_EQ(properties[3].second, "block A writes A, a parameter of the function");
}

}  // namespace
}  // namespace tilewright::schedule
