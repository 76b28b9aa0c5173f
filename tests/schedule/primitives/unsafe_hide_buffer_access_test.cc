// unsafe_hide_buffer_access: a block does not say what it accesses.
#include "primitive_programs.h"
#include "schedule_testing.h"

namespace tilewright::schedule {
namespace {

TEST(UnsafeHideBufferAccess, TheBlockDoesNotSay) {
  Schedule sch(module_of(kStencil), {.seed = 1, .verify_steps = true});
  sch.call("unsafe_hide_buffer_access", "B", "read", ArgValue::List{0});
  EXPECT_TRUE(sch.get(sch.call("get_block", "B").block())->reads.empty());
  const std::string place =
      "\n  f.py:4:14\n   3 |     for i in range(5):\n   4 |         with T.block(\"B\"):\n     |             "
      " ^^^^^^^^^^^^\n   5 |             vi = T.axis.spatial(5, i)";
  check_refused(
      kStencil, [](Schedule& sch) { sch.call("unsafe_hide_buffer_access", "B", "write", ArgValue::List{1}); },
      "error: unsafe_hide_buffer_access: block B writes 1 buffer, there is no number 1" + place);
  check_refused(
      kStencil, [](Schedule& sch) { sch.call("unsafe_hide_buffer_access", "B", "both", ArgValue::List{1}); },
      "error: unsafe_hide_buffer_access: a buffer is in list \"read\" or \"write\", not \"both\"" + place);
}

TEST(UnsafeHideBufferAccess, NothingToHideChangesNothing) {
  const IRModule module = module_of(kStencil);
  Schedule sch(module);
  sch.call("unsafe_hide_buffer_access", "B", "read", ArgValue(ArgValue::List{}));
  EXPECT_EQ(sch.module(), module);
}

}  // namespace
}  // namespace tilewright::schedule
