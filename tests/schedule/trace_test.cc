// Traces are replayed as a whole or not at all; rules of the default schedule refuse, bugs come through.
#include "schedule_testing.h"
#include "tilewright/ir/services.h"
#include "tilewright/schedule/default/cpu/rules.h"

namespace tilewright::schedule {
namespace {

constexpr std::string_view kCopy = R"(
    @T.prim_func
    def main(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
        for i in range(8):
            with T.block("B"):
                vi = T.axis.spatial(8, i)
                B[vi] = A[vi]
)";

template <class Action>
std::string error_of(Action&& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.render();
  }
  return "nothing was raised";
}

Trace split_then(std::string_view primitive) {
  Schedule sch(module_of(kCopy));
  const LoopRef loop = sch.call("get_loops", "B").loops()[0];
  const auto halves = sch.call("split", loop, Factors{None{}, int64_t{4}}).loops();
  sch.call(primitive, halves[1]);
  return sch.trace();
}

TEST(Trace, AFailingReplayLeavesTheScheduleAsItWas) {
  Trace trace = split_then("vectorize");
  // the loop that is split again is no more
  trace.steps.push_back(trace.steps[2]);
  Schedule sch(module_of(kCopy));
  const IRModule before = sch.module();
  EXPECT_EQ(
      error_of([&] { trace.apply_to(sch); }),
      "error: split: loop handle l1 (i) was consumed by step 3, split(l1, factors=[None, 4]); its results "
      "are l2, l3\n"
      "note: at step 5 of the trace, split(l1, factors=[None, 4])");
  EXPECT_EQ(sch.module(), before);
  EXPECT_TRUE(sch.trace().steps.empty());
}

TEST(Trace, AReplayOntoItsOwnScheduleReadsTheTraceFirst) {
  Schedule sch(module_of(kCopy));
  sch.call("get_block", "B");
  sch.trace().apply_to(sch);
  EXPECT_EQ(sch.trace().steps.size(), 2u);
}

TEST(Trace, AHandleThatNoStepMade) {
  Trace trace = split_then("vectorize");
  trace.steps.erase(trace.steps.begin());
  Schedule sch(module_of(kCopy));
  EXPECT_EQ(error_of([&] { trace.apply_to(sch); }),
            "error: b0 has not been made before\n"
            "note: at step 1 of the trace, get_loops(b0)");
}

TEST(Trace, AStepThatMakesFewerHandlesThanRecorded) {
  Trace trace = split_then("vectorize");
  trace.steps[2].result = ArgValue(ArgValue::List{ArgValue(LoopRef{1})});
  Schedule sch(module_of(kCopy));
  EXPECT_EQ(error_of([&] { trace.apply_to(sch); }),
            "error: 1 result was recorded, but there are 2\n"
            "note: at step 3 of the trace, split(l1, factors=[None, 4])");
}

TEST(Rules, ARefusalIsTheReasonAndChangesNothing) {
  Schedule sch(module_of(kCopy));
  const IRModule before = sch.module();
  const auto refuses = [](Schedule& copy) {
    copy.call("get_block", "B");
    throw Unsupported("loop {} is too long", "i").help("shorten it");
    return std::optional<Reason>();
  };
  const std::optional<Reason> refused = try_rule(sch, refuses);
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->kind, Reason::kRefused);
  EXPECT_EQ(refused->text, "loop i is too long");
  const std::optional<Reason> small = try_rule(sch, [](Schedule& copy) {
    copy.call("get_block", "B");
    return Reason{Reason::kTooSmall, "{} has {} values", "i", 8};
  });
  ASSERT_TRUE(small);
  EXPECT_EQ(small->kind, Reason::kTooSmall);
  EXPECT_EQ(small->text, "i has 8 values");
  EXPECT_EQ(sch.module(), before);
  EXPECT_TRUE(sch.trace().steps.empty());
  EXPECT_FALSE(try_rule(sch, [](Schedule& copy) { return copy.call("get_block", "B"), std::nullopt; }));
  EXPECT_EQ(sch.trace().steps.size(), 1u);
}

TEST(Rules, ABugOfOursComesThrough) {
  Schedule sch(module_of(kCopy));
  const auto is_broken = [](Schedule&) -> std::optional<Reason> {
    throw InternalError("the tree has two roots");
  };
  EXPECT_EQ(error_of([&] { try_rule(sch, is_broken); }),
            "internal error: the tree has two roots\n"
            "help: this is a bug in tilewright; please report it with the script that shows it");
}

}  // namespace
}  // namespace tilewright::schedule
