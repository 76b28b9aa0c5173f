// The result of a step, asked for as something else.
#include "schedule_testing.h"
#include "tilewright/support/error.h"

namespace tilewright::schedule {
namespace {

constexpr std::string_view kProgram = R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7), "float32")):
        for i, j in T.grid(5, 7):
            with T.block("b"):
                vi, vj = T.axis.remap("SS", [i, j])
                A[vi, vj] = T.float32(0)
)";

std::string refused(const std::function<void(Schedule&)>& use) {
  Schedule sch(module_of(kProgram));
  try {
    use(sch);
  } catch (const UserError& error) {
    return error.render();
  }
  return "nothing is raised";
}

TEST(Result, ABlockIsNoLoop) {
  EXPECT_EQ(refused([](Schedule& sch) { sch.call("get_block", "b").loop(); }),
            "error: the result is not a loop");
}

TEST(Result, ABlockIsNoList) {
  EXPECT_EQ(refused([](Schedule& sch) { sch.call("get_block", "b").loops(); }),
            "error: the result is not a list of loops");
}

TEST(Result, TwoLoopsAreNotThree) {
  EXPECT_EQ(
      refused([](Schedule& sch) { sch.call("get_loops", sch.call("get_block", "b").block()).loops<3>(); }),
      "error: 3 loops are expected, but there are 2");
}

}  // namespace
}  // namespace tilewright::schedule
